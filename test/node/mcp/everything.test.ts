/** The reference servers as they come from the registry, over stdio and over streamable HTTP. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type McpServer, mcpServerSchema } from '../../../shared/contract/agents.ts';
import { never } from '../../../shared/engine/cancel.ts';
import { connectMcpServers } from '../../../shared/node/mcp/index.ts';
import {
  connected,
  createCancel,
  everything,
  files,
  freePort,
  freshFolder,
  freshMark,
  json,
  packageFile,
  processesWith,
  until,
} from './servers.ts';

describe.each(['stdio', 'streamable HTTP'])('everything server over %s', (way) => {
  test('echo, sum, picture, structure, links; arguments are checked before anything is sent', async () => {
    const { tools, tool, call, hints, close } = await connected({ e: await server(way) });
    expect(tools.map(({ spec }) => spec.name)).toContain('e.get-sum');
    expect(hints.get('e.echo')).toEqual({
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    });
    expect(tool('e.echo').spec).toMatchObject({
      approval: false,
      attemptsMax: 2,
      upstream: 'mcp e',
      sideEffect: false,
    });
    expect(await call('e.echo', { message: 'grüß dich' })).toEqual({
      text: { bytes: 17, head: 'Echo: grüß dich', tail: '', handle: null },
      nanoDollars: null,
      failed: false,
      retryable: false,
      lease: null,
    });
    expect((await call('e.get-sum', { a: 1, b: 2 })).text.head).toBe('The sum of 1 and 2 is 3.');
    expect((await call('e.get-tiny-image', {})).text.head).toBe(
      "Here's the image you requested:\n[image image/png, 4033 bytes, not shown]\nThe image above is the MCP logo.",
    );
    expect(JSON.parse((await call('e.get-structured-content', { location: 'Chicago' })).text.head)).toMatchObject({
      temperature: expect.any(Number),
    });
    expect((await call('e.get-resource-reference', { resourceType: 'Text', resourceId: 1 })).text.head).toContain(
      '[resource demo://resource/dynamic/text/1 text/plain,',
    );
    const { check } = tool('e.get-sum').spec;
    expect([json({}), json({ a: 1 }), json({ a: 1, b: '2' }), json([1]), json({ a: 1, b: 2 })].map(check)).toEqual([
      'a is missing',
      'b is missing',
      'b must be a number',
      'the arguments must be an object',
      null,
    ]);
    await close();
  });

  test('a long operation is stopped, and the server goes on', async () => {
    const { call } = await connected({ e: await server(way) });
    const cancel = createCancel();
    const asked = call('e.trigger-long-running-operation', { duration: 3_600, steps: 1 }, cancel.signal);
    cancel.cancel('person');
    expect(await asked).toMatchObject({ failed: true, retryable: false });
    expect((await call('e.echo', { message: 'on' })).text.head).toBe('Echo: on');
  });

  test('several calls at once', async () => {
    const { call } = await connected({ e: await server(way) });
    const sums = await Promise.all(Array.from({ length: 8 }, (_, at) => call('e.get-sum', { a: at, b: at })));
    expect(sums.map(({ text }) => text.head)).toEqual(
      Array.from({ length: 8 }, (_, at) => `The sum of ${at} and ${at} is ${2 * at}.`),
    );
  });
});

describe('filesystem server', () => {
  test('reads and writes in its folder and nowhere else; what changes files is asked for', async () => {
    const folder = freshFolder();
    writeFileSync(join(folder, 'a.txt'), 'content of a');
    const { tool, call } = await connected({ files: files(folder) });
    expect(
      ['read_text_file', 'create_directory', 'write_file'].map((name) => tool(`files.${name}`).spec),
    ).toMatchObject([
      { approval: false, attemptsMax: 2 },
      { approval: false, attemptsMax: 2 },
      { approval: true, attemptsMax: 2, sideEffect: false },
    ]);
    expect(tool('files.edit_file').spec).toMatchObject({ approval: true, attemptsMax: 1 });
    // It sends the text twice, for older clients and for newer ones.
    expect((await call('files.read_text_file', { path: join(folder, 'a.txt') })).text.head).toBe('content of a');
    const outside = await call('files.read_text_file', { path: '/etc/hostname' });
    expect(outside).toMatchObject({ failed: true, retryable: false });
    expect(outside.text.head).toContain('Access denied');
  });
});

describe('HTTP that goes wrong', () => {
  test('nobody there, no http, no MCP, an answer without end, a redirect to elsewhere: each is a problem in words', async () => {
    const elsewhere = await listening((_request, response) => response.end('{}'));
    const odd = await listening((request, response) => {
      if (request.url === '/redirect') response.writeHead(307, { location: elsewhere }).end();
      else if (request.url === '/page') response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>hello</h1>');
      else if (request.url === '/endless') endless(response, 'application/json', ' ');
      else if (request.url === '/stream') endless(response, 'text/event-stream', 'data: x\n');
      else response.writeHead(500).end('no');
    });
    const url = (address: string): McpServer => mcpServerSchema.parse({ url: address });
    const { tools, problems } = await connected({
      gone: url(`http://127.0.0.1:${await freePort()}/`),
      file: url('file:///etc/passwd'),
      page: url(`${odd}/page`),
      fault: url(`${odd}/fault`),
      redirect: url(`${odd}/redirect`),
      endless: url(`${odd}/endless`),
      stream: url(`${odd}/stream`),
      password: url('http://someone:hunter2@127.0.0.1/'),
    });
    expect(tools).toEqual([]);
    expect(problems.map((problem) => /^MCP server (\w+): /.exec(problem)?.[1])).toEqual([
      'gone',
      'file',
      'page',
      'fault',
      'redirect',
      'endless',
      'stream',
      'password',
    ]);
    expect(problems.join()).not.toContain('hunter2');
    expect(problems[0]).toContain('ECONNREFUSED');
    expect(problems[1]).toContain('url is no http or https address');
    expect(problems[2]).toContain('content type');
    expect(problems[4]).toMatch(/redirect/i);
    expect(problems[5]).toContain('more than 64 MB');
    expect(problems[6]).toContain('more than 64 MB');
  });

  test('a server that goes away in mid-call fails retryably, and is found again when it is back', async () => {
    const port = await freePort();
    const mark = freshMark();
    const first = await startEverything(port, mark);
    const { call } = await connected({ e: mcpServerSchema.parse({ url: `http://127.0.0.1:${port}/mcp` }) });
    const asked = call('e.trigger-long-running-operation', { duration: 3_600, steps: 1 });
    expect((await call('e.echo', { message: 'before' })).text.head).toBe('Echo: before');
    await first.stop();
    expect(await asked).toMatchObject({ failed: true, retryable: true });
    expect(await call('e.echo', { message: 'gone' })).toMatchObject({ failed: true, retryable: true });
    await startEverything(port, mark);
    expect((await call('e.echo', { message: 'back' })).text.head).toBe('Echo: back');
  });

  test('a stream that breaks off is taken up again; a session that is forgotten is opened anew', async () => {
    const open = new Set<ServerResponse>();
    let sessions = 0;
    let known = '';
    const address = await listening((request, response) => {
      if (request.method === 'GET') {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
        open.add(response);
        return;
      }
      let body = '';
      request.on('data', (part: Buffer) => (body += part.toString()));
      request.on('end', () => {
        const { id, method } = JSON.parse(body || '{}') as { id?: number; method?: string };
        if (method !== 'initialize' && request.headers['mcp-session-id'] !== known)
          return response.writeHead(404).end('who');
        if (id === undefined) return response.writeHead(202).end();
        if (method === 'initialize') known = `session${(sessions += 1)}`;
        const results: Record<string, unknown> = {
          initialize: { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'h', version: '1' } },
          'tools/list': { tools: [{ name: 'go', inputSchema: { type: 'object' } }] },
          'tools/call': { content: [{ type: 'text', text: known }] },
        };
        response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': known });
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method ?? ''] }));
      });
    });
    const { call } = await connected({ h: mcpServerSchema.parse({ url: address }) });
    await until(() => open.size === 1);
    for (let at = 2; at <= 5; at += 1) {
      for (const response of open) response.destroy();
      await until(() => open.size === at);
      expect((await call('h.go', {})).text.head).toBe('session1');
    }
    known = 'another';
    expect(await call('h.go', {})).toMatchObject({ failed: true, retryable: true });
    expect((await call('h.go', {})).text.head).toBe('session2');
  });
});

test('no servers, and more than there may be', async () => {
  const blobs = { writer: () => Promise.reject(new Error('not used')) };
  expect(await connectMcpServers({}, { blobs })).toMatchObject({ ok: true, value: { tools: [], problems: [] } });
  const many = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`s${at}`, everything('')]));
  expect(await connectMcpServers(many, { blobs })).toMatchObject({ ok: false, denial: { field: 'mcpServers' } });
});

test('a start that is given up leaves nothing', async () => {
  const mark = freshMark();
  const giveUp = new AbortController();
  const blobs = { writer: () => Promise.reject(new Error('not used')) };
  const starting = connectMcpServers({ e: everything(mark) }, { blobs, signal: giveUp.signal });
  giveUp.abort();
  const found = await starting;
  expect(found).toMatchObject({ ok: true, value: { tools: [], problems: [expect.stringContaining('MCP server e')] } });
  expect(processesWith(mark)).toEqual([]);
  expect(never.aborted).toBe(false);
});

async function server(way: string): Promise<McpServer> {
  const mark = freshMark();
  if (way === 'stdio') return everything(mark);
  const port = await freePort();
  await startEverything(port, mark);
  return mcpServerSchema.parse({ url: `http://127.0.0.1:${port}/mcp` });
}

async function startEverything(port: number, mark: string): Promise<{ stop(): Promise<void> }> {
  const child = spawn(process.execPath, [packageFile('server-everything/dist/index.js'), 'streamableHttp', mark], {
    env: { PATH: process.env['PATH'] ?? '', PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
  };
  onTestFinished(stop);
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (text: Buffer) => {
      if (text.toString().includes('listening')) resolve();
    });
    child.once('exit', () => reject(new Error('it did not start')));
  });
  return { stop };
}

async function listening(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const http = createServer(answer).listen(0, '127.0.0.1');
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  await new Promise((resolve) => http.once('listening', resolve));
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

function endless(response: ServerResponse, type: string, piece: string): void {
  response.writeHead(200, { 'content-type': type });
  const chunk = piece.repeat(Math.ceil(1_000_000 / piece.length));
  const write = (): void => {
    if (!response.destroyed) response.write(chunk, write);
  };
  response.on('error', () => undefined);
  write();
}
