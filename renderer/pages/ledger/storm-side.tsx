/** One half of a storm: what it took against the limit, and what became of each call. */
import type { Storm, StormAsk, StormSide } from '../../../shared/contract/ledger.ts';
import { count, counted } from '../../format/numbers.ts';
import { heldWord, limitOf, scaleOf, spentWord, squareColumns, throughWord } from './storm-model.ts';
import { codeText, countdown } from './words.ts';

export interface StormHalfProps {
  readonly which: 'checkAfter' | 'reserveFirst';
  /** What is drawn: the storm that runs or ran last, or the one that is asked for. */
  readonly ask: StormAsk;
  readonly reservedTokensEach: number;
  /** null before the first storm. */
  readonly storm: Storm | null;
}

const titles = {
  checkAfter: { title: 'Check after the reply', note: 'every call looks before any has paid' },
  reserveFirst: { title: 'Reserve first', note: 'worst case held before the call' },
} as const;

export function StormHalf({ which, ask, reservedTokensEach, storm }: StormHalfProps) {
  const side = storm?.[which] ?? null;
  const { title, note } = titles[which];
  const figure = side === null ? null : which === 'checkAfter' ? side.spentTokens : side.heldTokensMax;
  const word = side === null ? 'not run yet' : which === 'checkAfter' ? spentWord(side, ask) : heldWord(side, ask);
  return (
    <section aria-label={title} className="c-budget flex min-w-0 flex-col gap-1">
      <h3 className="flex min-w-0 items-baseline gap-2">
        <b className="flex-none">{title}</b>
        <span className="lab min-w-0 truncate font-normal">{note}</span>
      </h3>
      <p className="flex min-h-10 flex-wrap items-baseline gap-x-2 max-[860px]:min-h-8">
        {figure === null ? null : <span className="headline">{count(figure)}</span>}
        <span className="text-ink">{word}</span>
      </p>
      <Tank which={which} ask={ask} reservedTokensEach={reservedTokensEach} side={side} />
      <Squares side={side} calls={ask.calls} />
      <p className="lab min-h-4" role="status">
        {side === null ? counted(ask.calls, 'call') : throughWord(side, ask, storm?.state === 'cancelled')}
        {which === 'reserveFirst' && side !== null && side.spentTokens > 0
          ? ` · ${count(side.spentTokens)} spent${side.spentTokens < side.heldTokensMax ? ', the rest given back' : ''}`
          : ''}
        {side === null || side.refusedCode === null ? null : (
          <>
            {' · '}
            <span className="mono text-small!">{codeText(side.refusedCode)}</span>
            {side.retryAfterSeconds === null ? '' : `, Retry-After ${countdown(side.retryAfterSeconds * 1_000)}`}
          </>
        )}
      </p>
    </section>
  );
}

/** Spent is solid, held is hatched, what lies over the limit stays visible behind the limit's line. */
function Tank({
  which,
  ask,
  reservedTokensEach,
  side,
}: Omit<StormHalfProps, 'storm'> & { readonly side: StormSide | null }) {
  const { max, ticks } = scaleOf(ask, reservedTokensEach);
  const limit = limitOf(ask);
  const share = (tokens: number): string => `${Math.min(100, (tokens * 100) / max)}%`;
  const spent = side?.spentTokens ?? 0;
  const held = side?.heldTokens ?? 0;
  const mostHeld = which === 'reserveFirst' ? (side?.heldTokensMax ?? 0) : 0;
  const isLimitLate = limit !== null && limit.tokens / max > 0.75;
  const shown = ticks.length > 7 ? ticks.filter((_, index) => index % 2 === 0) : ticks;
  return (
    <div
      role="img"
      aria-label={`${titles[which].title}: ${count(spent)} spent, ${count(held)} held, ${limit === null ? 'no limit' : `limit ${count(limit.tokens)}`}`}
      className="relative pt-5"
    >
      <div className="relative flex h-9 overflow-hidden bg-sunk">
        <i className="fill moves block h-full flex-none" style={{ width: share(spent) }} />
        <i className="hatch moves block h-full flex-none" style={{ width: share(held) }} />
        {mostHeld > spent + held ? (
          <i
            className="moves block h-full flex-none border border-l-0 border-dashed border-field"
            title={`${count(mostHeld)} were held at most`}
            style={{ width: share(mostHeld - spent - held) }}
          />
        ) : null}
      </div>
      {limit === null ? (
        <span className="lab absolute top-0 left-0">no limit</span>
      ) : (
        <div className="absolute top-0 bottom-5" style={{ left: share(limit.tokens) }}>
          <span
            className={`absolute top-0 text-small leading-4 font-semibold whitespace-nowrap text-ink ${isLimitLate ? 'right-1.5' : 'left-1.5'}`}
          >
            {limit.of === 'tenant' ? 'limit' : limit.of === 'user' ? 'limit of the user' : 'limits of all users'}{' '}
            {count(limit.tokens)}
          </span>
          <i className="absolute top-0 bottom-0 -ml-0.5 block w-1 bg-ink shadow-[0_0_0_1px_var(--surface-page)]" />
        </div>
      )}
      <div className="relative h-5" aria-hidden="true">
        {shown.map((tick, index) => (
          <span
            key={tick}
            className={`lab absolute top-1 whitespace-nowrap ${index === 0 ? '' : index === shown.length - 1 && tick === max ? '-translate-x-full' : '-translate-x-1/2'}`}
            style={{ left: share(tick) }}
          >
            {count(tick)}
          </span>
        ))}
      </div>
    </div>
  );
}

const squareLooks = {
  waiting: 'shadow-[inset_0_0_0_1px_var(--line)]',
  running: 'hatch pulse',
  done: 'fill',
  refused: 'shadow-[inset_0_0_0_1.5px_var(--c)]',
  failed: 'bg-plain',
} as const;

function Squares({ side, calls }: { side: StormSide | null; calls: number }) {
  const states = side?.calls ?? Array.from({ length: calls }, () => 'waiting' as const);
  const counts = new Map<string, number>();
  for (const state of states) counts.set(state, (counts.get(state) ?? 0) + 1);
  return (
    <div
      role="img"
      aria-label={[...counts].map(([state, number]) => `${count(number)} ${state}`).join(', ')}
      className="grid gap-[3px]"
      style={{ gridTemplateColumns: `repeat(${squareColumns(states.length)}, minmax(0, 1fr))` }}
    >
      {states.map((state, index) => (
        <i
          key={index}
          title={`call ${index + 1}: ${state}`}
          className={`block rounded-[1px] ${states.length > 40 ? 'h-2.5' : 'h-5'} ${squareLooks[state]}`}
        />
      ))}
    </div>
  );
}
