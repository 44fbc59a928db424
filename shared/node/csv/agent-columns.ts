/** Agent runs as tables: calls, agents, model turns. Numbers carry their unit in the name. Columns are only ever added at the end. */
import { createHash } from 'node:crypto';
import type { AgentNode, AgentRunView, AgentTask, GatewayCall, ModelTurn } from '../../contract/agents.ts';
import type { Column, RowOf } from './columns.ts';

const runColumns = [
  { name: 'run_id', type: 'text' },
  { name: 'task', type: 'text' },
  { name: 'model', type: 'text' },
  { name: 'simulated', type: 'boolean' },
  { name: 'scripted', type: 'boolean' },
  { name: 'governed', type: 'boolean' },
  { name: 'seed', type: 'number' },
] as const satisfies readonly Column[];

/** At the end, as they came later. options_hash: of everything that was set for the run but its prompt. */
const serverColumns = [
  { name: 'model_digest', type: 'text' },
  { name: 'ollama_version', type: 'text' },
  { name: 'options_hash', type: 'text' },
  // counted: by the script's own rule; estimated: by Spillway, for a server's model.
  { name: 'context_tokens_source', type: 'text' },
] as const satisfies readonly Column[];

export const agentCallColumns = [
  ...runColumns,
  { name: 'agent', type: 'text' },
  { name: 'step', type: 'number' },
  { name: 'index', type: 'number' },
  { name: 'call_id', type: 'text' },
  { name: 'tool', type: 'text' },
  { name: 'arguments', type: 'text' },
  { name: 'outcome', type: 'text' },
  { name: 'code', type: 'text' },
  { name: 'dimension', type: 'text' },
  { name: 'attempts', type: 'number' },
  { name: 'output_bytes', type: 'number' },
  { name: 'shown_bytes', type: 'number' },
  { name: 'handle', type: 'text' },
  { name: 'context_tokens', type: 'number' },
  { name: 'nano_dollars', type: 'number' },
  { name: 'new_shingles', type: 'number' },
  { name: 'fingerprint', type: 'text' },
  { name: 'state_hash', type: 'text' },
  { name: 'started_ms', type: 'number' },
  { name: 'ended_ms', type: 'number' },
  { name: 'child', type: 'text' },
  ...serverColumns,
] as const satisfies readonly Column[];

export const agentNodeColumns = [
  ...runColumns,
  { name: 'agent', type: 'text' },
  { name: 'parent', type: 'text' },
  { name: 'depth', type: 'number' },
  { name: 'state', type: 'text' },
  { name: 'reason', type: 'text' },
  { name: 'calls_used', type: 'number' },
  { name: 'calls_carved', type: 'number' },
  { name: 'calls_limit', type: 'number' },
  { name: 'context_tokens', type: 'number' },
  { name: 'billed_tokens', type: 'number' },
  { name: 'tokens_limit', type: 'number' },
  { name: 'tokens_mean', type: 'text' },
  { name: 'nano_dollars_used', type: 'number' },
  { name: 'nano_dollars_limit', type: 'number' },
  { name: 'fan_out_peak', type: 'number' },
  { name: 'output_bytes_peak', type: 'number' },
  { name: 'descendants', type: 'number' },
  { name: 'model_turns', type: 'number' },
  { name: 'largest_context_tokens', type: 'number' },
  { name: 'started_ms', type: 'number' },
  { name: 'ended_ms', type: 'number' },
  ...serverColumns,
] as const satisfies readonly Column[];

export const agentTurnColumns = [
  ...runColumns,
  { name: 'agent', type: 'text' },
  { name: 'turn', type: 'number' },
  { name: 'closing', type: 'boolean' },
  { name: 'call_id', type: 'text' },
  { name: 'context_tokens', type: 'number' },
  { name: 'tool_calls', type: 'number' },
  { name: 'started_ms', type: 'number' },
  { name: 'ended_ms', type: 'number' },
  ...serverColumns,
] as const satisfies readonly Column[];

type RunPart = RowOf<(typeof runColumns)[number] | (typeof serverColumns)[number]>;

const runPart = ({ run }: AgentRunView): RunPart => ({
  run_id: run.id,
  task: run.task.name,
  model: run.task.model,
  simulated: run.simulated,
  scripted: run.scripted,
  governed: run.task.governed,
  seed: run.task.seed,
  model_digest: run.modelDigest ?? null,
  ollama_version: run.ollamaVersion ?? null,
  options_hash: taskHash(run.task),
  context_tokens_source: run.scripted ? 'counted' : 'estimated',
});

export function agentCallRow(view: AgentRunView, call: GatewayCall): RowOf<(typeof agentCallColumns)[number]> {
  return {
    ...runPart(view),
    agent: call.nodeId,
    step: call.step,
    index: call.index,
    call_id: call.id,
    tool: call.tool,
    arguments: call.argumentsHead,
    outcome: call.outcome,
    code: call.code,
    dimension: call.exhaustion?.dimension ?? null,
    attempts: call.attempts,
    output_bytes: call.outputBytes,
    shown_bytes: call.shownBytes,
    handle: call.handle,
    context_tokens: call.tokens,
    nano_dollars: call.nanoDollars,
    new_shingles: call.newShingles,
    fingerprint: call.fingerprint,
    state_hash: call.stateHash,
    started_ms: call.startedMs,
    ended_ms: call.endedMs,
    child: call.childId,
  };
}

export function agentNodeRow(view: AgentRunView, node: AgentNode): RowOf<(typeof agentNodeColumns)[number]> {
  return {
    ...runPart(view),
    agent: node.id,
    parent: node.parentId,
    depth: node.depth,
    state: node.state,
    reason: node.reason,
    calls_used: node.used.calls,
    calls_carved: node.carved.calls,
    calls_limit: node.limits.calls,
    context_tokens: node.used.contextTokens,
    billed_tokens: node.used.billedTokens,
    tokens_limit: node.limits.tokens,
    tokens_mean: node.limits.tokensMean,
    nano_dollars_used: node.used.nanoDollars,
    nano_dollars_limit: node.limits.nanoDollars,
    fan_out_peak: node.peak.fanOut,
    output_bytes_peak: node.peak.outputBytes,
    descendants: node.descendants,
    model_turns: node.modelTurns,
    largest_context_tokens: node.largestContextTokens,
    started_ms: node.startedMs,
    ended_ms: node.endedMs,
  };
}

export function agentTurnRow(view: AgentRunView, turn: ModelTurn): RowOf<(typeof agentTurnColumns)[number]> {
  return {
    ...runPart(view),
    agent: turn.nodeId,
    turn: turn.turn,
    closing: turn.closing,
    call_id: turn.callId,
    context_tokens: turn.contextTokens,
    tool_calls: turn.toolCalls,
    started_ms: turn.startedMs,
    ended_ms: turn.endedMs,
  };
}

/** Alike for runs that differ in nothing but prompt, seed and payer. Keys and secrets of servers are no part of it. */
function taskHash({
  prompt: _prompt,
  name: _name,
  seed: _seed,
  payer: _payer,
  mcpServers,
  ...options
}: AgentTask): string {
  const settings = { ...options, mcpServers: Object.keys(mcpServers) };
  return createHash('sha256').update(JSON.stringify(settings, sortedKeys)).digest('hex').slice(0, 16);
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
