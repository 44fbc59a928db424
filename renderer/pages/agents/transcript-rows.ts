/** The transcript as rows: what a model said, the calls it made, and where a guard spoke. In the order of time. Pure. */
import type { AgentNode, GatewayCall, GuardTrip, ModelTurn } from '../../../shared/contract/agents.ts';
import type { AgentDetail } from '../../stores/agents-state.ts';
import { count } from '../../format/numbers.ts';
import { turnKey } from '../../stores/agents-state.ts';
import { callName, clip, codeWords, guardWords, isRefused } from './words.ts';

export type TranscriptRow =
  | {
      readonly kind: 'call';
      readonly key: string;
      readonly atMs: number;
      readonly step: number;
      readonly call: GatewayCall;
    }
  | {
      readonly kind: 'turn';
      readonly key: string;
      readonly atMs: number;
      readonly step: number;
      readonly turn: ModelTurn;
    }
  | {
      readonly kind: 'trip';
      readonly key: string;
      readonly atMs: number;
      readonly step: null;
      readonly trip: GuardTrip;
    };

/** nodeId null = all agents. Turns without a word are left out: their calls follow. */
export function transcriptRows(detail: AgentDetail, nodeId: string | null): readonly TranscriptRow[] {
  const rows: TranscriptRow[] = [];
  const wanted = (id: string): boolean => nodeId === null || nodeId === id;
  for (const call of detail.calls.values())
    if (wanted(call.nodeId)) rows.push({ kind: 'call', key: call.id, atMs: shownAt(call), step: call.step, call });
  for (const turn of detail.turns.values())
    if (wanted(turn.nodeId) && turn.text.trim() !== '')
      rows.push({
        kind: 'turn',
        key: `turn ${turnKey(turn)}`,
        atMs: turn.endedMs ?? turn.startedMs,
        step: turn.turn,
        turn,
      });
  detail.trips.forEach((trip, index) => {
    if (wanted(trip.nodeId)) rows.push({ kind: 'trip', key: `trip ${index}`, atMs: trip.atMs, step: null, trip });
  });
  return rows.sort((a, b) => a.atMs - b.atMs || kindRank[a.kind] - kindRank[b.kind] || placeOf(a) - placeOf(b));
}

const kindRank = { turn: 0, call: 1, trip: 2 } as const;

/** Results come when a call ends; what was not made is said at once, and what runs stands at its start. */
const shownAt = (call: GatewayCall): number => call.endedMs ?? call.startedMs;
const placeOf = (row: TranscriptRow): number => (row.kind === 'call' ? row.step * 1_000 + row.call.index : 0);

/** `fetch r/009`, `said`, `guard`. */
export function rowName(row: TranscriptRow): string {
  if (row.kind === 'call') return callName(row.call);
  if (row.kind === 'turn') return row.turn.closing ? 'closing turn' : 'model turn';
  return 'guard';
}

/** What came back, in one line. */
export function rowText(row: TranscriptRow): string {
  if (row.kind === 'turn') return firstLine(row.turn.text);
  if (row.kind === 'trip') return tripSentence(row.trip);
  const { call } = row;
  if (isRefused(call)) return refusedText(call);
  if (call.outcome === 'running') return call.tool === 'delegate' ? 'its agent is at work' : 'running';
  if (call.outcome === 'waiting-approval') return 'waits for a person';
  if (call.childId !== null) return `${call.childId} came back: ${firstLine(call.resultHead)}`;
  const said = firstLine(call.resultHead);
  const whole =
    call.handle === null && call.outcome === 'done' && call.outputBytes > 0 ? `, ${count(call.outputBytes)} bytes` : '';
  return whole === '' ? said : `${said.replace(/[.,;:]$/u, '')}${whole}`;
}

export function refusedText({ outcome, code }: Pick<GatewayCall, 'outcome' | 'code'>): string {
  return `${outcome === 'not-run' ? 'not run' : 'refused'}: ${code === null ? 'not allowed' : codeWords[code]}`;
}

/** `cut to 16,000 of 24,000 bytes`, the marker included; null where the whole output is in the context. */
export function cutText({ handle, shownBytes, outputBytes }: GatewayCall): string | null {
  return handle === null || shownBytes >= outputBytes
    ? null
    : `cut to ${count(shownBytes)} of ${count(outputBytes)} bytes`;
}

export function tripSentence({ stage, text, guard }: GuardTrip): string {
  const verb = { warn: 'Warned', block: 'Blocked', stop: 'Stopped' }[stage];
  return text === '' ? `${verb}: ${guardWords[guard]}` : `${verb}: ${text}`;
}

/** Which node a transcript starts with: the picked one, else the first. */
export function transcriptNode(nodes: ReadonlyMap<string, AgentNode>, picked: string | null): string | null {
  if (picked !== null && nodes.has(picked)) return picked;
  return nodes.keys().next().value ?? null;
}

function firstLine(text: string): string {
  const line = text.split('\n').find((one) => one.trim() !== '') ?? '';
  return clip(line.trim(), 160);
}
