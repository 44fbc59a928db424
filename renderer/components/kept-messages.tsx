/** Which messages of a call the server keeps: asked when somebody wants to see it, since the model may have to load for it. */
import { useState } from 'react';
import type { CallRecord } from '../../shared/contract/calls.ts';
import type { MessagePicture, RenderPicture } from '../../shared/contract/renders.ts';
import type { ServerStatus } from '../../shared/contract/server.ts';
import { count } from '../format/numbers.ts';
import { kindsText } from '../format/verdicts.ts';
import { isAtLeast } from '../format/versions.ts';
import { useClient, useEngine } from '../stores/engine-context.ts';
import { Button } from './button.tsx';

export function KeptMessages({ record }: { readonly record: CallRecord }) {
  const client = useClient();
  const server = useEngine((state) => state.server);
  const [asking, setAsking] = useState(false);
  const [picture, setPicture] = useState<RenderPicture | null>(null);
  const reason = reasonAgainst(record, server);
  const show = (): void => {
    setAsking(true);
    void client.request('call.render', { callId: record.id }).then((answer) => {
      setAsking(false);
      if (answer.ok) return setPicture(answer.value);
      client.raiseNotice({ level: 'warning', text: answer.denial.message, next: answer.denial.next ?? null });
    });
  };
  return (
    <section aria-label="Messages kept" className="mt-4 flex flex-col gap-2">
      <div className="flex items-center gap-2">
        <Button
          disabled={asking || reason !== null}
          title={
            reason ??
            'The server builds the prompt twice, with and without truncation. No tokens; the model may be loaded.'
          }
          onClick={show}
        >
          {asking ? 'Asking the server' : 'Show what was kept'}
        </Button>
        {reason === null ? null : <span className="lab min-w-0 wrap-anywhere">{reason}</span>}
      </div>
      {picture === null ? null : <Picture picture={picture} />}
    </section>
  );
}

function reasonAgainst({ request, server, serverVersion }: CallRecord, now: ServerStatus | null): string | null {
  if (request.route !== 'chat') return 'Only a chat has messages that can be dropped.';
  if (request.messages.length < 2) return 'A single message is never dropped.';
  if (now?.state !== 'up') return 'No server answers.';
  if (now.url !== server) return 'The call went to another server.';
  return isAtLeast(serverVersion, 0, 12, 4) === false ? 'Ollama shows its prompt from 0.12.4 on.' : null;
}

function Picture({ picture }: { picture: RenderPicture }) {
  const { messages, note, verdict, keptCharacters, uncutCharacters } = picture;
  const groups = groupsOf(messages);
  const of = (state: MessagePicture['kept']): number => messages.filter((message) => message.kept === state).length;
  const unknown = of('unknown');
  return (
    <>
      <p className="text-ink">
        {count(of('kept'))} of {count(messages.length)} messages kept, {count(of('dropped'))} dropped
        {unknown === 0 ? '' : `, ${count(unknown)} not known`}.
      </p>
      <Strip groups={groups} />
      <ol className="grid grid-cols-[72px_72px_minmax(0,1fr)_auto] text-table *:contents">
        {groups.slice(0, ROWS_MAX).map((group) => (
          <li key={group.first} className="*:border-t *:py-1">
            <span>
              {group.first === group.last
                ? count(group.first + 1)
                : `${count(group.first + 1)}–${count(group.last + 1)}`}
            </span>
            <span className={group.kept === 'dropped' ? '' : 'font-semibold text-ink'}>{words[group.kept]}</span>
            <span className="truncate">{group.roles}</span>
            <span className="text-right">{count(group.characters)} characters</span>
          </li>
        ))}
      </ol>
      {groups.length > ROWS_MAX ? (
        <p className="lab">{count(groups.length - ROWS_MAX)} more rows are not drawn.</p>
      ) : null}
      <p className="lab">
        {note} The prompt has {count(uncutCharacters)} characters whole and {count(keptCharacters)} as sent. With this
        the verdict is: {kindsText(verdict.kinds)}, {verdict.confidence}.
      </p>
    </>
  );
}

const words = { kept: 'kept', dropped: 'dropped', cut: 'cut', unknown: 'not known' } as const;
const ROWS_MAX = 200;
/** In a longer conversation more than a few neighbours of one fate stand in one row. */
const SHORT_MAX = 24;
const ALONE_MAX = 3;

interface Group {
  readonly first: number;
  readonly last: number;
  readonly kept: MessagePicture['kept'];
  readonly roles: string;
  readonly characters: number;
}

function groupsOf(messages: readonly MessagePicture[]): readonly Group[] {
  const runs: MessagePicture[][] = [];
  for (const message of messages) {
    const run = runs.at(-1);
    if (run?.[0]?.kept === message.kept) run.push(message);
    else runs.push([message]);
  }
  return runs.flatMap((run) =>
    messages.length > SHORT_MAX && run.length > ALONE_MAX ? [groupOf(run)] : run.map((message) => groupOf([message])),
  );
}

function groupOf(run: readonly MessagePicture[]): Group {
  return {
    first: run[0]?.index ?? 0,
    last: run.at(-1)?.index ?? 0,
    kept: run[0]?.kept ?? 'unknown',
    roles: [...new Set(run.map((message) => message.role))].join(', '),
    characters: run.reduce((sum, message) => sum + message.characters, 0),
  };
}

/** The messages in their order, each as wide as its text is long. */
function Strip({ groups }: { groups: readonly Group[] }) {
  return (
    <div aria-hidden="true" className="c-context flex h-4 gap-px bg-page shadow-[inset_0_0_0_1px_var(--line-field)]">
      {groups.slice(0, ROWS_MAX).map((group) => (
        <i
          key={group.first}
          className={group.kept === 'kept' ? 'fill' : group.kept === 'dropped' ? 'hatch' : 'bg-sunk'}
          style={{ flex: `${Math.max(1, group.characters)} 1 2px` }}
        />
      ))}
    </div>
  );
}
