/**
 * Estimates megabytes of text off the main thread, so that no proxy, frame or window waits for them. Short texts are done in
 * place: a round trip to the worker costs more than they do.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Message } from '../../contract/calls.ts';
import type { Estimator } from '../../engine/ports.ts';
import { type Job, work } from './worker.ts';

/** UTF-16 units; about 2 ms of estimating. */
const IN_PLACE_CHARACTERS_MAX = 50_000;

export interface WorkerEstimator extends Estimator {
  stop(): Promise<void>;
}

export function createEstimator(): WorkerEstimator {
  let worker: Worker | null = null;
  let lastId = 0;
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();

  function start(): Worker {
    const started = new Worker(workerFile());
    started.unref();
    started.on('message', (message: { id: number; value?: unknown; error?: string }) => {
      const job = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.error === undefined) job?.resolve(message.value as never);
      else job?.reject(new Error(message.error));
    });
    // A worker that dies fails what it held; the next job starts a new one.
    const fail = (error: Error): void => {
      worker = null;
      for (const job of waiting.values()) job.reject(error);
      waiting.clear();
    };
    started.on('error', fail);
    started.on('exit', () => fail(new Error('The estimate worker ended.')));
    return started;
  }

  function run<Value>(job: Job): Promise<Value> {
    worker ??= start();
    const current = worker;
    return new Promise<Value>((resolve, reject) => {
      waiting.set(job.id, { resolve, reject });
      current.postMessage(job);
    });
  }

  return {
    estimate(messages, learned) {
      const job: Job = { id: ++lastId, kind: 'estimate', messages, learned };
      return isShort(messages) ? Promise.resolve(work(job) as never) : run(job);
    },
    preflight(input) {
      const job: Job = { id: ++lastId, kind: 'preflight', input };
      return isShort(input.messages) ? Promise.resolve(work(job) as never) : run(job);
    },
    async stop() {
      const current = worker;
      worker = null;
      await current?.terminate();
    },
  };
}

function isShort(messages: readonly Message[]): boolean {
  let sum = 0;
  for (const message of messages) sum += message.content.length;
  return sum <= IN_PLACE_CHARACTERS_MAX;
}

/** Beside this file in the sources; beside the bundle as estimate-worker.js in a build. */
function workerFile(): URL {
  for (const name of ['./worker.ts', './estimate-worker.js', '../estimate-worker.js']) {
    const url = new URL(name, import.meta.url);
    if (existsSync(fileURLToPath(url))) return url;
  }
  throw new Error('The estimate worker is missing: build again.');
}
