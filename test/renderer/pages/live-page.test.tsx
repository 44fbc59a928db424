// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { denied, ok } from '../../../shared/contract/denials.ts';
import { milliseconds } from '../../../shared/contract/units.ts';
import { callId, makeModel, makeOpenCall, makePreflight, makeServer, makeSummary } from '../support/make.ts';
import { drawApp } from '../support/screen.tsx';

afterEach(cleanup);

const type = (label: string, text: string): void => {
  fireEvent.change(screen.getByLabelText(label), { target: { value: text } });
};
const asked = (transport: { asked: { name: string; params: unknown }[] }, name: string): unknown[] =>
  transport.asked.filter((request) => request.name === name).map((request) => request.params);

async function written() {
  const app = drawApp();
  await screen.findByLabelText('Message');
  type('num_ctx, exact', '4096');
  type('num_predict', '20');
  type('Message', 'The launch code is ZEBRA-7741.');
  await screen.findByText(/4,818 of 6,869 tokens would be lost/u);
  return app;
}

describe('composing', () => {
  test('what would be lost stands there before anything is sent, and the window that fits is one press away', async () => {
    const { transport } = await written();
    expect(screen.getByRole('img', { name: /2,051 prompt tokens stay.*4,818 do not fit/u })).toBeTruthy();
    expect(asked(transport, 'call.start')).toEqual([]);
    fireEvent.click(screen.getByRole('button', { name: 'Use 8,192' }));
    expect(screen.getByLabelText<HTMLInputElement>('num_ctx, exact').value).toBe('8192');
    await waitFor(() => expect(asked(transport, 'call.preflight').at(-1)).toMatchObject({ numCtx: 8192 }));
  });

  test.each(['0', '-1', '4k'])('num_ctx %j is refused beside the box, and nothing can be sent', async (numCtx) => {
    const { transport } = drawApp();
    await screen.findByLabelText('Message');
    type('Message', 'text');
    type('num_ctx, exact', numCtx);
    const box = screen.getByLabelText('num_ctx, exact');
    expect(box.getAttribute('aria-invalid')).toBe('true');
    expect(document.getElementById(box.getAttribute('aria-describedby') ?? '')?.textContent).toMatch(
      /^num_ctx must be/u,
    );
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Send' }).disabled).toBe(true);
    expect(asked(transport, 'call.preflight')).toEqual([]);
  });

  test('a model that cannot think says so and gets no think field', async () => {
    const { transport } = await written();
    expect(screen.getByLabelText<HTMLSelectElement>('think').disabled).toBe(true);
    fireEvent.click(screen.getByRole('button', { name: 'Send anyway' }));
    await waitFor(() => expect(asked(transport, 'call.start')).toHaveLength(1));
    expect(asked(transport, 'call.start')[0]).toMatchObject({
      think: 'default',
      numCtx: 4096,
      numPredict: 20,
      policy: 'warn',
      stream: true,
    });
  });

  test('"Refuse when over" sends it with the policy refuse', async () => {
    const { transport } = await written();
    fireEvent.click(screen.getByRole('button', { name: 'Refuse when over' }));
    await waitFor(() => expect(asked(transport, 'call.start')[0]).toMatchObject({ policy: 'refuse' }));
  });

  test('Ctrl Enter sends from the text box, a plain Enter does not', async () => {
    const { transport } = await written();
    fireEvent.keyDown(screen.getByLabelText('Message'), { key: 'Enter' });
    expect(asked(transport, 'call.start')).toEqual([]);
    fireEvent.keyDown(screen.getByLabelText('Message'), { key: 'Enter', ctrlKey: true });
    await waitFor(() => expect(asked(transport, 'call.start')).toHaveLength(1));
  });

  test('a large paste becomes a file, stands before the message and leaves the box free', async () => {
    const { transport } = drawApp();
    const box = await screen.findByLabelText('Message');
    const text = 'x'.repeat(200_000);
    fireEvent.paste(box, { clipboardData: { getData: () => text } });
    type('Message', 'Question');
    expect(screen.getByRole('tab', { name: 'Files, 1' })).toBeTruthy();
    await waitFor(() =>
      expect(asked(transport, 'call.preflight').at(-1)).toMatchObject({
        messages: [{ content: `${text}\n\nQuestion` }],
      }),
    );
  });

  test('an answer to an older text never replaces a newer one', async () => {
    const waiting: ((sentence: string) => void)[] = [];
    drawApp(
      {},
      {
        'call.preflight': () =>
          new Promise((resolve) => waiting.push((sentence) => resolve(ok(makePreflight({ sentence }))))),
      },
    );
    await screen.findByLabelText('Message');
    type('Message', 'old');
    await waitFor(() => expect(waiting).toHaveLength(1));
    type('Message', 'new');
    await waitFor(() => expect(waiting).toHaveLength(2));
    await act(async () => {
      waiting[1]?.('about the new text');
      waiting[0]?.('about the old text');
    });
    expect(screen.getByText('about the new text')).toBeTruthy();
    expect(screen.queryByText('about the old text')).toBeNull();
  });
});

describe('a call', () => {
  const open = makeOpenCall('call-1', { phase: 'loading' });

  test('waits, streams, closes with a verdict, and offers the next step', async () => {
    const { transport } = await written();
    fireEvent.click(screen.getByRole('button', { name: 'Send anyway' }));
    await waitFor(() => expect(asked(transport, 'call.start')).toHaveLength(1));
    transport.emit({ type: 'call-opened', call: open });
    await screen.findByText(/waiting for the first token, \d+ s \(loading the model\)/u);
    transport.emit({
      type: 'call-delta',
      callId: callId('call-1'),
      thinking: '',
      answer: 'The days. <b>Section</b>',
      thinkingChunks: 0,
      answerChunks: 5,
      atMs: milliseconds(900),
    });
    const answer = await screen.findByRole('region', { name: 'Answer' });
    expect(answer.textContent).toBe('The days. <b>Section</b>');
    expect(screen.getByText('5 tokens')).toBeTruthy();
    expect(screen.getByRole('tab', { name: /context: after the reply/u })).toBeTruthy();
    transport.emit({ type: 'call-closed', call: makeSummary() });
    await screen.findByRole('tab', { name: /context · certain: Cut to 2,051 of 6,869/u });
    expect(screen.getByText('2,051 is the cut size for 4,096')).toBeTruthy();
    // What streamed here is not read back: with a document of megabytes a record is large.
    expect(asked(transport, 'call.get')).toEqual([]);
    fireEvent.click(await screen.findByRole('button', { name: 'Send with 8,192' }));
    await waitFor(() =>
      expect(asked(transport, 'call.start')[1]).toMatchObject({ numCtx: 8192, messages: [{ role: 'user' }] }),
    );
  });

  test('can be continued: the exchange becomes turns, and those that would be lost say so', async () => {
    const { transport } = await written();
    fireEvent.click(screen.getByRole('button', { name: 'Send anyway' }));
    await waitFor(() => expect(asked(transport, 'call.start')).toHaveLength(1));
    transport.emit(
      { type: 'call-opened', call: open },
      {
        type: 'call-delta',
        callId: callId('call-1'),
        thinking: '',
        answer: 'ZEBRA-7741',
        thinkingChunks: 0,
        answerChunks: 5,
        atMs: milliseconds(900),
      },
      { type: 'call-closed', call: makeSummary() },
    );
    fireEvent.click(await screen.findByRole('button', { name: 'Continue' }));
    type('Message', 'And the desk?');
    await waitFor(() =>
      expect(asked(transport, 'call.preflight').at(-1)).toMatchObject({
        messages: [
          { role: 'user', content: 'The launch code is ZEBRA-7741.' },
          { role: 'assistant', content: 'ZEBRA-7741' },
          { role: 'user', content: 'And the desk?' },
        ],
      }),
    );
    fireEvent.mouseDown(screen.getByRole('tab', { name: 'Turns, 2' }));
    expect(await screen.findByText(/would be lost/u, { selector: '.lab span' })).toBeTruthy();
  });

  test('can be stopped where it was started, by button and by space', async () => {
    const { transport } = await written();
    fireEvent.click(screen.getByRole('button', { name: 'Send anyway' }));
    await waitFor(() => expect(asked(transport, 'call.start')).toHaveLength(1));
    transport.emit({ type: 'call-opened', call: open });
    fireEvent.click(await screen.findByRole('button', { name: 'Stop' }));
    fireEvent.keyDown(document.body, { key: ' ' });
    expect(asked(transport, 'call.cancel')).toEqual([{ callId: 'call-1' }, { callId: 'call-1' }]);
  });

  test('space in a text box is a space', async () => {
    const { transport } = await written();
    fireEvent.click(screen.getByRole('button', { name: 'Send anyway' }));
    await waitFor(() => expect(asked(transport, 'call.start')).toHaveLength(1));
    transport.emit({ type: 'call-opened', call: open });
    await screen.findByRole('button', { name: 'Stop' });
    fireEvent.keyDown(screen.getByLabelText('Message'), { key: ' ' });
    expect(asked(transport, 'call.cancel')).toEqual([]);
  });

  test('a refusal to start is said, with its next step', async () => {
    const { transport } = await written();
    transport.script['call.start'] = () => denied('no-server', 'No Ollama at 127.0.0.1:11434.', { next: 'Start it.' });
    fireEvent.click(screen.getByRole('button', { name: 'Send anyway' }));
    const notice = await screen.findByRole('alert');
    expect(within(notice).getByText('No Ollama at 127.0.0.1:11434.')).toBeTruthy();
    expect(within(notice).getByText('Start it.')).toBeTruthy();
  });
});

describe('first start', () => {
  const down = makeServer({
    state: 'down',
    version: null,
    models: [],
    looks: [{ address: '127.0.0.1:11434', outcome: 'connection refused' }],
    looksCount: 12,
  });

  test('three ways on, and what was looked at', async () => {
    const { transport } = drawApp({ server: down }, { 'simulator.start': () => ok(makeServer({ kind: 'simulator' })) });
    await screen.findByText(/No Ollama at 127\.0\.0\.1:11434/u, { selector: '.headline' });
    expect(screen.getByText('ollama serve')).toBeTruthy();
    expect(screen.getByText('connection refused')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Start the simulator' }));
    transport.emit({ type: 'server-changed', status: makeServer({ kind: 'simulator' }) });
    await screen.findByText('SIMULATED');
    expect(screen.getByRole('button', { name: 'Run the guided probe' })).toBeTruthy();
  });

  test('a wrong address is refused where it was typed', async () => {
    drawApp(
      { server: down },
      {
        'server.connect': () =>
          denied('bad-input', 'url: not an address.', { next: 'Write it like http://127.0.0.1:11434.' }),
      },
    );
    type('Address of the server', (await screen.findByLabelText('Address of the server')) ? 'nonsense' : '');
    fireEvent.click(screen.getByRole('button', { name: 'Connect' }));
    expect((await screen.findByRole('alert')).textContent).toBe(
      'url: not an address. Write it like http://127.0.0.1:11434.',
    );
  });

  test('an Ollama without models says how to pull one', async () => {
    drawApp({ server: makeServer({ models: [] }) });
    expect(await screen.findByText('ollama pull gemma3:270m')).toBeTruthy();
  });

  test('the guided probe runs the classic experiment on the smallest model that can answer', async () => {
    const models = [
      makeModel('big:70b', { sizeBytes: 40e9 }),
      makeModel('embed', { sizeBytes: 1e6, capabilities: ['embedding'] }),
      makeModel('elsewhere', { sizeBytes: 1, cloud: true }),
      makeModel('small:1b', { sizeBytes: 1e9, trainedContext: 8192 }),
    ];
    const { transport } = drawApp(
      { server: makeServer({ models }) },
      { 'context.start': () => denied('busy', 'A run is under way.') },
    );
    fireEvent.click(await screen.findByRole('button', { name: 'Run the guided probe' }));
    await screen.findByText('A run is under way.');
    expect(asked(transport, 'context.start')[0]).toMatchObject({
      axes: {
        models: ['small:1b'],
        numCtx: ['default', 8192],
        sizes: [2_000, 10_000, 40_000, 120_000],
        needleDepths: [0],
      },
      numPredict: 60,
    });
  });
});

describe('frame', () => {
  test('keys go to pages, and not while writing', async () => {
    drawApp();
    await screen.findByLabelText('Message');
    fireEvent.keyDown(document.body, { key: 'g' });
    fireEvent.keyDown(document.body, { key: 'h' });
    expect(location.hash).toBe('#history');
    fireEvent(window, new HashChangeEvent('hashchange'));
    expect(await screen.findByText('Nothing has run yet.')).toBeTruthy();
    const search = screen.getByRole('textbox', { name: /Search/u });
    fireEvent.keyDown(document.body, { key: '/' });
    expect(document.activeElement).toBe(search);
    fireEvent.keyDown(search, { key: '?' });
    expect(screen.queryByRole('dialog')).toBeNull();
    search.blur();
    fireEvent.keyDown(document.body, { key: '?' });
    expect(screen.getByRole('dialog', { name: 'Keys' })).toBeTruthy();
  });

  test('a page that its host no longer knows says what to do', async () => {
    const { transport } = drawApp();
    await screen.findByLabelText('Message');
    act(() => transport.turn('refused'));
    expect(screen.getByRole('alert').textContent).toMatch(/Open the link that it printed/u);
  });

  test('a page that breaks leaves the frame standing', async () => {
    const quiet = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    // A server that sends something impossible past the contract.
    drawApp({ server: { ...makeServer(), models: null as never } });
    expect(await screen.findByText('This page broke. That is a fault of Spillway.')).toBeTruthy();
    fireEvent.keyDown(document.body, { key: 'g' });
    fireEvent.keyDown(document.body, { key: 's' });
    fireEvent(window, new HashChangeEvent('hashchange'));
    expect(await screen.findByLabelText('Theme')).toBeTruthy();
    quiet.mockRestore();
  });
});
