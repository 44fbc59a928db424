/** `mcpServers` as other clients keep it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readMcpFile, readMcpServers } from '../../../shared/node/mcp/index.ts';

const full = { command: 'npx', args: ['-y', 'x'], env: { A: 'b' }, memoryMegabytesMax: 1_024, network: true };

function fault(text: unknown): [string | undefined, string] {
  const read = readMcpFile(typeof text === 'string' ? text : JSON.stringify(text));
  if (read.ok) throw new Error('it was read');
  return [read.denial.field, read.denial.message];
}

test('wrapped and bare, with what other clients keep beside it', () => {
  const map = {
    files: { command: 'npx', args: ['-y', 'x'], env: { A: 'b' } },
    more: { type: 'stdio', command: 'npx', args: ['-y', 'x'], env: { A: 'b' }, autoApprove: ['a'], timeout: 60 },
    web: { type: 'http', url: 'https://example.test/mcp', headers: { Authorization: 'Bearer x' } },
    off: { command: 'x', disabled: true },
  };
  const servers = {
    files: full,
    more: full,
    web: { url: 'https://example.test/mcp', headers: { Authorization: 'Bearer x' } },
  };
  expect(readMcpServers(JSON.stringify({ mcpServers: map, globalShortcut: '' }))).toEqual({
    ok: true,
    value: { servers },
  });
  expect(readMcpServers(`\uFEFF${JSON.stringify(map)}`)).toEqual({ ok: true, value: { servers } });
});

test('what is set for the session stands beside it, and never becomes a server', () => {
  const spillway = { toolRules: { 'files.write': { nanoDollars: 5, callsMax: 1 } }, limits: { calls: 3 } };
  const servers = { files: full };
  const map = { files: { command: 'npx', args: ['-y', 'x'], env: { A: 'b' } } };
  for (const text of [
    { mcpServers: map, spillway },
    { ...map, spillway },
  ]) {
    expect(readMcpFile(JSON.stringify(text))).toEqual({ ok: true, value: { servers, ...spillway, guards: {} } });
  }
});

test('a fault names server and field', () => {
  expect(fault('{"mcpServers": ')).toEqual([undefined, 'The text is no JSON (not_json) at character 16.']);
  expect(fault('{"a": {"command": "x"}, "a": {"command": "y"}}')[1]).toContain('names a field twice');
  expect(fault([1])).toEqual([undefined, 'The text is no JSON object.']);
  expect(fault({ mcpServers: [] })[0]).toBe('mcpServers');
  expect(fault({ mcpServers: { fs: 'npx' } })).toEqual(['mcpServers.fs', 'mcpServers.fs is no JSON object.']);
  expect(fault({ mcpServers: { fs: {} } })).toEqual([
    'mcpServers.fs',
    'mcpServers.fs has neither a command nor a url.',
  ]);
  expect(fault({ mcpServers: { fs: { command: 'a', url: 'http://b' } } })[1]).toContain('one or the other');
  expect(fault({ mcpServers: { fs: { command: 7 } } })[0]).toBe('mcpServers.fs.command');
  expect(fault({ fs: { command: 'x', args: ['a', 2] } })[0]).toBe('fs.args[1]');
  expect(fault({ fs: { command: 'x', env: { A: 1 } } })).toEqual(['fs.env.A', expect.stringContaining('fs.env.A: ')]);
  expect(fault({ mcpServers: { fs: { command: 'x', comand: 'y' } } })).toEqual([
    'mcpServers.fs.comand',
    'There is no field mcpServers.fs.comand.',
  ]);
  expect(fault({ fs: { command: 'x', memoryMegabytesMax: 1 } })[0]).toBe('fs.memoryMegabytesMax');
  expect(fault({ fs: { type: 'sse', url: 'http://x/' } })).toEqual([
    'fs.type',
    'fs.type: only stdio and streamable HTTP are spoken here.',
  ]);
  expect(fault({ fs: { type: 'stdio', url: 'http://x/' } })[1]).toContain('it has a url');
  expect(fault({ fs: { type: 'http', command: 'x' } })[1]).toContain('it has a command');
  expect(fault({ fs: { url: 'file:///etc/passwd' } })[0]).toBe('fs.url');
  expect(fault({ fs: { url: 'nowhere' } })[0]).toBe('fs.url');
  expect(fault({ ['n'.repeat(101)]: { command: 'x' } })[1]).toContain('1 to 100 characters');
  expect(fault({ mcpServers: {}, spillway: { toolRules: { a: { timeoutMs: 0 } } } })[0]).toBe(
    'spillway.toolRules.a.timeoutMs',
  );
  expect(fault({ mcpServers: {}, spillway: { prices: {} } })[0]).toBe('spillway.prices');
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`s${at}`, { command: 'x' }]));
  expect(fault(many)[1]).toContain('at most 50');
});

test('a server may have any name', () => {
  const read = readMcpServers('{"mcpServers": {"__proto__": {"command": "x"}, "constructor": {"command": "y"}}}');
  expect(read.ok && Object.keys(read.value.servers)).toEqual(['__proto__', 'constructor']);
});

test('any text is read or refused in words, and never thrown at', () => {
  const part = fc.oneof(
    fc.json(),
    fc.string(),
    fc.constantFrom('{"mcpServers":', '{"a":{"command":"x"', '}}', '{"url":'),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
      const read = readMcpFile(parts.join(''));
      if (!read.ok) expect(read.denial.message).toMatch(/\.$/);
    }),
  );
});
