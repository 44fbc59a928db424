/** The steps of an agent run as lines, while it goes: one a step, when the agent has gone on from it. */
import type { GatewayCall, GuardTrip } from '../../contract/agents.ts';
import type { EngineEvent } from '../../contract/events.ts';
import { plainText } from './plain-text.ts';

export interface StepLines {
  take(event: EngineEvent): void;
  /** Steps that nobody went on from. */
  end(): void;
}

/** Nothing is written of other runs. */
export function createStepLines(runId: string, write: (line: string) => void): StepLines {
  /** Agent -> its last step, not told yet. */
  const open = new Map<string, Map<string, GatewayCall>>();

  function tell(nodeId: string): void {
    const calls = [...(open.get(nodeId)?.values() ?? [])];
    open.delete(nodeId);
    if (calls.length > 0) write(stepLine(calls));
  }

  return {
    take(event) {
      if (event.type === 'agent-call-changed' && event.runId === runId) {
        const { call } = event;
        const step = open.get(call.nodeId) ?? new Map<string, GatewayCall>();
        if ([...step.values()].some((other) => other.step !== call.step)) {
          tell(call.nodeId);
          step.clear();
        }
        step.set(call.id, call);
        open.set(call.nodeId, step);
      }
      if (event.type === 'agent-turn-changed' && event.runId === runId && event.turn.endedMs === null) {
        tell(event.turn.nodeId);
        if (event.turn.closing)
          write(`${clock(event.turn.startedMs)}  ${plainText(event.turn.nodeId, 60)}  closing call`);
      }
      if (event.type === 'agent-guard-tripped' && event.runId === runId) write(tripLine(event.trip));
    },
    end() {
      for (const nodeId of [...open.keys()]) tell(nodeId);
    },
  };
}

/** `12.3 s  agent  step 3  get_page x7, delegate  2 not run (fan-out)  1,200 tokens  $0.002`. */
function stepLine(calls: readonly GatewayCall[]): string {
  const [first] = calls;
  if (first === undefined) return '';
  const ran = new Map<string, number>();
  const refused = new Map<string, number>();
  for (const { tool, outcome, code } of calls) {
    const isRefused = outcome === 'refused' || outcome === 'not-run';
    const [of, name] = isRefused ? [refused, code ?? outcome] : [ran, plainText(tool, 60)];
    of.set(name, (of.get(name) ?? 0) + 1);
  }
  const endedMs = calls.reduce((most, call) => Math.max(most, call.endedMs ?? call.startedMs), 0);
  const failed = calls.filter(({ outcome }) => outcome === 'failed').length;
  const tokens = calls.reduce((sum, call) => sum + call.tokens, 0);
  const refusals = [...refused.values()].reduce((sum, count) => sum + count, 0);
  return [
    clock(endedMs),
    plainText(first.nodeId, 60),
    `step ${first.step}`,
    [...ran].slice(0, NAMES_SHOWN_MAX).map(times).join(', '),
    refusals === 0 ? '' : `${refusals} not run (${[...refused.keys()].join(', ')})`,
    failed === 0 ? '' : `${failed} failed`,
    `${tokens.toLocaleString('en-US')} tokens`,
  ]
    .filter((part) => part !== '')
    .join('  ');
}

const NAMES_SHOWN_MAX = 6;
const times = ([name, count]: readonly [string, number]): string => (count === 1 ? name : `${name} x${count}`);

const tripLine = ({ atMs, nodeId, guard, stage, text }: GuardTrip): string =>
  `${clock(atMs)}  ${plainText(nodeId, 60)}  ${guard} (${stage})  ${plainText(text)}`;

const clock = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`.padStart(8);
