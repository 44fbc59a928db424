/** No Ollama: what was looked at, and three ways on. Spillway looks again by itself every two seconds. */
import { MessageSquareQuote } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { ServerStatus } from '../../../shared/contract/server.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Problem, TextBox } from '../../components/field.tsx';
import { Page } from '../../frame/page.tsx';
import { count, counted, hostOf } from '../../format/numbers.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import { screen } from '../../stores/screen-store.ts';
import { useNow } from './use-live.ts';

export function FirstStart({ server }: { readonly server: ServerStatus }) {
  const looking = server.state === 'looking' && server.looksCount === 0;
  return (
    <Page
      title="Live"
      note={looking ? 'looking for Ollama' : 'no server yet'}
      actions={
        <Button look="flat" icon={MessageSquareQuote} onClick={() => screen.open('explain')}>
          Explain a reply
        </Button>
      }
    >
      <div className="min-w-0 flex-1 overflow-auto px-6 pt-8 pb-4">
        <div className="max-w-[720px]">
          <div className="headline whitespace-normal! wrap-anywhere">
            {looking ? 'Looking for Ollama at' : 'No Ollama at'} {hostOf(server.url)}
          </div>
          <p className="mt-1 mb-7 text-lead">
            Spillway looks again every 2 seconds and goes on by itself when one answers.
          </p>
          <StartIt installed={server.ollamaInstalled} />
          <OtherAddress server={server} />
          <Simulator />
        </div>
      </div>
      <Findings server={server} />
    </Page>
  );
}

function Way({ number, title, text, children }: { number: number; title: string; text: string; children: ReactNode }) {
  return (
    <div className="grid grid-cols-[32px_minmax(0,1fr)] gap-x-2 border-t pt-7 pb-8 last:border-b">
      <span className="text-figure leading-7 font-semibold text-ink-3">{number}</span>
      <div>
        <div className="lead">{title}</div>
        <p>{text}</p>
        <div className="mt-2 flex flex-wrap items-center gap-2">{children}</div>
      </div>
    </div>
  );
}

function StartIt({ installed }: { installed: boolean | null }) {
  const command = 'ollama serve';
  return (
    <Way
      number={1}
      title="Start it"
      text={
        installed === false
          ? 'It was not found on this machine. Get it from ollama.com, then run this in a terminal.'
          : 'In a terminal on this machine.'
      }
    >
      <div className="flex h-9 w-110 max-w-full items-center rounded border border-field bg-sunk pr-1 pl-3">
        <code className="flex-1 text-body! text-ink">{command}</code>
        <CopyButton look="primary" text={() => command} />
      </div>
    </Way>
  );
}

function OtherAddress({ server }: { server: ServerStatus }) {
  const client = useClient();
  const [url, setUrl] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const connect = (): void => {
    setBusy(true);
    setProblem(null);
    void client.request('server.connect', { url: url.trim() }).then((answer) => {
      setBusy(false);
      if (!answer.ok) setProblem([answer.denial.message, answer.denial.next].filter(Boolean).join(' '));
      else if (answer.value.state !== 'up')
        setProblem(answer.value.problem ?? `Nothing answers at ${hostOf(answer.value.url)}.`);
    });
  };
  return (
    <Way number={2} title="Use another address" text="A server on this network, or another port.">
      <form
        className="flex flex-wrap items-center gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          connect();
        }}
      >
        <TextBox
          value={url}
          onValue={setUrl}
          placeholder={`http://${hostOf(server.url)}`}
          aria-label="Address of the server"
          aria-invalid={problem !== null}
          maxLength={2_000}
          className="mono h-9! w-86! max-w-full text-body!"
        />
        <Button type="submit" className="h-9!" disabled={busy}>
          Connect
        </Button>
      </form>
      <div className="w-full">
        <Problem text={problem} />
      </div>
    </Way>
  );
}

function Simulator() {
  const client = useClient();
  const [busy, setBusy] = useState(false);
  const start = (): void => {
    setBusy(true);
    void client.request('simulator.start', {}).then((answer) => {
      setBusy(false);
      if (!answer.ok)
        client.raiseNotice({ level: 'error', text: answer.denial.message, next: answer.denial.next ?? null });
    });
  };
  return (
    <Way
      number={3}
      title="Try the simulator"
      text="It follows a real server's behaviour. All it makes is marked simulated."
    >
      <Button className="h-9!" disabled={busy} onClick={start}>
        Start the simulator
      </Button>
      <span className="lab">no download, no model</span>
    </Way>
  );
}

function Findings({ server }: { server: ServerStatus }) {
  const runs = useEngine((state) => state.runs.size);
  const nowMs = useNow(true, 1_000);
  const agoS =
    server.lastLookAt === null ? null : Math.max(0, Math.round((nowMs - Date.parse(server.lastLookAt)) / 1_000));
  return (
    <aside className="w-(--pane) flex-none overflow-auto border-l pt-8 pb-4 max-[1100px]:w-72">
      <Heading text="What was looked at" />
      {server.looks.map((look) => (
        <Line key={`${look.address} ${look.outcome}`} name={look.address} text={look.outcome} mono />
      ))}
      <p className="lab px-6 pt-2">
        {agoS === null ? 'not looked yet' : `last look ${agoS} s ago`} · {counted(server.looksCount, 'look')}
      </p>
      {server.problem === null ? null : <p className="px-6 pt-2 wrap-anywhere">{server.problem}</p>}
      <Heading text="What works now" />
      <Line name="History and exports" text={runs === 0 ? 'no runs yet' : `${count(runs)} runs`} />
      <Line name="Explain a reply" text="ready" />
      <Line name="Database" text="ready" />
      <Heading text="Then" />
      <p className="px-6">One click runs the first context sweep on the smallest model. It takes under two minutes.</p>
    </aside>
  );
}

function Heading({ text }: { text: string }) {
  return <h2 className="px-6 pb-2 font-semibold text-ink not-first:pt-8">{text}</h2>;
}

function Line({ name, text, mono = false }: { name: string; text: string; mono?: boolean }) {
  return (
    <div className="grid grid-cols-[minmax(0,2fr)_minmax(0,3fr)] gap-2 border-b px-6 py-1.5 text-table">
      <span className={`wrap-anywhere text-ink ${mono ? 'mono' : ''}`}>{name}</span>
      <span className="wrap-anywhere">{text}</span>
    </div>
  );
}
