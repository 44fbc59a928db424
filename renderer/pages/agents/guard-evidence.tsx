/** What stands behind a chip of the strip: trips and fingerprints, lamps of upstreams, leases, amplification. */
import { useMemo } from 'react';
import type { ReactNode } from 'react';
import type { AgentRun, Breaker, GuardTrip, Lease } from '../../../shared/contract/agents.ts';
import { Badge } from '../../components/badge.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { count, counted } from '../../format/numbers.ts';
import type { AgentDetail } from '../../stores/agents-state.ts';
import { openLeases, rounded } from './guard-model.ts';
import type { Print, StripItem } from './guard-model.ts';
import { stepsOf, tripCalls } from './marked-calls.ts';
import { callName, guardWords, inSeconds } from './words.ts';

export interface GuardEvidenceProps {
  readonly what: StripItem['id'];
  readonly run: AgentRun;
  readonly detail: AgentDetail;
  readonly repeated: readonly Print[];
  readonly onPickCall: (id: string) => void;
}

export function GuardEvidence({ what, run, detail, repeated, onPickCall }: GuardEvidenceProps) {
  switch (what) {
    case 'guards':
      return (
        <div className="grid min-h-0 grid-cols-2 gap-x-6 max-[1100px]:grid-cols-1">
          <Part title="Trips" note="warn, then block, then stop">
            <Trips trips={detail.trips} detail={detail} onPickCall={onPickCall} />
          </Part>
          <Part title="Calls that came more than once" note="by fingerprint of tool and arguments, for each agent">
            <Prints repeated={repeated} />
          </Part>
        </div>
      );
    case 'upstreams':
      return (
        <Part title="Upstreams" note="one that fails again and again rests, then one call tries it">
          <Breakers breakers={detail.breakers} />
        </Part>
      );
    case 'leases':
      return (
        <Part title="Work that outlives its call" note="ended with the run; what cannot be ended is named here">
          <Leases leases={[...detail.leases.values()]} run={run} />
        </Part>
      );
    case 'amplification':
      return (
        <Part
          title="Amplification"
          note="how much work one KB of input became: the prompt, and what tools brought in unasked"
        >
          <Amplification run={run} />
        </Part>
      );
  }
}

function Part({ title, note, children }: { title: string; note: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="min-w-0 px-6 py-2">
      <h3 className="font-semibold text-ink">
        {title} <span className="lab font-normal">{note}</span>
      </h3>
      {children}
    </section>
  );
}

const TRIPS_SHOWN_MAX = 100;
const CALLS_NAMED_MAX = 12;

function Trips({
  trips,
  detail,
  onPickCall,
}: {
  trips: readonly GuardTrip[];
  detail: AgentDetail;
  onPickCall: (id: string) => void;
}) {
  const steps = useMemo(() => stepsOf(detail.calls.values()), [detail.calls]);
  if (trips.length === 0) return <p>No guard has tripped.</p>;
  return (
    <ol className="text-table">
      {trips.slice(-TRIPS_SHOWN_MAX).map((trip, index) => (
        <li key={index} className="grid grid-cols-[44px_56px_minmax(0,1fr)] items-start gap-x-2 border-b py-1 text-ink">
          <span className="text-right text-ink-3">{inSeconds(trip.atMs)}</span>
          <span className="inline-flex items-center gap-1.5">
            <Badge
              meaning="loops"
              severity={trip.stage === 'stop' ? 'stopped' : trip.stage === 'block' ? 'happened' : 'informed'}
              size="small"
            />
            {trip.stage}
          </span>
          <span className="min-w-0 wrap-anywhere">
            {trip.text === '' ? guardWords[trip.guard] : trip.text}
            <span className="lab block">
              {trip.nodeId}, {guardWords[trip.guard]}, counted {count(trip.count)}, limit {count(trip.limit)}
              {trip.hash === null ? '' : `, hash ${trip.hash.slice(0, 16)}`}
            </span>
            <TripCalls ids={tripCalls(trip, steps)} detail={detail} onPickCall={onPickCall} />
          </span>
        </li>
      ))}
    </ol>
  );
}

function TripCalls({
  ids,
  detail,
  onPickCall,
}: {
  ids: readonly string[];
  detail: AgentDetail;
  onPickCall: (id: string) => void;
}) {
  return (
    <>
      {ids.length > CALLS_NAMED_MAX ? (
        <span className="lab mr-2">{count(ids.length - CALLS_NAMED_MAX)} before</span>
      ) : null}
      {ids.slice(-CALLS_NAMED_MAX).map((id) => {
        const call = detail.calls.get(id);
        return (
          <button
            key={id}
            type="button"
            className="mr-2 border-b border-field font-mono text-small text-ink-2 hover:text-ink"
            onClick={() => onPickCall(id)}
          >
            {call === undefined ? id.slice(0, 40) : `${callName(call)} · ${inSeconds(call.startedMs)}`}
          </button>
        );
      })}
    </>
  );
}

function Prints({ repeated }: { repeated: readonly Print[] }) {
  if (repeated.length === 0) return <p>Every call was another one.</p>;
  return (
    <ol className="text-table">
      {repeated.map((print) => (
        <li
          key={`${print.nodeId} ${print.fingerprint}`}
          className="grid grid-cols-[40px_minmax(0,1fr)_auto] items-center gap-x-2 border-b py-0.5 text-ink"
        >
          <b className="text-right">{count(print.calls)} ×</b>
          <span className="min-w-0 truncate" title={print.name}>
            <span className="mono">{print.name}</span> <span className="lab">{print.nodeId}</span>
          </span>
          <span className="inline-flex items-center gap-1">
            <span className="lab">
              {print.sameResult > 1 ? `same result ${count(print.sameResult)} ×` : 'other results'}
              {print.refused > 0 ? `, ${count(print.refused)} not made` : ''} · {print.fingerprint.slice(0, 10)}
            </span>
            <CopyButton look="icon" label="Copy the fingerprint" text={() => print.fingerprint} />
          </span>
        </li>
      ))}
    </ol>
  );
}

const lampWords = { closed: 'answers', open: 'rests', 'half-open': 'is tried with one call' } as const;
const lampSeverity = { closed: 'informed', open: 'stopped', 'half-open': 'happened' } as const;

function Breakers({ breakers }: { breakers: readonly Breaker[] }) {
  if (breakers.length === 0) return <p>No tool with an upstream was called.</p>;
  return (
    <ul className="text-table">
      {breakers.map(({ upstream, state, failures, retryAfterMs }) => (
        <li key={upstream} className="flex items-center gap-2 border-b py-1 text-ink">
          <Badge meaning="budget" severity={lampSeverity[state]} size="small" />
          <span className="min-w-0 max-w-80 truncate" title={upstream}>
            {upstream}
          </span>
          <span className="lab">
            {lampWords[state]} · {counted(failures, 'failure')} in a row
            {retryAfterMs === null ? '' : ` · may be tried in ${inSeconds(retryAfterMs)}`}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Leases({ leases, run }: { leases: readonly Lease[]; run: AgentRun }) {
  const open = openLeases(leases);
  if (leases.length === 0)
    return (
      <p>
        {run.openLeases > 0
          ? `${counted(run.openLeases, 'lease')} could not be ended.`
          : 'No call left anything behind.'}
      </p>
    );
  return (
    <>
      <p className="text-ink">
        {open.length === 0
          ? `${counted(leases.length, 'lease')}: all were ended.`
          : run.state === 'running'
            ? `${counted(open.length, 'lease')} open now; ended with the run.`
            : `${counted(open.length, 'lease')} still open: end ${open.length === 1 ? 'it' : 'them'} by hand.`}
      </p>
      <ul className="text-table">
        {[...open, ...leases.filter((lease) => !open.includes(lease))]
          .slice(0, 200)
          .map(({ id, tool, what, nodeId, openedMs, state }) => (
            <li key={id} className="grid grid-cols-[64px_56px_minmax(0,1fr)] gap-x-2 border-b py-1 text-ink">
              <b>{state === 'failed' ? 'not ended' : state === 'open' ? 'open' : 'ended'}</b>
              <span className="text-right text-ink-3">{inSeconds(openedMs)}</span>
              <span className="min-w-0 wrap-anywhere">
                {what}{' '}
                <span className="lab">
                  {tool}, {nodeId}
                </span>
              </span>
            </li>
          ))}
      </ul>
    </>
  );
}

function Amplification({ run: { totals } }: { run: AgentRun }) {
  const { callsPerKb, tokensPerKb } = totals;
  if (callsPerKb === null || tokensPerKb === null) return <p>The task was empty: there is nothing to measure by.</p>;
  const tools = Object.entries(totals.callsByTool).sort(([, a], [, b]) => b - a);
  const most = Math.max(1, ...tools.map(([, calls]) => calls));
  return (
    <div className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-12 gap-y-1">
      <div>
        <p>
          <span className="figure">{rounded(callsPerKb)}</span> calls per KB
        </p>
        <p>
          <span className="figure">{rounded(tokensPerKb)}</span> tokens per KB
        </p>
        <p className="lab">
          {count(totals.outputBytes)} bytes came back · {counted(totals.retries, 'retry', 'retries')} ·{' '}
          {counted(totals.refused, 'call')} refused
        </p>
      </div>
      <ul aria-label="Calls by tool" className="max-w-[560px] text-table">
        {tools.slice(0, 12).map(([tool, calls]) => (
          <li key={tool} className="grid grid-cols-[160px_minmax(0,1fr)_56px] items-center gap-2">
            <span className="mono truncate" title={tool}>
              {tool}
            </span>
            <i className="c-plain fill h-2" style={{ width: `${(calls / most) * 100}%` }} />
            <span className="text-right text-ink">{count(calls)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
