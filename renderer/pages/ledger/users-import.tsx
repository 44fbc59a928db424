/** Users from a CSV file or a paste: what came of it in words, and each fault with its line. */
import { FileUp } from 'lucide-react';
import { useRef, useState } from 'react';
import type { Denial } from '../../../shared/contract/denials.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { count, counted } from '../../format/numbers.ts';
import { useDirectoryActions } from './plans-store.ts';

const CHARACTERS_MAX = 5_000_000;
const PASTE_MAX = 200_000;

type Outcome =
  | { readonly kind: 'none' }
  | { readonly kind: 'reading' }
  | { readonly kind: 'done'; readonly added: number; readonly changed: number }
  | { readonly kind: 'refused'; readonly denial: Denial };

export function UsersImport({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { importCsv } = useDirectoryActions();
  const [pasted, setPasted] = useState('');
  const [file, setFile] = useState<{ name: string; text: string } | null>(null);
  const [outcome, setOutcome] = useState<Outcome>({ kind: 'none' });
  const chooser = useRef<HTMLInputElement>(null);
  const text = file?.text ?? pasted;
  const take = async (chosen: File | undefined): Promise<void> => {
    if (chosen === undefined) return;
    const read = await chosen.text();
    setFile({ name: chosen.name, text: read });
    setOutcome({ kind: 'none' });
  };
  const send = (): void => {
    setOutcome({ kind: 'reading' });
    void importCsv(text).then((answer) => {
      if (!answer.ok) return setOutcome({ kind: 'refused', denial: answer.denial });
      setOutcome({ kind: 'done', added: answer.value.added, changed: answer.value.changed });
      setFile(null);
      setPasted('');
    });
  };
  const close = (): void => {
    setOutcome({ kind: 'none' });
    onClose();
  };
  return (
    <Dialog
      open={open}
      onClose={close}
      title="Import users"
      description="CSV with the columns tenant, user, plan. An empty plan is that of the tenant. It adds and changes, and removes nobody."
    >
      <div className="flex min-h-0 flex-col gap-3 overflow-auto px-4 py-3">
        <input
          ref={chooser}
          type="file"
          accept=".csv,text/csv,text/plain"
          aria-label="CSV file"
          className="sr-only"
          onChange={(event) => {
            void take(event.target.files?.[0]);
            event.target.value = '';
          }}
        />
        <div className="flex items-center gap-2">
          <Button icon={FileUp} onClick={() => chooser.current?.click()}>
            Choose a file
          </Button>
          {file === null ? (
            <span className="lab">or paste it below</span>
          ) : (
            <>
              <span className="min-w-0 truncate text-ink">{file.name}</span>
              <span className="lab flex-none">{counted(linesOf(file.text), 'line')}</span>
              <Button look="flat" onClick={() => setFile(null)}>
                Leave it out
              </Button>
            </>
          )}
        </div>
        {file === null ? (
          <textarea
            aria-label="CSV text"
            rows={8}
            spellCheck={false}
            maxLength={PASTE_MAX}
            value={pasted}
            placeholder={'tenant,user,plan\nacme,ada,assistant\nacme,grace,'}
            onChange={(event) => {
              setPasted(event.target.value);
              setOutcome({ kind: 'none' });
            }}
            className="field mono h-auto! resize-y py-1"
          />
        ) : null}
        {text.length > CHARACTERS_MAX ? (
          <p role="alert" className="text-ink">
            The file has {count(text.length)} characters, {count(CHARACTERS_MAX)} is the most. Split it.
          </p>
        ) : null}
        <Said outcome={outcome} />
      </div>
      <div className="flex flex-none justify-end gap-2 border-t px-4 py-3">
        <Button onClick={close}>{outcome.kind === 'done' ? 'Close' : 'Cancel'}</Button>
        <Button
          look="primary"
          disabled={text.trim() === '' || text.length > CHARACTERS_MAX || outcome.kind === 'reading'}
          onClick={send}
        >
          Import {text.trim() === '' ? '' : counted(linesOf(text), 'line')}
        </Button>
      </div>
    </Dialog>
  );
}

function Said({ outcome }: { outcome: Outcome }) {
  if (outcome.kind === 'none') return null;
  if (outcome.kind === 'reading') return <p role="status">Reading</p>;
  if (outcome.kind === 'done')
    return (
      <p role="status" className="text-ink">
        {outcome.added === 0 && outcome.changed === 0
          ? 'Every user of the file was there already, with the same plan. Nothing changed.'
          : `${counted(outcome.added, 'user')} added, ${count(outcome.changed)} changed, nobody removed.`}
      </p>
    );
  const faults = faultsOf(outcome.denial);
  return (
    <div role="alert" className="text-ink">
      <p>Nothing was imported.</p>
      <ul className="mt-1 max-h-48 overflow-auto *:border-t *:py-1">
        {faults.map((fault, at) => (
          <li key={at} className="wrap-anywhere">
            {fault}
          </li>
        ))}
      </ul>
      {outcome.denial.next === undefined ? null : <p className="mt-1">{outcome.denial.next}</p>}
    </div>
  );
}

/** One fault a line, where the refusal names several. */
export function faultsOf({ message }: Denial): readonly string[] {
  const lines = message
    .split(/\n|;\s+|(?<=\.)\s+(?=[Ll]ine \d)/u)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines.length === 0 ? [message] : lines;
}

/** Without the head. */
function linesOf(text: string): number {
  const lines = text.split('\n').filter((line) => line.trim() !== '').length;
  return Math.max(0, lines - 1);
}
