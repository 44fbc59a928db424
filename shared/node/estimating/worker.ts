/** The far side of estimator.ts: answers one job at a time, in order. */
import { parentPort } from 'node:worker_threads';
import type { Message } from '../../contract/calls.ts';
import { type LearnedRatio, estimateMessages } from '../../engine/estimate/estimate.ts';
import { type PreflightInput, preflight } from '../../engine/truncation/preflight.ts';

export type Job =
  | {
      readonly id: number;
      readonly kind: 'estimate';
      readonly messages: readonly Message[];
      readonly learned: LearnedRatio | null;
    }
  | { readonly id: number; readonly kind: 'preflight'; readonly input: PreflightInput };

export function work(job: Job): unknown {
  return job.kind === 'estimate' ? estimateMessages(job.messages, job.learned) : preflight(job.input);
}

parentPort?.on('message', (job: Job) => {
  try {
    parentPort?.postMessage({ id: job.id, value: work(job) });
  } catch (error) {
    parentPort?.postMessage({ id: job.id, error: error instanceof Error ? error.message : String(error) });
  }
});
