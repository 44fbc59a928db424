import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { parseOllamaHost, resolveServer } from '../../../shared/node/ollama/address.ts';

describe('OLLAMA_HOST in all its forms', () => {
  test.each([
    ['', 'http://127.0.0.1:11434'],
    ['  ', 'http://127.0.0.1:11434'],
    ['""', 'http://127.0.0.1:11434'],
    ['1.2.3.4', 'http://1.2.3.4:11434'],
    [':1234', 'http://127.0.0.1:1234'],
    ['1.2.3.4:1234', 'http://1.2.3.4:1234'],
    ['example.com', 'http://example.com:11434'],
    ['example.com:56789', 'http://example.com:56789'],
    ['example.com:', 'http://example.com:11434'],
    ['EXAMPLE.com', 'http://example.com:11434'],
    ['http://1.2.3.4', 'http://1.2.3.4:80'],
    ['https://1.2.3.4', 'https://1.2.3.4:443'],
    ['HTTP://1.2.3.4', 'http://1.2.3.4:80'],
    ['http://:56789', 'http://127.0.0.1:56789'],
    ['https://example.com:56789', 'https://example.com:56789'],
    ['http://127.0.0.1:11434/', 'http://127.0.0.1:11434'],
    ['127.0.0.1:11434//', 'http://127.0.0.1:11434'],
    ['https://example.com/ollama/', 'https://example.com:443/ollama'],
    ['example.com/a/b', 'http://example.com:11434/a/b'],
    ['ollama.com', 'https://ollama.com:443'],
    ['::1', 'http://[::1]:11434'],
    ['[::1]', 'http://[::1]:11434'],
    ['[::1]:1337', 'http://[::1]:1337'],
    ['http://[::1]', 'http://[::1]:80'],
    ['[2001:db8::7]:443', 'http://[2001:db8::7]:443'],
    ['2001:db8::7', 'http://[2001:db8::7]:11434'],
    ['0.0.0.0', 'http://127.0.0.1:11434'],
    ['0.0.0.0:8080', 'http://127.0.0.1:8080'],
    ['http://0.0.0.0:8080', 'http://127.0.0.1:8080'],
    ['::', 'http://[::1]:11434'],
    ['[::]', 'http://[::1]:11434'],
    ['[::]:8080', 'http://[::1]:8080'],
    ['"1.2.3.4:1234"', 'http://1.2.3.4:1234'],
    [" '1.2.3.4' ", 'http://1.2.3.4:11434'],
    [' " 1.2.3.4 " ', 'http://1.2.3.4:11434'],
    ['localhost', 'http://localhost:11434'],
    ['http://user:pass@host:81/x', 'http://user:pass@host:81/x'],
  ])('%j is %s', (text, url) => {
    expect(parseOllamaHost(text)).toMatchObject({ ok: true, value: { url } });
  });

  test.each([
    ['127.0.0.1:0', 'port'],
    ['127.0.0.1:65536', 'port'],
    ['127.0.0.1:66000', 'port'],
    ['127.0.0.1:-1', 'port'],
    ['127.0.0.1:http', 'port'],
    ['127.0.0.1:1 1', 'blank'],
    ['ftp://127.0.0.1', 'ftp://'],
    ['unix:///run/x.sock', 'unix://'],
    ['a b', 'blank'],
    ['http://host/?x=1', '?'],
    ['host#x', '#'],
    ['[::1', 'not a host'],
    ['1::2::3', 'not a host'],
    ['11434', ':11434'],
    ['ho^st', 'not a host'],
    ['http://http://host', 'not a path'],
  ])('%j is refused and says why', (text, word) => {
    const result = parseOllamaHost(text);
    expect(result.ok).toBe(false);
    if (result.ok) return;
    expect(`${result.denial.message} ${result.denial.next ?? ''}`).toContain(word);
    expect(result.denial).toMatchObject({ code: 'bad-input', next: expect.any(String) });
  });

  test('localhost stands for both loopback families; every other name for itself', () => {
    expect(parseOllamaHost('localhost:9')).toMatchObject({
      value: { hosts: ['127.0.0.1', '::1'], port: 9, label: 'localhost:9' },
    });
    expect(parseOllamaHost('[::1]:9')).toMatchObject({ value: { hosts: ['::1'], label: '[::1]:9' } });
    expect(parseOllamaHost('127.0.0.1')).toMatchObject({ value: { hosts: ['127.0.0.1'] } });
  });

  test('what is shown never has the password in it', () => {
    expect(parseOllamaHost('https://me:secret@host')).toMatchObject({ value: { label: 'https://host:443' } });
  });

  test('any text gives an address that parses to itself, or a refusal', () => {
    const part = fc.constantFrom(
      'http://',
      'https://',
      'localhost',
      '127.0.0.1',
      '0.0.0.0',
      '::',
      '[::1]',
      ':',
      '80',
      '/',
      'a',
      '"',
      ' ',
      '@',
      '.',
      '[',
      ']',
      'x y',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ maxLength: 30 }),
          fc.array(part, { maxLength: 7 }).map((parts) => parts.join('')),
        ),
        (text) => {
          const first = parseOllamaHost(text);
          if (!first.ok) return;
          expect(parseOllamaHost(first.value.url)).toEqual(first);
          expect(new URL(first.value.url).hostname).not.toBe('0.0.0.0');
        },
      ),
      { numRuns: 5_000 },
    );
  });
});

describe('which address counts', () => {
  const env = '10.0.0.1';
  test.each([
    [{ flag: 'f:1', setting: 's:1', env }, 'http://f:1', 'flag'],
    [{ flag: '', setting: 's:1', env }, 'http://s:1', 'setting'],
    [{ flag: undefined, setting: ' ', env }, 'http://10.0.0.1:11434', 'OLLAMA_HOST'],
    [{ env: '""' }, 'http://127.0.0.1:11434', 'default'],
    [{}, 'http://127.0.0.1:11434', 'default'],
  ])('%j', (from, url, source) => {
    expect(resolveServer(from)).toMatchObject({ ok: true, value: { address: { url }, source } });
  });

  test('a wrong one is named and not passed over', () => {
    expect(resolveServer({ setting: 'host:99999', env })).toMatchObject({
      ok: false,
      denial: { code: 'bad-input', field: 'ollamaUrl', message: expect.stringContaining('ollamaUrl') },
    });
    expect(resolveServer({ env: 'ftp://x' })).toMatchObject({ ok: false, denial: { field: 'OLLAMA_HOST' } });
  });
});
