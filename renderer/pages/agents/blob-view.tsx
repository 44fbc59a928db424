/** A whole output behind its handle, page by page, with search in the page. */
import { useEffect, useMemo, useState } from 'react';
import type { AgentRun } from '../../../shared/contract/agents.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextBox } from '../../components/field.tsx';
import { LongText } from '../../components/long-text.tsx';
import { count, counted } from '../../format/numbers.ts';
import { useClient } from '../../stores/engine-context.ts';

interface Page {
  readonly offset: number;
  readonly text: string;
  readonly nextOffset: number | null;
  readonly bytes: number;
}

export function BlobView({
  run,
  handle,
  onClose,
}: {
  readonly run: AgentRun;
  readonly handle: string;
  readonly onClose: () => void;
}) {
  const client = useClient();
  // Where each page began; going back needs no arithmetic on bytes.
  const [offsets, setOffsets] = useState<readonly number[]>([0]);
  const [page, setPage] = useState<Page | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  // What is looked for stays from page to page.
  const [wanted, setWanted] = useState('');
  const offset = offsets.at(-1) ?? 0;
  useEffect(() => {
    let current = true;
    void client.request('agent.blob', { runId: run.id, handle, offset }).then((answer) => {
      if (!current) return;
      if (answer.ok) setPage({ ...answer.value, offset });
      setProblem(answer.ok ? null : [answer.denial.message, answer.denial.next].filter(Boolean).join(' '));
    });
    return () => {
      current = false;
    };
  }, [client, run.id, handle, offset]);
  const next = page?.nextOffset ?? null;
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Output ${handle.slice(0, 40)}`}
      description="As the tool sent it. Nothing in it is run or opened."
      wide
    >
      {problem !== null ? (
        <p className="px-4 py-3 text-ink">{problem}</p>
      ) : page === null ? (
        <p className="px-4 py-3">Loading</p>
      ) : (
        <BlobPage page={page} wanted={wanted} onWanted={setWanted} />
      )}
      <div className="flex flex-none items-center gap-2 border-t px-4 py-2">
        <span className="lab flex-1">
          {page === null
            ? ''
            : `bytes ${count(page.offset)} to ${count(page.nextOffset ?? page.bytes)} of ${count(page.bytes)}`}
        </span>
        {page === null ? null : <CopyButton label="Copy this page" text={() => page.text} />}
        <Button disabled={offsets.length < 2} onClick={() => setOffsets(offsets.slice(0, -1))}>
          Page before
        </Button>
        <Button
          disabled={next === null || page?.offset !== offset}
          onClick={() => (next === null ? undefined : setOffsets([...offsets, next]))}
        >
          Next page
        </Button>
      </div>
    </Dialog>
  );
}

const MATCHES_MAX = 1_000;

interface BlobPageProps {
  readonly page: Page;
  readonly wanted: string;
  readonly onWanted: (wanted: string) => void;
}

function BlobPage({ page, wanted, onWanted }: BlobPageProps) {
  const [place, setPlace] = useState({ offset: page.offset, at: 0 });
  const at = place.offset === page.offset ? place.at : 0;
  const setAt = (next: number): void => setPlace({ offset: page.offset, at: next });
  const matches = useMemo(() => matchesOf(page.text, wanted), [page.text, wanted]);
  const shown = matches[at % Math.max(1, matches.length)];
  const shownOffset = useMemo(
    () => (shown === undefined ? null : { offset: Math.max(0, shown.from - 60), count: at }),
    [shown, at],
  );
  return (
    <>
      <div className="flex flex-none items-center gap-2 px-4 py-2">
        <TextBox
          aria-label="Find in this page"
          placeholder="Find in this page"
          value={wanted}
          autoFocus
          maxLength={200}
          onValue={(value) => {
            onWanted(value);
            setAt(0);
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter') setAt(at + (event.shiftKey ? Math.max(1, matches.length) - 1 : 1));
          }}
        />
        <span className="lab w-24 flex-none text-right" aria-live="polite">
          {wanted === ''
            ? ''
            : matches.length === 0
              ? 'not here'
              : `${(at % matches.length) + 1} of ${matches.length === MATCHES_MAX ? `${count(MATCHES_MAX)} or more` : counted(matches.length, 'place')}`}
        </span>
      </div>
      <LongText
        key={page.offset}
        text={page.text}
        label="Output"
        shaded={matches}
        showOffset={shownOffset}
        className="h-[48vh] border-t"
      />
    </>
  );
}

function matchesOf(text: string, wanted: string): readonly { readonly from: number; readonly to: number }[] {
  if (wanted === '') return [];
  const haystack = text.toLowerCase();
  const needle = wanted.toLowerCase();
  // Where lower case changes lengths, places would be wrong: then case counts.
  const [inText, what] =
    haystack.length === text.length && needle.length === wanted.length ? [haystack, needle] : [text, wanted];
  const matches: { from: number; to: number }[] = [];
  for (
    let from = inText.indexOf(what);
    from >= 0 && matches.length < MATCHES_MAX;
    from = inText.indexOf(what, from + what.length)
  )
    matches.push({ from, to: from + what.length });
  return matches;
}
