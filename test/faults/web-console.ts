/** The browser host as a real process, with a screen on its socket, for tests that kill it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { Denial } from '../../shared/contract/denials.ts';
import { toScreenSchema } from '../../shared/contract/frames.ts';
import { type RequestName, type RequestParams, type RequestResult, requests } from '../../shared/contract/requests.ts';

const entry = fileURLToPath(new URL('../../shared/node/bin/web.ts', import.meta.url));

export interface WebConsole {
  ask<Name extends RequestName>(name: Name, params: RequestParams<Name>): Promise<RequestResult<Name>>;
  /** kill -9; resolves when it is gone. */
  kill(): Promise<void>;
}

/** Started on this folder with its own simulator, at the pace of a small model. */
export async function startConsole(home: string): Promise<WebConsole> {
  const args = ['--no-warnings', entry, '--simulate', '--no-open', '--port', '0'];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, SPILLWAY_HOME: home, SPILLWAY_REDIS_URL: '', OLLAMA_HOST: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
  };
  onTestFinished(kill);
  const socket = await screenOf(await linkOf(child, gone));
  onTestFinished(() => socket.close());
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  socket.on('message', (data) => {
    const message = toScreenSchema.parse(JSON.parse(String(data)));
    if (message.kind !== 'response') return;
    if (message.ok) waiting.get(message.id)?.resolve(message.value);
    else waiting.get(message.id)?.reject(new Error(words(message.denial)));
    waiting.delete(message.id);
  });
  let asked = 0;
  return {
    kill,
    ask: (name, params) => {
      const id = (asked += 1);
      socket.send(JSON.stringify({ kind: 'request', id, name, params }));
      const answer = new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
      return answer.then((value) => requests[name].result.parse(value) as never);
    },
  };
}

const words = ({ code, message }: Denial): string => `${code}: ${message}`;

function linkOf(child: ChildProcess, gone: Promise<void>): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    let errors = '';
    child.stderr?.on('data', (part: Buffer) => (errors += part.toString()));
    child.stdout?.on('data', (part: Buffer) => {
      output += part.toString();
      const found = /http:\S+token=\S+/u.exec(output);
      if (found !== null) resolve(found[0]);
    });
    void gone.then(() => reject(new Error(`it ended without a link: ${errors}`)));
  });
}

async function screenOf(link: string): Promise<WebSocket> {
  const cookie = (await fetch(link)).headers.get('set-cookie')?.split(';', 1)[0] ?? '';
  const { origin, host } = new URL(link);
  const socket = new WebSocket(`ws://${host}/ws`, { origin, headers: { cookie } });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return socket;
}
