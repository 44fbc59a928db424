/** Measured speeds of each model, for time estimates. Learned from finished calls; nothing is guessed before the first. */
import type { CallSummary } from '../../contract/calls.ts';

export interface Speeds {
  observe(call: CallSummary): void;
  /** Load not included. null until this model has been measured. */
  callMs(model: string, promptTokens: number, outputTokens: number): number | null;
}

export function createSpeeds(): Speeds {
  const byModel = new Map<string, Sums>();
  return {
    observe(call) {
      if (call.promptEvalCount === null || call.promptEvalDurationMs === null) return;
      const sums = byModel.get(call.model) ?? fresh();
      if (!byModel.has(call.model) && byModel.size >= MODELS_MAX) return;
      byModel.set(call.model, sums);
      fade(sums);
      const told = call.promptEvalDurationMs + (call.evalDurationMs ?? 0) + (call.loadDurationMs ?? 0);
      // A simulator that does not wait tells of time that never passed.
      const passed = told > call.wallMs ? call.wallMs / told : 1;
      sums.promptTokens += call.promptEvalCount;
      sums.promptMs += call.promptEvalDurationMs * passed;
      if (call.evalCount !== null && call.evalDurationMs !== null) {
        sums.outputTokens += call.evalCount;
        sums.outputMs += call.evalDurationMs * passed;
      }
      sums.calls += 1;
      sums.restMs += Math.max(0, call.wallMs - told);
    },
    callMs(model, promptTokens, outputTokens) {
      const sums = byModel.get(model);
      if (sums === undefined || sums.promptTokens === 0) return null;
      const prompt = (promptTokens * sums.promptMs) / sums.promptTokens;
      const output = sums.outputTokens === 0 ? 0 : (outputTokens * sums.outputMs) / sums.outputTokens;
      return prompt + output + sums.restMs / Math.max(1, sums.calls);
    },
  };
}

interface Sums {
  promptTokens: number;
  promptMs: number;
  outputTokens: number;
  outputMs: number;
  calls: number;
  restMs: number;
}

const MODELS_MAX = 200;
/** Older calls count less, so that the estimate follows a machine that slows down. */
const KEPT_SHARE = 0.9;

const fresh = (): Sums => ({ promptTokens: 0, promptMs: 0, outputTokens: 0, outputMs: 0, calls: 0, restMs: 0 });

function fade(sums: Sums): void {
  for (const name of Object.keys(sums) as (keyof Sums)[]) sums[name] *= KEPT_SHARE;
}
