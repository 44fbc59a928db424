/** Settings: every change is kept at once. */
import { useState } from 'react';
import type { ServerLogState as ServerLog } from '../../../shared/contract/server.ts';
import type { Settings } from '../../../shared/contract/settings.ts';
import { Button } from '../../components/button.tsx';
import { SimulatedTag } from '../../components/chip.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Choice, Problem, TextBox } from '../../components/field.tsx';
import { Page } from '../../frame/page.tsx';
import { count, DASH, hostOf } from '../../format/numbers.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import { CalibrationPanel } from './calibration-panel.tsx';
import { LedgerSection } from './ledger-section.tsx';
import { Line, Section, WholeNumber, useChange } from './settings-parts.tsx';

export function SettingsPage() {
  const settings = useEngine((state) => state.settings);
  return (
    <Page title="Settings" note="every change is kept at once">
      <div className="min-w-0 flex-1 overflow-auto px-6 pb-8">
        {settings === null ? null : (
          <div className="max-w-[760px]">
            <ServerSection settings={settings} />
            <SimulatorSection settings={settings} />
            <LooksSection settings={settings} />
            <CallsSection settings={settings} />
            <LedgerSection settings={settings} />
            <ExportSection settings={settings} />
            <Section title="Calibration">
              <CalibrationPanel />
            </Section>
            <AboutSection />
          </div>
        )}
      </div>
    </Page>
  );
}

interface SectionProps {
  readonly settings: Settings;
}

function ServerSection({ settings }: SectionProps) {
  const client = useClient();
  const server = useEngine((state) => state.server);
  const change = useChange();
  const [url, setUrl] = useState(settings.ollamaUrl);
  const [said, setSaid] = useState<string | null>(null);
  const connect = (): void => {
    setSaid('Looking');
    void client.request('server.connect', { url: url.trim() }).then((answer) => {
      if (!answer.ok) setSaid([answer.denial.message, answer.denial.next].filter(Boolean).join(' '));
      else if (answer.value.state === 'up')
        setSaid(`Ollama ${answer.value.version ?? ''} answers at ${hostOf(answer.value.url)}.`);
      else setSaid(answer.value.problem ?? `Nothing answers at ${hostOf(answer.value.url)}.`);
    });
  };
  return (
    <Section title="Server">
      <Line name="Address" help={`Empty uses OLLAMA_HOST, else http://127.0.0.1:11434. Now: ${server?.url ?? DASH}.`}>
        {(id) => (
          <form
            className="flex gap-2"
            onSubmit={(event) => {
              event.preventDefault();
              connect();
            }}
          >
            <TextBox
              id={id}
              value={url}
              onValue={setUrl}
              placeholder="http://127.0.0.1:11434"
              maxLength={2_000}
              className="mono"
            />
            <Button type="submit">Connect</Button>
          </form>
        )}
      </Line>
      <Problem text={said} />
      <ServerLogLine settings={settings} />
      <Line name="Local models only" help="Models that run in a cloud are refused while this is on.">
        {(id) => <Switch id={id} on={settings.localOnly} onChange={(localOnly) => void change({ localOnly })} />}
      </Line>
    </Section>
  );
}

/** Kept when the box is left or Enter is pressed; the state beside it is the engine's. */
function ServerLogLine({ settings }: SectionProps) {
  const log = useEngine((state) => state.serverLog);
  const change = useChange();
  const [typed, setTyped] = useState<string | null>(null);
  const keep = (): void => {
    if (typed === null) return;
    void change({ serverLog: typed.trim() }).then((refusal) => {
      if (refusal === null) setTyped(null);
    });
  };
  return (
    <Line
      name="Server log"
      help="With it a verdict is exact. Empty: the platform's place. Else a path, journal (the systemd service), serve (start ollama here) or off."
    >
      {(id) => (
        <>
          <TextBox
            id={id}
            value={typed ?? settings.serverLog}
            onValue={setTyped}
            onBlur={keep}
            onKeyDown={(event) => {
              if (event.key === 'Enter') keep();
            }}
            placeholder="the platform's place"
            maxLength={4_096}
            className="mono"
          />
          {log === null ? null : <ServerLogState log={log} />}
        </>
      )}
    </Line>
  );
}

const LOG_STATES = { off: 'off', open: 'open', 'not-found': 'not found', 'not-readable': 'not readable' } as const;

function ServerLogState({ log }: { log: ServerLog }) {
  const counts = `${count(log.lines)} lines read, ${count(log.unmatched)} of them fit no call here`;
  return (
    <div className="lab mt-1" role="status">
      <p className="wrap-anywhere">
        <span className="text-ink">{LOG_STATES[log.state]}</span>
        {log.source === '' ? null : `: ${log.source}`}
        {log.state === 'open' ? ` · ${counts}` : log.problem === null ? null : ` · ${log.problem}`}
        {log.simulated && log.state === 'open' ? (
          <span className="ml-2">
            <SimulatedTag />
          </span>
        ) : null}
      </p>
      {log.unmatchedLast.length === 0 ? null : (
        <details>
          <summary>The last that fit no call of this console, or more than one</summary>
          <pre className="mono max-h-40 overflow-auto whitespace-pre-wrap wrap-anywhere">
            {log.unmatchedLast.join('\n')}
          </pre>
        </details>
      )}
    </div>
  );
}

function SimulatorSection({ settings }: SectionProps) {
  const client = useClient();
  const change = useChange();
  const simulating = useEngine((state) => state.server?.kind === 'simulator');
  return (
    <Section title="Simulator">
      <Line
        name="State"
        help="It follows a real server's behaviour. All it makes is marked simulated, here, in the database and in every export."
      >
        {() => (
          <div className="flex items-center gap-2">
            <Button onClick={() => void client.request(simulating ? 'simulator.stop' : 'simulator.start', {})}>
              {simulating ? 'Leave the simulator' : 'Start the simulator'}
            </Button>
            {simulating ? <SimulatedTag /> : null}
          </div>
        )}
      </Line>
      <Line name="Pace" help="1 is the pace of a small model on a laptop; 0 does not wait.">
        {(id) => (
          <Choice
            id={id}
            value={String(settings.simulatorTimeScale)}
            options={[...new Set(['0', '0.1', '0.5', '1', '2', String(settings.simulatorTimeScale)])]
              .sort((a, b) => Number(a) - Number(b))
              .map((value) => ({ value, text: value === '0' ? '0, no waiting' : `${value} ×` }))}
            onValue={(value) => void change({ simulatorTimeScale: Number(value) })}
          />
        )}
      </Line>
    </Section>
  );
}

function LooksSection({ settings }: SectionProps) {
  const change = useChange();
  return (
    <Section title="Looks">
      <Line name="Theme">
        {(id) => (
          <Choice
            id={id}
            value={settings.theme}
            options={[
              { value: 'system', text: 'as the system' },
              { value: 'light', text: 'light' },
              { value: 'dark', text: 'dark' },
            ]}
            onValue={(theme) => void change({ theme })}
          />
        )}
      </Line>
    </Section>
  );
}

function CallsSection({ settings }: SectionProps) {
  const change = useChange();
  return (
    <Section title="Calls">
      <Line
        name="When a prompt is over the window"
        help="warn says it and sends. refuse lets the server answer with an error. allow sends without a word."
      >
        {(id) => (
          <Choice
            id={id}
            value={settings.policy}
            options={[
              { value: 'warn', text: 'warn' },
              { value: 'refuse', text: 'refuse' },
              { value: 'allow', text: 'allow' },
            ]}
            onValue={(policy) => void change({ policy })}
          />
        )}
      </Line>
      <WholeNumber
        name="num_predict"
        help="Most tokens of a reply in Live, when nothing else is typed."
        value={settings.numPredict}
        onValue={(numPredict) => change({ numPredict })}
      />
      <WholeNumber
        name="Time limit of a call, seconds"
        help="From sending to the end. A call that reaches it is stopped, and the server stops too."
        value={Math.round(settings.callTimeoutMs / 1_000)}
        onValue={(timeoutS) => change({ callTimeoutMs: timeoutS * 1_000 })}
      />
    </Section>
  );
}

function ExportSection({ settings }: SectionProps) {
  const change = useChange();
  const machine = settings.csvProfile === 'machine';
  return (
    <Section title="CSV">
      <Line
        name="Profile"
        help={
          machine
            ? 'machine: comma and dot, no byte order mark, the same bytes on every computer.'
            : 'spreadsheet: with a byte order mark, and the marks your spreadsheet expects.'
        }
      >
        {(id) => (
          <Choice
            id={id}
            value={settings.csvProfile}
            options={[
              { value: 'machine', text: 'machine' },
              { value: 'spreadsheet', text: 'spreadsheet' },
            ]}
            onValue={(csvProfile) => void change({ csvProfile })}
          />
        )}
      </Line>
      <Line name="Separator" {...(machine ? { help: 'Takes effect with the spreadsheet profile.' } : {})}>
        {(id) => (
          <Choice
            id={id}
            disabled={machine}
            value={machine ? ',' : settings.csvSeparator}
            options={[
              { value: ',', text: 'comma' },
              { value: ';', text: 'semicolon' },
              { value: '\t', text: 'tab' },
            ]}
            onValue={(csvSeparator) => void change({ csvSeparator })}
          />
        )}
      </Line>
      <Line name="Decimal mark">
        {(id) => (
          <Choice
            id={id}
            disabled={machine}
            value={machine ? '.' : settings.csvDecimalMark}
            options={[
              { value: '.', text: 'dot' },
              { value: ',', text: 'comma' },
            ]}
            onValue={(csvDecimalMark) => void change({ csvDecimalMark })}
          />
        )}
      </Line>
    </Section>
  );
}

function AboutSection() {
  const app = useEngine((state) => state.app);
  const server = useEngine((state) => state.server);
  const dropped = useEngine((state) => state.eventsDropped);
  return (
    <Section title="This console">
      <Line name="Data folder">
        {() => (
          <div className="flex min-w-0 items-center gap-2">
            <code className="min-w-0 wrap-anywhere text-ink">{app?.home ?? DASH}</code>
            {app === null ? null : <CopyButton text={() => app.home} />}
          </div>
        )}
      </Line>
      <Line name="Versions">
        {() => (
          <p className="leading-7 text-ink">
            Spillway {app?.version ?? DASH} · {server?.kind === 'simulator' ? 'simulator' : 'Ollama'}{' '}
            {server?.version ?? DASH} · {app?.host ?? DASH} on {app?.platform ?? DASH}
          </p>
        )}
      </Line>
      <Line name="Events not shown" help="A slow screen leaves events out and asks for the whole state instead.">
        {() => <p className="leading-7 text-ink">{count(dropped)}</p>}
      </Line>
    </Section>
  );
}

function Switch({ id, on, onChange }: { id: string; on: boolean; onChange: (on: boolean) => void }) {
  return (
    <Choice
      id={id}
      value={on ? 'on' : 'off'}
      options={[
        { value: 'on', text: 'on' },
        { value: 'off', text: 'off' },
      ]}
      onValue={(value) => {
        onChange(value === 'on');
      }}
    />
  );
}
