/** Verdicts for a reply that was recorded elsewhere: paste or drop it, with its server log where there is one. */
import { useState } from 'react';
import type { ClipboardEvent, DragEvent } from 'react';
import type { ExplainInput, Explanation } from '../../../shared/contract/explain.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field, NumberBox, Problem, TextBox } from '../../components/field.tsx';
import { Facts } from '../../components/detail-pane.tsx';
import { LongText } from '../../components/long-text.tsx';
import { VerdictView } from '../../components/verdict-view.tsx';
import { count, DASH } from '../../format/numbers.ts';
import { kindsText, needleWords, severityOf, verdictHeadline } from '../../format/verdicts.ts';
import { useClient } from '../../stores/engine-context.ts';
import { screen, useScreen } from '../../stores/screen-store.ts';
import { parseWhole } from './build-request.ts';

export function Explain() {
  const open = useScreen((state) => state.dialog === 'explain');
  return (
    <Dialog
      open={open}
      onClose={screen.close}
      wide
      title="Explain a reply"
      description="Paste a reply of /api/chat or /api/generate, as JSON or as a stream of lines, with its request if you have it."
    >
      <ExplainForm />
    </Dialog>
  );
}

const BOX_CHARACTERS_MAX = 50_000;
const FILE_BYTES_MAX = 16_000_000;

function ExplainForm() {
  const client = useClient();
  const [text, setText] = useState('');
  const [version, setVersion] = useState('');
  const [window, setWindow] = useState('');
  const [log, setLog] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [explanation, setExplanation] = useState<Explanation | null>(null);
  const change = (next: string): void => {
    setText(next);
    setExplanation(null);
  };
  const explain = (): void => {
    const input = inputOf(text, version, window, log);
    if ('problem' in input) return setProblem(input.problem);
    setProblem(null);
    void client.request('reply.explain', input.value).then((answer) => {
      setExplanation(answer.ok ? answer.value : null);
      if (!answer.ok) setProblem([answer.denial.message, answer.denial.next].filter(Boolean).join(' '));
    });
  };
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-3 overflow-auto px-4 pt-2 pb-4">
      <Paste
        label="Reply"
        text={text}
        onText={change}
        onProblem={setProblem}
        className="h-36!"
        placeholder='{"model":"gemma3:270m","done":true,"prompt_eval_count":2051}'
      />
      <div className="grid grid-cols-[160px_160px_minmax(0,1fr)_auto] items-start gap-3">
        <Field label="server version" help="Older servers cut differently.">
          {({ id }) => <TextBox id={id} value={version} onValue={setVersion} placeholder="0.33.0" maxLength={100} />}
        </Field>
        <Field label="window (num_ctx)">
          {({ id }) => <NumberBox id={id} value={window} onValue={setWindow} placeholder="if known" />}
        </Field>
        <Field label="server log, if you have it">
          {() => (
            <Paste
              label="Server log"
              text={log}
              onText={setLog}
              onProblem={setProblem}
              className="h-7!"
              placeholder="lines of the server's log"
            />
          )}
        </Field>
        <div className="pt-4">
          <Button look="primary" disabled={text === ''} onClick={explain}>
            Explain
          </Button>
        </div>
      </div>
      <Problem text={problem} />
      {explanation === null ? null : <Reading explanation={explanation} />}
    </div>
  );
}

interface PasteProps {
  readonly label: string;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onProblem: (problem: string) => void;
  readonly className: string;
  readonly placeholder: string;
}

/** A text box for small texts; large ones are drawn in a window of rows and can only be taken out again as a whole. */
function Paste({ label, text, onText, onProblem, className, placeholder }: PasteProps) {
  const onPaste = (event: ClipboardEvent): void => {
    const pasted = event.clipboardData.getData('text/plain');
    if (pasted.length <= BOX_CHARACTERS_MAX) return;
    event.preventDefault();
    onText(pasted);
  };
  const onDrop = (event: DragEvent): void => {
    const file = event.dataTransfer.files[0];
    if (file === undefined) return;
    event.preventDefault();
    if (file.size > FILE_BYTES_MAX) onProblem(`${file.name} is larger than 16 MB.`);
    else void file.text().then(onText, () => onProblem(`${file.name} could not be read.`));
  };
  if (text.length > BOX_CHARACTERS_MAX) {
    return (
      <div className={`flex flex-none items-start overflow-hidden rounded border border-field ${className}`}>
        <LongText text={text} label={label} className="h-full" />
        <Button
          look="flat"
          onClick={() => {
            onText('');
          }}
        >
          Remove {count(text.length)} characters
        </Button>
      </div>
    );
  }
  return (
    <textarea
      aria-label={label}
      value={text}
      spellCheck={false}
      onPaste={onPaste}
      onDragOver={(event) => {
        event.preventDefault();
      }}
      onDrop={onDrop}
      onChange={(event) => {
        onText(event.target.value);
      }}
      placeholder={placeholder}
      className={`field flex-none resize-none py-1 leading-5 ${className}`}
    />
  );
}

function Reading({ explanation: { truncation, reasoning, read } }: { explanation: Explanation }) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_280px] gap-4 border-t pt-3">
      <div className="flex min-w-0 flex-col gap-3">
        <div className="flex items-center gap-2">
          <Badge meaning="context" severity={severityOf(truncation)} />
          <span className="figure whitespace-normal!">{verdictHeadline(truncation)}</span>
        </div>
        <VerdictView
          verdict={truncation}
          figures={{
            sent: truncation.sent,
            sentExact: true,
            windowRequested: read.window,
            windowRunning: null,
            evaluated: read.promptEvalCount,
          }}
        />
        {truncation.next === null ? null : <p className="text-ink wrap-anywhere">{truncation.next}</p>}
      </div>
      <div className="min-w-0 border-l">
        <Facts
          facts={[
            ['verdict', kindsText(truncation.kinds)],
            ['confidence', truncation.confidence],
            ['model', read.model ?? DASH],
            ['version', read.version ?? DASH],
            ['route', read.path ?? DASH],
            ['output', `${count(read.evalCount)} tokens`],
            ['needle', needleWords[read.needle].word],
            ...(reasoning === null
              ? []
              : ([['outcome', [reasoning.outcome, reasoning.cause].filter(Boolean).join(', ')]] as const)),
          ]}
        />
        <b className="px-4">Answer</b>
        <pre className="max-h-40 overflow-auto px-4 wrap-anywhere whitespace-pre-wrap text-ink">
          {read.answer === '' ? 'empty' : read.answer.slice(0, 20_000)}
        </pre>
      </div>
    </div>
  );
}

function inputOf(
  text: string,
  version: string,
  window: string,
  log: string,
): { value: ExplainInput } | { problem: string } {
  const tokens = parseWhole(window);
  if ('problem' in tokens) return { problem: `The window ${tokens.problem}.` };
  if (tokens.value !== null && tokens.value < 1)
    return { problem: 'The window must be at least 1; leave it empty when it is not known.' };
  return {
    value: {
      text,
      ...(version.trim() === '' ? {} : { version: version.trim() }),
      ...(tokens.value === null ? {} : { window: tokens.value }),
      ...(log === '' ? {} : { log }),
    },
  };
}
