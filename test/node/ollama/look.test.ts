import { describe, expect, test } from 'vitest';
import { type OllamaAddress, parseOllamaHost } from '../../../shared/node/ollama/address.ts';
import { look } from '../../../shared/node/ollama/look.ts';
import { createCancel, freePort, serve, serveBytes } from './support.ts';

function at(text: string): OllamaAddress {
  const address = parseOllamaHost(text);
  if (!address.ok) throw new Error(address.denial.message);
  return address.value;
}

const version = 'HTTP/1.1 200 OK\r\nContent-Length: 19\r\n\r\n{"version":"1.2.3"}';

describe('look', () => {
  test('an Ollama', async () => {
    const url = await serve((request, response) =>
      response.end(request.url === '/api/version' ? '{"version":"0.33.0"}' : ''),
    );
    expect(await look(at(url))).toEqual({
      version: '0.33.0',
      problem: null,
      looks: [{ address: new URL(url).host, outcome: 'Ollama 0.33.0' }],
    });
  });

  test('nobody, with the next step', async () => {
    const port = await freePort();
    expect(await look(at(`127.0.0.1:${port}`))).toEqual({
      version: null,
      problem: `No Ollama at 127.0.0.1:${port} (connection refused): start it, or use the simulator.`,
      looks: [{ address: `127.0.0.1:${port}`, outcome: 'connection refused' }],
    });
  });

  test('localhost: both families are asked and both are named', async () => {
    const port = await freePort();
    const nobody = await look(at(`localhost:${port}`));
    expect(nobody.looks.map((each) => each.address)).toEqual([`127.0.0.1:${port}`, `[::1]:${port}`]);
    expect(nobody.problem).toContain(`127.0.0.1:${port} connection refused, [::1]:${port} `);
    const six = await serveBytes((socket) => void socket.end(version), '::1');
    expect(await look(at(`localhost:${six.port}`))).toEqual({
      version: '1.2.3',
      problem: null,
      looks: [
        { address: `127.0.0.1:${six.port}`, outcome: 'connection refused' },
        { address: `[::1]:${six.port}`, outcome: 'Ollama 1.2.3' },
      ],
    });
  });

  test.each([
    ['a web page', 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>'],
    ['other JSON', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'],
    ['a 404', 'HTTP/1.1 404 Not Found\r\nContent-Length: 19\r\n\r\n{"version":"1.2.3"}'],
    ['a redirect', 'HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n'],
    ['another protocol', 'SSH-2.0-OpenSSH_9\r\n'],
    ['an endless reply', `HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(200_000)}`],
  ])('%s answers, but is not Ollama', async (_what, bytes) => {
    const { url } = await serveBytes((socket) => void socket.write(bytes));
    // Some of these never close: the answer does not wait for that longer than the limit.
    const report = await look(at(url), { timeoutMs: 1_000 });
    expect(report).toMatchObject({ version: null, looks: [{ outcome: 'answers, but is not Ollama' }] });
    expect(report.problem).toContain('answers, but is not Ollama');
  });

  test('a server that does not allow our Host is told apart', async () => {
    const { url } = await serveBytes(
      (socket) => void socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n'),
    );
    expect((await look(at(url))).looks[0]?.outcome).toBe('answers, but does not allow this Host');
  });

  test('silence has a limit, and a name', async () => {
    const url = await serve(() => undefined);
    expect((await look(at(url), { timeoutMs: 200 })).looks[0]?.outcome).toBe('no answer in 0.2 s');
    const half = await serveBytes((socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 19\r\n\r\n{"ver'));
    expect((await look(at(half.url), { timeoutMs: 200 })).looks[0]?.outcome).toBe('no answer in 0.2 s');
  });

  test('it can be stopped', async () => {
    const url = await serve(() => undefined);
    const cancel = createCancel();
    const report = look(at(url), { signal: cancel.signal, timeoutMs: 60_000 });
    setTimeout(() => cancel.cancel('shutdown'), 20);
    expect((await report).looks[0]?.outcome).toBe('stopped');
    expect((await look(at(url), { signal: cancel.signal })).looks[0]?.outcome).toBe('not asked');
  });
});
