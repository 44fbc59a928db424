/** How work multiplies: retries in layers, delegation in levels, planted text. The figures beside the resend calculator. */
import { type Result, denied, ok } from '../../contract/denials.ts';
import { outOfRange } from './exact.ts';

/**
 * Attempts of one logical call where every layer tries again on its own. `attempts` counts the first try: three retries on top
 * of a first try are 4.
 */
export function attemptsPerCall(attempts: readonly number[]): Result<number> {
  if (attempts.length > LAYERS_MAX) return tooMany('attempts');
  let product = 1;
  for (const [index, count] of attempts.entries()) {
    const fault = outOfRange(`attempts[${index}]`, count, 1, 1_000);
    if (fault !== null) return fault;
    product *= count;
  }
  return Number.isSafeInteger(product) ? ok(product) : tooMany('attempts');
}

/** Agents in a tree where each gives work to `fanOut` others, `depth` levels deep: (f^(d+1) - 1) / (f - 1). */
export function delegationTree(
  fanOut: number,
  depth: number,
): Result<{ readonly agents: number; readonly delegations: number }> {
  const fault = outOfRange('fanOut', fanOut, 0, 1_000) ?? outOfRange('depth', depth, 0, LAYERS_MAX);
  if (fault !== null) return fault;
  let level = 1;
  let agents = 1;
  for (let at = 0; at < depth; at += 1) {
    level *= fanOut;
    agents += level;
  }
  return Number.isSafeInteger(agents) ? ok({ agents, delegations: agents - 1 }) : tooMany('depth');
}

/** What planted text makes others do, for each KB of it and for each of its tokens (at 4 bytes). */
export interface Amplification {
  readonly callsPerKilobyte: number;
  readonly tokensPerKilobyte: number;
  readonly tokensPerPlantedToken: number;
}

export function amplification(plantedBytes: number, calls: number, inputTokens: number): Result<Amplification> {
  const fault =
    outOfRange('plantedBytes', plantedBytes, 1, Number.MAX_SAFE_INTEGER) ??
    outOfRange('calls', calls, 0, Number.MAX_SAFE_INTEGER) ??
    outOfRange('inputTokens', inputTokens, 0, Number.MAX_SAFE_INTEGER);
  if (fault !== null) return fault;
  const kilobytes = plantedBytes / 1_024;
  return ok({
    callsPerKilobyte: calls / kilobytes,
    tokensPerKilobyte: inputTokens / kilobytes,
    tokensPerPlantedToken: inputTokens / (plantedBytes / BYTES_PER_TOKEN),
  });
}

const LAYERS_MAX = 20;
const BYTES_PER_TOKEN = 4;

function tooMany(field: string): Result<never> {
  return denied('bad-input', `${field} multiplies beyond what can be counted exactly.`, {
    field,
    next: 'Give fewer layers.',
  });
}
