/** Which text is sent: generated filler, or the person's own by file or paste, which then is cut or repeated to each size. */
import { FileText } from 'lucide-react';
import { useRef, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Problem } from '../../components/field.tsx';
import { count } from '../../format/numbers.ts';
import { useClient } from '../../stores/engine-context.ts';
import { draft, useDraft } from './draft.ts';
import type { OwnDocument } from './form-text.ts';

export const DOCUMENT_CHARACTERS_MAX = 5_000_000;
const FILE_BYTES_MAX = 20_000_000;

export function DocumentEditor({ value }: { readonly value: OwnDocument | null }) {
  const client = useClient();
  const documents = useDraft((state) => state.documents);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const file = useRef<HTMLInputElement>(null);

  const put = async (name: string, text: string): Promise<void> => {
    if (text.trim() === '') return setProblem('document: the text is empty.');
    if (text.length > DOCUMENT_CHARACTERS_MAX)
      return setProblem(
        `document: ${count(text.length)} characters are over ${count(DOCUMENT_CHARACTERS_MAX)}. Take a shorter text.`,
      );
    setBusy(true);
    setProblem(null);
    const answer = await client.request('document.put', { name: name.slice(0, 500), text });
    setBusy(false);
    if (!answer.ok) return setProblem([answer.denial.message, answer.denial.next].filter(Boolean).join(' '));
    draft.addDocument({ id: answer.value.documentId, name, characters: answer.value.characters });
    if (area.current !== null) area.current.value = '';
  };
  const read = async (chosen: File | undefined): Promise<void> => {
    if (chosen === undefined) return;
    if (chosen.size > FILE_BYTES_MAX)
      return setProblem(`document: ${chosen.name} is too large. At most ${count(DOCUMENT_CHARACTERS_MAX)} characters.`);
    try {
      await put(chosen.name, await chosen.text());
    } catch {
      setProblem(`document: ${chosen.name} could not be read. Choose it again.`);
    }
  };

  return (
    <>
      <Choice
        text="generated text"
        note="an office handbook, by seed"
        on={value === null}
        onPick={() => draft.edit({ document: null })}
      />
      {[...documents, ...(value === null || documents.some(({ id }) => id === value.id) ? [] : [value])].map((one) => (
        <Choice
          key={one.id}
          text={one.name}
          note={one.characters === null ? '' : `${count(one.characters)} characters`}
          on={value?.id === one.id}
          onPick={() => draft.edit({ document: one })}
        />
      ))}
      {/* Left to the browser: React would draw megabytes anew with every key. */}
      <textarea
        ref={area}
        aria-label="Paste your own text"
        placeholder="Or paste your own text, up to 5,000,000 characters"
        className="field h-24! resize-none py-1"
        spellCheck={false}
      />
      <div className="flex items-center gap-2">
        <Button disabled={busy} onClick={() => void put('pasted text', area.current?.value ?? '')}>
          Use this text
        </Button>
        <Button icon={FileText} disabled={busy} onClick={() => file.current?.click()}>
          From a file
        </Button>
        {busy ? <span className="lab">storing</span> : null}
        <input
          ref={file}
          type="file"
          className="sr-only"
          tabIndex={-1}
          aria-label="A text file"
          onChange={(event) => {
            void read(event.target.files?.[0]);
            event.target.value = '';
          }}
        />
      </div>
      <p className="lab">Each size takes the beginning of it, or repeats it. Needles go in at the chosen depths.</p>
      <Problem text={problem} />
    </>
  );
}

function Choice({ text, note, on, onPick }: { text: string; note: string; on: boolean; onPick: () => void }) {
  return (
    <label className="flex min-h-6 min-w-0 items-center gap-2 text-ink">
      <input type="radio" name="document" className="flex-none accent-(--ink)" checked={on} onChange={onPick} />
      <span className="truncate">{text}</span>
      <span className="lab flex-none">{note}</span>
    </label>
  );
}
