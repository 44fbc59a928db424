/** How long the rest of a run will take, from measured speeds. */
import { item } from '../../engine/context-lab/item.ts';
import type { CallRecord } from '../../contract/calls.ts';
import type { CellPlan, Experiment } from '../../contract/experiments.ts';
import type { Milliseconds } from '../../contract/units.ts';
import type { Speeds } from '../../engine/context-lab/speeds.ts';
import { tokensOfCell } from '../../engine/labs.ts';
import type { Clock } from '../../engine/ports.ts';

export interface Eta {
  /** The cell at this place is through. */
  passed(index: number, record: CallRecord): void;
  /** null until the models of the remaining cells have been measured. */
  leftMs(): Milliseconds | null;
}

export function createEta(plans: readonly CellPlan[], experiment: Experiment, speeds: Speeds, clock: Clock): Eta {
  let next = 0;
  let shown: { leftMs: Milliseconds | null; atMs: number; next: number } | null = null;
  const windows = new Map<string, number>();
  const windowKey = (plan: CellPlan): string => `${plan.model} ${plan.numCtx ?? 'default'}`;

  return {
    passed(index, record) {
      next = index + 1;
      if (record.numCtxRunning !== null) windows.set(windowKey(item(plans, index)), record.numCtxRunning);
    },
    leftMs() {
      const nowMs = clock.monotonicMs();
      // Up to 20,000 cells are summed up, so not more often than a person can read it.
      if (shown !== null && nowMs - shown.atMs < REFRESH_MS && next < plans.length) return shown.leftMs;
      let sum: number | null = 0;
      for (let index = next; index < plans.length && sum !== null; index++) {
        const plan = item(plans, index);
        const { prompt, output } = tokensOfCell(experiment, plan, windows.get(windowKey(plan)) ?? plan.numCtx);
        const ms: number | null = speeds.callMs(plan.model, prompt, output);
        sum = ms === null ? null : sum + ms;
      }
      shown = { leftMs: sum === null ? null : (Math.round(sum) as Milliseconds), atMs: nowMs, next };
      return shown.leftMs;
    },
  };
}

const REFRESH_MS = 200;
