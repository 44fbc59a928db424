import { expect, test, vi } from 'vitest';
import { ok } from '../../../shared/contract/denials.ts';
import { createEngineClient } from '../../../renderer/stores/engine-store.ts';
import type { FrameScheduler } from '../../../renderer/stores/engine-store.ts';
import { fakeTransport } from '../support/fake-transport.ts';
import { makeOpenCall, makeSnapshot } from '../support/make.ts';

/** Drawings happen when the test says so. */
function handScheduler(): FrameScheduler & { draw(): void } {
  let waiting: (() => void)[] = [];
  return {
    soon: (run) => void waiting.push(run),
    nowMs: () => 0,
    draw: () => {
      const now = waiting;
      waiting = [];
      for (const run of now) run();
    },
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

function setUp() {
  const transport = fakeTransport({ 'snapshot.get': () => ok(makeSnapshot()) });
  const scheduler = handScheduler();
  const client = createEngineClient(transport, scheduler);
  return { transport, scheduler, client };
}

const snapshotsAsked = (transport: ReturnType<typeof fakeTransport>): number =>
  transport.asked.filter(({ name }) => name === 'snapshot.get').length;

test('the first thing asked is a snapshot', async () => {
  const { transport, client } = setUp();
  await settled();
  expect(snapshotsAsked(transport)).toBe(1);
  expect(client.store.getState()).toMatchObject({ loaded: true, connection: 'connected', needsSnapshot: false });
});

test('however many frames arrive, a drawing writes the store once', async () => {
  const { transport, scheduler, client } = setUp();
  await settled();
  const writes = vi.fn();
  client.store.subscribe(writes);
  for (let index = 0; index < 100; index += 1) transport.emit({ type: 'call-opened', call: makeOpenCall(`c${index}`) });
  expect(writes).toHaveBeenCalledTimes(0);
  scheduler.draw();
  expect(writes).toHaveBeenCalledTimes(1);
  expect(client.store.getState().calls.size).toBe(100);
});

test('a gap asks for a snapshot again, once', async () => {
  const { transport, scheduler } = setUp();
  await settled();
  transport.emit();
  transport.emitFrame({ kind: 'frame', seq: 5, dropped: 0, events: [] });
  transport.emitFrame({ kind: 'frame', seq: 9, dropped: 0, events: [] });
  scheduler.draw();
  await settled();
  expect(snapshotsAsked(transport)).toBe(2);
});

test('frames of the connection before are not mixed with those of the new one', async () => {
  const { transport, scheduler, client } = setUp();
  await settled();
  transport.emit({ type: 'notice-raised', level: 'info', text: 'old', next: null });
  transport.turn('waiting');
  transport.turn('connected');
  scheduler.draw();
  await settled();
  expect(client.store.getState().notices).toEqual([]);
  expect(snapshotsAsked(transport)).toBe(2);
});

test('a hidden window that never draws does not collect frames without bound', async () => {
  const { transport, scheduler, client } = setUp();
  await settled();
  for (let index = 0; index < 2_000; index += 1) transport.emit();
  scheduler.draw();
  await settled();
  expect(client.store.getState().lastSeq).toBe(2_000);
});
