// @vitest-environment jsdom
/** The two buttons that ask the server: which messages it keeps, and how many tokens a prompt has. */
import { cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import { afterEach, describe, expect, test } from 'vitest';
import { type Result, denied, ok } from '../../../shared/contract/denials.ts';
import type { Message } from '../../../shared/contract/calls.ts';
import type { ExactCount, RenderPicture } from '../../../shared/contract/renders.ts';
import { isAtLeast } from '../../../renderer/format/versions.ts';
import { callId, makePreflight, makeRecord, makeRequest, makeServer, makeSummary } from '../support/make.ts';
import { drawApp } from '../support/screen.tsx';
import type { Script } from '../support/fake-transport.ts';

afterEach(cleanup);

const button = (name: string | RegExp): Promise<HTMLButtonElement> => screen.findByRole('button', { name });

describe('Count exactly', () => {
  async function written(script: Script, version = '0.33.0') {
    const app = drawApp({ server: makeServer({ version }) }, script);
    fireEvent.change(await screen.findByLabelText('Message'), { target: { value: 'The launch code is ZEBRA-7741.' } });
    await screen.findByText(/4,818 of 6,869 tokens would be lost/u);
    await waitFor(async () => expect((await button('Count exactly')).title).toContain('Costs'));
    return app;
  }

  test('says what it costs before it is pressed, and reads the estimate again after', async () => {
    let counted = false;
    const estimate = { ...makePreflight().estimate, source: 'counted' as const };
    const { transport } = await written({
      'call.preflight': () => ok(counted ? { ...makePreflight(), estimate } : makePreflight()),
      'call.count': () => {
        counted = true;
        return ok({ promptTokens: 6_869, how: 'refusal', costTokens: 0, window: 2_048 } as never as ExactCount);
      },
    });
    expect((await button('Count exactly')).title).toContain('no tokens');
    fireEvent.click(await button('Count exactly'));
    await screen.findByText(/counted by the server/u);
    expect(transport.asked.filter(({ name }) => name === 'call.count')).toHaveLength(1);
    const after = await button('Count exactly');
    expect([after.disabled, after.title]).toEqual([true, 'The server has counted this very prompt.']);
  });

  test('a server that says no size evaluates the prompt: the most it costs stands beside the button', async () => {
    await written({}, '0.24.0');
    expect(screen.getByText(/^≤ [\d,]+ tokens$/u, { selector: '.lab.whitespace-nowrap:not(.ml-auto)' })).toBeTruthy();
    expect((await button('Count exactly')).title).toContain('evaluated once');
  });

  test('a refusal becomes a notice with its next step', async () => {
    await written({
      'call.count': (): Result<ExactCount> =>
        denied('server-error', 'The prompt was not counted.', { next: 'Choose a window that holds it.' }),
    });
    fireEvent.click(await button('Count exactly'));
    await screen.findByText('The prompt was not counted.');
    expect((await button('Count exactly')).disabled).toBe(false);
  });
});

describe('Show what was kept', () => {
  const messages: Message[] = [
    { role: 'system', content: 'You are terse.' },
    ...Array.from({ length: 30 }, (_, at): Message => ({ role: 'user', content: `Turn ${at}` })),
    { role: 'user', content: 'Which turn?' },
  ];
  const kept = (index: number): RenderPicture['messages'][number]['kept'] =>
    index === 0 || index > 25 ? 'kept' : 'dropped';

  async function evidence(record: Record<string, unknown>, script: Script = {}): Promise<HTMLButtonElement> {
    drawApp(
      {},
      {
        'call.list': () => ok([makeSummary({ id: callId('call-1') })]),
        'call.get': () => ok(makeRecord(record)),
        ...script,
      },
    );
    fireEvent.click(await button('Details'));
    fireEvent.mouseDown(await screen.findByRole('tab', { name: 'Evidence' }), { button: 0 });
    return button('Show what was kept');
  }

  test('each message with its fate; neighbours of one fate stand in one row', async () => {
    const record = makeRecord({ request: makeRequest({ messages }) });
    const show = await evidence(
      { request: makeRequest({ messages }) },
      {
        'call.render': () =>
          ok({
            messages: messages.map(({ role, content }, index) => ({
              index,
              role,
              characters: content.length as never,
              kept: kept(index),
            })),
            keptCharacters: 100 as never,
            uncutCharacters: 400 as never,
            note: 'Rendered now.',
            verdict: { ...record.truncation, kinds: ['messages-dropped'], confidence: 'exact' },
          }),
      },
    );
    expect(show.title).toContain('No tokens');
    fireEvent.click(show);
    await screen.findByText('7 of 32 messages kept, 25 dropped.');
    expect(screen.getByText('2–26').parentElement?.textContent).toContain('dropped');
    expect(screen.getByText(/Rendered now\..*exact\./u)).toBeTruthy();
  });

  test.each([
    [{ request: makeRequest({ messages, route: 'generate' }) }, 'Only a chat has messages that can be dropped.'],
    [{ request: makeRequest({ messages: messages.slice(0, 1) }) }, 'A single message is never dropped.'],
    [{ request: makeRequest({ messages }), server: 'http://127.0.0.1:9' }, 'The call went to another server.'],
    [{ request: makeRequest({ messages }), serverVersion: '0.11.4' }, 'Ollama shows its prompt from 0.12.4 on.'],
  ])('where it cannot work it is disabled, and says why: %#', async (record, reason) => {
    const show = await evidence(record);
    expect(show.disabled).toBe(true);
    expect(screen.getByText(reason)).toBeTruthy();
  });

  test('a refusal becomes a notice', async () => {
    const show = await evidence(
      { request: makeRequest({ messages }) },
      { 'call.render': (): Result<RenderPicture> => denied('unsupported', 'Not available: this server is odd.') },
    );
    fireEvent.click(show);
    await screen.findByText('Not available: this server is odd.');
  });
});

test('versions', () => {
  expect(isAtLeast('0.33.0-rc2', 0, 30, 0)).toBe(true);
  expect(isAtLeast('v0.12.3', 0, 12, 4)).toBe(false);
  expect(isAtLeast('0.12.4', 0, 12, 4)).toBe(true);
  expect(isAtLeast('1.0', 0, 30, 9)).toBe(true);
  expect(isAtLeast('what', 0, 1, 0)).toBe(null);
  expect(isAtLeast(null, 0, 1, 0)).toBe(null);
});
