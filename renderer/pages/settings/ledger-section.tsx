/** The ledger in Settings: who pays for the console, where it is kept, and what happens when that is lost. */
import { useState } from 'react';
import { payerSchema } from '../../../shared/contract/plans.ts';
import type { Settings } from '../../../shared/contract/settings.ts';
import { Button } from '../../components/button.tsx';
import { Choice, Problem, TextBox } from '../../components/field.tsx';
import { useEngine } from '../../stores/engine-context.ts';
import { storeText } from '../ledger/words.ts';
import { Line, Section, WholeNumber, useChange } from './settings-parts.tsx';

export function LedgerSection({ settings }: { readonly settings: Settings }) {
  const change = useChange();
  const isLocalShare = settings.redisLoss === 'local-share';
  return (
    <Section title="Ledger">
      <PayerLine settings={settings} />
      <RedisLine settings={settings} />
      <Line
        name="When Redis is lost"
        help={
          isLocalShare
            ? 'Each console goes on alone with a share of every limit. Several together can pass a limit by their shares.'
            : 'Every call is refused until Redis answers again. No limit can be passed.'
        }
      >
        {(id) => (
          <Choice
            id={id}
            value={settings.redisLoss}
            options={[
              { value: 'refuse', text: 'refuse every call' },
              { value: 'local-share', text: 'go on with a local share' },
            ]}
            onValue={(redisLoss) => void change({ redisLoss })}
          />
        )}
      </Line>
      {isLocalShare ? (
        <WholeNumber
          name="Local share, percent"
          help="Of each limit, for this console alone while Redis is away. 1 to 100."
          value={settings.redisLocalSharePercent}
          onValue={(redisLocalSharePercent) => change({ redisLocalSharePercent })}
        />
      ) : null}
      <Line
        name="Writing to the disk"
        help={
          settings.ledgerSync === 'full'
            ? 'A reservation is on the disk before its call leaves. Nothing is lost with the power.'
            : 'Faster. When the power goes, the last reservations may be missing from the journal.'
        }
      >
        {(id) => (
          <Choice
            id={id}
            value={settings.ledgerSync}
            options={[
              { value: 'full', text: 'full' },
              { value: 'normal', text: 'normal' },
            ]}
            onValue={(ledgerSync) => void change({ ledgerSync })}
          />
        )}
      </Line>
    </Section>
  );
}

/** Kept together: half a payer is none. */
function PayerLine({ settings }: { settings: Settings }) {
  const change = useChange();
  const { payer } = settings;
  const [typed, setTyped] = useState<{ tenant: string; user: string } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const shown = typed ?? payer;
  const keep = (): void => {
    if (typed === null) return;
    const read = payerSchema.safeParse(typed);
    if (!read.success) {
      const [issue] = read.error.issues;
      return setProblem(`The ${String(issue?.path[0] ?? 'payer')} ${issue?.message ?? 'is not accepted'}.`);
    }
    void change({ payer: read.data }).then((refusal) => {
      setProblem(refusal);
      if (refusal === null) setTyped(null);
    });
  };
  return (
    <Line
      name="Who pays for the console"
      help="Tenant and user of calls in Live and of runs where nobody else was chosen. Plans are on the Ledger page."
    >
      {(id) => (
        <form
          noValidate
          className="flex flex-col gap-1"
          onSubmit={(event) => {
            event.preventDefault();
            keep();
          }}
        >
          <div className="flex max-w-[480px] gap-2">
            <TextBox
              id={id}
              aria-label="Tenant of the payer"
              value={shown.tenant}
              maxLength={300}
              aria-invalid={problem !== null}
              aria-describedby={problem === null ? undefined : `${id}-problem`}
              onValue={(tenant) => setTyped({ user: shown.user, tenant })}
            />
            <TextBox
              aria-label="User of the payer"
              value={shown.user}
              maxLength={300}
              aria-invalid={problem !== null}
              aria-describedby={problem === null ? undefined : `${id}-problem`}
              onValue={(user) => setTyped({ tenant: shown.tenant, user })}
            />
            <Button type="submit" disabled={typed === null}>
              Keep
            </Button>
          </div>
          <Problem id={`${id}-problem`} text={problem} />
        </form>
      )}
    </Line>
  );
}

/** The address as it is kept is never shown with its password; it is typed anew as a whole. */
function RedisLine({ settings }: { settings: Settings }) {
  const change = useChange();
  const state = useEngine((engine) => engine.ledger.state);
  const denial = useEngine((engine) => engine.ledger.denial);
  const [typed, setTyped] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const keep = (redisUrl: string): void => {
    const wrong = redisProblem(redisUrl);
    setProblem(wrong);
    if (wrong !== null) return;
    void change({ redisUrl: redisUrl.trim() }).then((refusal) => {
      setProblem(refusal);
      if (refusal === null) setTyped(null);
    });
  };
  return (
    <Line
      name="Kept in"
      help="Empty uses SPILLWAY_REDIS_URL, else the database of this folder. With Redis several consoles share one budget. A change counts from the next start."
    >
      {(id) => (
        <>
          {typed === null ? (
            <div className="flex min-w-0 items-center gap-2">
              <code className="min-w-0 truncate text-ink">
                {settings.redisUrl === '' ? 'as the environment says' : maskedUrl(settings.redisUrl)}
              </code>
              <Button aria-label="Change where the ledger is kept" onClick={() => setTyped('')}>
                Change
              </Button>
              {settings.redisUrl === '' ? null : (
                <Button look="flat" onClick={() => keep('')}>
                  Clear
                </Button>
              )}
            </div>
          ) : (
            <form
              noValidate
              className="flex gap-2"
              onSubmit={(event) => {
                event.preventDefault();
                keep(typed);
              }}
            >
              <TextBox
                id={id}
                autoFocus
                value={typed}
                maxLength={2_000}
                placeholder="redis://user:password@host:6379/0"
                aria-invalid={problem !== null}
                aria-describedby={problem === null ? undefined : `${id}-problem`}
                className="mono"
                onValue={setTyped}
              />
              <Button type="submit" look="primary">
                Keep
              </Button>
              <Button
                onClick={() => {
                  setTyped(null);
                  setProblem(null);
                }}
              >
                Cancel
              </Button>
            </form>
          )}
          <Problem id={`${id}-problem`} text={problem} />
          {state === null && denial !== null ? (
            <p role="status" className="lab mt-1 wrap-anywhere">
              Now: <span className="text-ink">{denial.message}</span> {denial.next ?? ''}
            </p>
          ) : null}
          {state === null ? null : (
            <p role="status" className="lab mt-1 wrap-anywhere">
              Now: <span className="text-ink">{storeText(state)}</span>
              {state.problem === null ? '' : ` · ${state.problem}`}
              {state.next === null ? '' : ` ${state.next}`}
            </p>
          )}
        </>
      )}
    </Line>
  );
}

const SCHEMES = ['redis:', 'rediss:', 'redis-cluster:', 'unix:'];

export function redisProblem(url: string): string | null {
  const bare = url.trim();
  if (bare === '' || bare.startsWith('/')) return null;
  const scheme = /^[a-z+-]+:/iu.exec(bare)?.[0].toLowerCase() ?? '';
  if (SCHEMES.includes(scheme)) return null;
  return 'Redis URL must begin with redis://, rediss://, redis-cluster:// or unix://, or be the path of a socket.';
}

/** `redis://•••@host:6379/0`: nothing before the @, and no value behind a question mark but the database, is for the screen. */
export function maskedUrl(url: string): string {
  return url.replace(/^([a-z+-]+:\/\/)?.*@/isu, '$1•••@').replace(/([?&](?!d)[^=&]*=)[^&]*/gu, '$1•••');
}
