/** What happens to a screen that is slow, hostile, lost or left behind. */
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { ok } from '../../shared/contract/denials.ts';
import { FRAME_INTERVAL_MS, MESSAGE_BYTES_MAX, toScreenSchema } from '../../shared/contract/frames.ts';
import { SCREENS_MAX } from '../../shared/node/rpc/web-sockets.ts';
import { connectBrowser, isConnected, until } from '../contract/carriers.ts';
import { notice } from '../contract/samples.ts';
import { closeCode, cookie, door, host, openSocket, origin, restartHost, useWebHost } from './web-bench.ts';

useWebHost();

describe('screens', () => {
  test('a message over the limit ends the line with the code for it, and is no request', async () => {
    const socket = await openSocket();
    const code = closeCode(socket);
    socket.send('x'.repeat(MESSAGE_BYTES_MAX + 1));
    expect(await code).toBe(1009);
    expect(door.calls).toEqual([]);
    expect(door.logged.map((one) => one.event)).toContain('screen-refused');
  });

  test('bytes are not taken', async () => {
    const socket = await openSocket();
    const code = closeCode(socket);
    socket.send(Buffer.from('{"kind":"request","id":1,"name":"run.list","params":{}}'), { binary: true });
    expect(await code).toBe(1003);
    expect(door.calls).toEqual([]);
  });

  test('more screens than the limit are turned away, the others go on', async () => {
    const open = await Promise.all(Array.from({ length: SCREENS_MAX }, () => openSocket()));
    const extra = new WebSocket(`ws://127.0.0.1:${host.port}/ws`, { origin: origin(), headers: { cookie } });
    expect(await closeCode(extra)).toBe(1013);
    expect(host.screens()).toBe(SCREENS_MAX);
    open[0]?.close();
    await until(() => host.screens() === SCREENS_MAX - 1, 'a free place');
  });

  test('a screen that does not read: frames wait and are joined, what was lost is counted, nothing piles up', async () => {
    const socket = await openSocket();
    let seen = 0;
    let dropped = 0;
    let lastSeq = 0;
    let gaps = 0;
    socket.on('message', (data) => {
      const message = toScreenSchema.parse(JSON.parse(String(data)));
      if (message.kind !== 'frame') return;
      if (message.seq !== lastSeq + 1) gaps += 1;
      lastSeq = message.seq;
      seen += message.events.length;
      dropped += message.dropped;
    });
    socket.pause();
    const text = 'x'.repeat(2_000);
    let emitted = 0;
    // Each round fits into one frame. Together they are far more than the operating system buffers: without holding back,
    // all of it would be written, and nothing lost.
    for (let round = 0; round < 20; round += 1) {
      for (let index = 0; index < 800; index += 1) door.emit(notice(text));
      emitted += 800;
      await new Promise((resolve) => setTimeout(resolve, 1.5 * FRAME_INTERVAL_MS));
    }
    socket.resume();
    await until(() => seen + dropped === emitted, 'all events to be seen or counted');
    expect(dropped).toBeGreaterThan(0);
    expect(gaps).toBe(0);
    expect(door.logged.some((one) => one.event === 'screen-too-slow' && (one.used ?? 0) > 0)).toBe(true);
  });

  test('a screen that asks and never reads is cut off', async () => {
    const socket = await openSocket();
    door.answerWith(() => ok({ chunk: 'x'.repeat(20 * 1024 * 1024), done: false }));
    socket.pause();
    for (let id = 0; id < 8; id += 1)
      socket.send(JSON.stringify({ kind: 'request', id, name: 'export.read', params: { exportId: 'e' } }));
    await until(() => host.screens() === 0, 'the host to give up');
    expect(door.logged.some((one) => one.event === 'screen-cut-off')).toBe(true);
  });

  test('a lost connection is made again, numbering starts anew, requests in between are refused as values', async () => {
    let socket: WebSocket | null = null;
    const transport = connectBrowser(host, cookie, (opened) => {
      socket = opened;
    });
    const states: string[] = [];
    const seqs: number[] = [];
    transport.onStateChange((state) => states.push(state));
    transport.onFrame((frame) => seqs.push(frame.seq));
    await until(isConnected(transport), 'the connection');
    await until(() => door.listeners() === 1, 'the screen');
    door.emit(notice('one'));
    await until(() => seqs.length === 1, 'a frame');
    (socket as unknown as WebSocket).terminate();
    await until(() => transport.state() === 'waiting', 'the loss to be noticed');
    expect(await transport.request('run.list', {})).toMatchObject({ ok: false, denial: { code: 'cancelled' } });
    await until(isConnected(transport), 'the second connection');
    await until(() => door.listeners() === 1, 'the new screen');
    door.emit(notice('two'));
    await until(() => seqs.length === 2, 'a frame again');
    expect([states, seqs]).toEqual([
      ['connected', 'waiting', 'connected'],
      [1, 1],
    ]);
    transport.close();
  });

  test('a request under way when the line breaks ends as a value', async () => {
    door.answerWith(() => new Promise(() => undefined));
    let socket: WebSocket | null = null;
    const transport = connectBrowser(host, cookie, (opened) => {
      socket = opened;
    });
    const answer = transport.request('run.list', {});
    await until(() => door.calls.length === 1, 'the request');
    (socket as unknown as WebSocket).terminate();
    expect(await answer).toMatchObject({ ok: false, denial: { code: 'cancelled' } });
    await until(() => door.calls[0]?.context.signal.aborted === true, 'the engine to hear of it');
    transport.close();
  });

  test('a page of an earlier start learns that it needs the new link', async () => {
    const transport = connectBrowser(host, cookie);
    await until(isConnected(transport), 'the connection');
    await restartHost();
    await until(() => transport.state() === 'refused', 'the refusal');
    expect(await transport.request('run.list', {})).toMatchObject({
      ok: false,
      denial: { next: 'Open the link that it printed.' },
    });
    transport.close();
  });

  test('stopping closes the screens and frees the port', async () => {
    const socket = await openSocket();
    const code = closeCode(socket);
    await host.stop();
    expect(await code).toBe(1001);
    expect(door.listeners()).toBe(0);
    await expect(fetch(host.url)).rejects.toThrow();
  });
});
