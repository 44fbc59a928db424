/** System, message and files of the composer. Large texts become files and are drawn in a window of rows. */
import { FilePlus, X } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import type { ClipboardEvent, DragEvent } from 'react';
import type { Preflight } from '../../../shared/contract/estimates.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { LongText } from '../../components/long-text.tsx';
import { TabPanel, Tabs } from '../../components/tabs.tsx';
import type { Range } from '../../components/text-rows.ts';
import { byteSize, count, counted } from '../../format/numbers.ts';
import { useClient } from '../../stores/engine-context.ts';
import { contentOf } from './build-request.ts';
import { lostIn } from './lost-ranges.ts';
import { BOX_CHARACTERS_MAX, FILES_MAX, draft, useDraft } from './draft-store.ts';
import type { DraftFile } from './draft-store.ts';
import { MiniMap, ShadedBox } from './shaded-box.tsx';
import { TurnList } from './turn-list.tsx';

export interface TextTabsProps {
  readonly preflight: Preflight | null;
  readonly onSend: () => void;
}

export function TextTabs({ preflight, onSend }: TextTabsProps) {
  const { tab, system, turns, message, files } = useDraft();
  const client = useClient();
  const filesText = useMemo(() => contentOf(files, ''), [files]);
  const characters = filesText.length + (files.length > 0 && message !== '' ? 2 : 0) + message.length;
  const turnsFrom = system === '' ? 0 : 1;
  const shaded = lostIn(preflight, turnsFrom + turns.length);
  const take = (name: string, text: string): void => {
    const refusal = draft.addFile(name, text);
    if (refusal !== null) client.raiseNotice({ level: 'warning', text: refusal, next: null });
  };
  const takeFiles = (list: FileList | null): void => {
    for (const file of [...(list ?? [])].slice(0, FILES_MAX))
      void readFile(file).then((read) => {
        if ('text' in read) take(file.name, read.text);
        else client.raiseNotice({ level: 'warning', text: read.problem, next: null });
      });
  };
  const onDrop = (event: DragEvent): void => {
    if (event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    takeFiles(event.dataTransfer.files);
  };
  return (
    <div
      className="flex min-h-40 flex-1 flex-col"
      onDragOver={(event) => {
        if (event.dataTransfer.types.includes('Files')) event.preventDefault();
      }}
      onDrop={onDrop}
    >
      <Tabs
        label="Parts of the prompt"
        value={tab}
        onValue={(next) => {
          draft.set({ tab: next });
        }}
        className="flex-1 [&>div:first-child]:border-b-0"
        items={[
          { id: 'system', text: 'System', note: count(system.length) },
          { id: 'turns', text: 'Turns', note: count(turns.length) },
          { id: 'message', text: 'Message', note: `${count(characters)} characters` },
          { id: 'files', text: 'Files', note: count(files.length) },
        ]}
      >
        <TabPanel id="system" className="rounded border border-field data-[state=active]:flex">
          <TextBoxWithMap
            value={system}
            onValue={(next) => {
              draft.set({ system: next.slice(0, BOX_CHARACTERS_MAX) });
            }}
            onSend={onSend}
            label="System text"
            placeholder="How the model should behave. Empty sends no system message."
            shaded={system === '' ? [] : lostIn(preflight, 0)}
          />
        </TabPanel>
        <TabPanel id="turns" className="overflow-auto rounded border border-field">
          <TurnList turns={turns} preflight={preflight} from={turnsFrom} />
        </TabPanel>
        <TabPanel id="message" className="flex-col rounded border border-field data-[state=active]:flex">
          {files.length === 0 ? null : <FilesView text={filesText} shaded={shaded} length={characters} />}
          <MessageBox
            filesCharacters={files.length === 0 ? 0 : filesText.length + 2}
            shaded={shaded}
            onSend={onSend}
            onLarge={take}
          />
        </TabPanel>
        <TabPanel id="files" className="overflow-auto rounded border border-field">
          <FileList files={files} onAdd={takeFiles} />
        </TabPanel>
      </Tabs>
    </div>
  );
}

function TextBoxWithMap(props: Parameters<typeof ShadedBox>[0]) {
  return (
    <>
      <ShadedBox {...props} />
      <MiniMap length={props.value.length} shaded={props.shaded} />
    </>
  );
}

/** The files as they will be sent, in one piece. */
function FilesView({ text, shaded, length }: { text: string; shaded: readonly Range[]; length: number }) {
  const [wish, setWish] = useState<{ offset: number; count: number } | null>(null);
  return (
    <div className="flex min-h-0 flex-[3] border-b">
      <LongText text={text} label="Files as they are sent" shaded={shaded} showOffset={wish} />
      <MiniMap
        length={length}
        shaded={shaded}
        onPick={(offset) => {
          setWish((before) => ({ offset, count: (before?.count ?? 0) + 1 }));
        }}
      />
    </div>
  );
}

interface MessageBoxProps {
  /** Where the message begins in the text that is sent. */
  readonly filesCharacters: number;
  readonly shaded: readonly Range[];
  readonly onSend: () => void;
  readonly onLarge: (name: string, text: string) => void;
}

function MessageBox({ filesCharacters, shaded, onSend, onLarge }: MessageBoxProps) {
  const message = useDraft((state) => state.message);
  const filesAdded = useDraft((state) => state.filesAdded);
  const own = shaded
    .map(({ from, to }) => ({
      from: Math.max(0, from - filesCharacters),
      to: Math.min(message.length, to - filesCharacters),
    }))
    .filter(({ from, to }) => to > from);
  const onPaste = (event: ClipboardEvent<HTMLTextAreaElement>): void => {
    const pasted = event.clipboardData.getData('text/plain');
    if (pasted.length + message.length <= BOX_CHARACTERS_MAX) return;
    event.preventDefault();
    onLarge(`Pasted text ${filesAdded + 1}`, pasted);
  };
  return (
    <div className="flex min-h-16 flex-1">
      <TextBoxWithMap
        value={message}
        onValue={(next) => {
          if (next.length <= BOX_CHARACTERS_MAX) return draft.set({ message: next });
          onLarge(`Message ${filesAdded + 1}`, next);
          draft.set({ message: '' });
        }}
        onPaste={onPaste}
        onSend={onSend}
        label="Message"
        placeholder={
          filesCharacters === 0
            ? 'Write, paste or drop text here. Ctrl Enter sends.'
            : 'What stands after the files, such as a question. Ctrl Enter sends.'
        }
        shaded={own}
        search
      />
    </div>
  );
}

function FileList({ files, onAdd }: { files: readonly DraftFile[]; onAdd: (files: FileList | null) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div className="py-2">
      {files.length === 0 ? (
        <p className="px-3 py-1">Drop text files here. They stand before the message, in this order.</p>
      ) : null}
      {files.map((file) => (
        <div key={file.id} className="flex items-center gap-2 border-b py-0.5 pr-1 pl-3">
          <span className="min-w-0 flex-1 truncate text-ink" title={file.name}>
            {file.name}
          </span>
          <span className="lab">{counted(file.text.length, 'character')}</span>
          <IconButton
            icon={X}
            label={`Remove ${file.name}`}
            onClick={() => {
              draft.removeFile(file.id);
            }}
          />
        </div>
      ))}
      <div className="px-3 pt-2">
        <input
          ref={input}
          type="file"
          multiple
          className="hidden"
          aria-label="Text files"
          onChange={(event) => {
            onAdd(event.target.files);
            event.target.value = '';
          }}
        />
        <Button icon={FilePlus} onClick={() => input.current?.click()}>
          Add files
        </Button>
      </div>
    </div>
  );
}

/** No file with more bytes can be within the bound of characters; it is not even read. */
const FILE_BYTES_MAX = 24_000_000;

async function readFile(file: File): Promise<{ text: string } | { problem: string }> {
  if (file.size > FILE_BYTES_MAX) return { problem: `${file.name} is larger than ${byteSize(FILE_BYTES_MAX)}.` };
  try {
    return { text: await file.text() };
  } catch {
    return { problem: `${file.name} could not be read. Check that it still exists and that you may open it.` };
  }
}
