/** Draws the whole console over a fake transport, in jsdom. */
import { configure, render } from '@testing-library/react';
import type { RenderResult } from '@testing-library/react';
import { vi } from 'vitest';
import { denied, ok } from '../../../shared/contract/denials.ts';
import { DEFAULT_DIRECTORY } from '../../../shared/contract/plans.ts';
import { App } from '../../../renderer/app.tsx';
import { draft } from '../../../renderer/pages/live/draft-store.ts';
import { createEngineClient } from '../../../renderer/stores/engine-store.ts';
import { useScreen } from '../../../renderer/stores/screen-store.ts';
import type { Snapshot } from '../../../renderer/stores/engine-state.ts';
import { fakeTransport } from './fake-transport.ts';
import type { FakeTransport, Script } from './fake-transport.ts';
import { callId, makePreflight, makeRecord, makeSnapshot } from './make.ts';

export interface Screen extends RenderResult {
  readonly transport: FakeTransport;
}

// A busy machine is slow, not wrong.
configure({ asyncUtilTimeout: 15_000 });

const facts = {
  name: 'gemma3:270m',
  digest: null,
  architecture: 'gemma3',
  trainedContext: 32768,
  capabilities: ['completion'],
  addsBos: true,
  promptPath: 'rendered',
  slidingWindow: null,
  modelfileNumCtx: null,
  embeddingOnly: false,
} as const;

export function drawApp(snapshot: Partial<Snapshot> = {}, script: Script = {}): Screen {
  jsdomGaps();
  location.hash = '';
  draft.set({
    model: '',
    numCtx: '',
    numPredict: '',
    temperature: '0',
    seed: '7',
    policy: null,
    payer: null,
    system: '',
    message: '',
    turns: [],
    files: [],
    shown: [],
    started: null,
    tab: 'message',
    think: 'default',
  });
  useScreen.setState({
    dialog: 'none',
    presenter: false,
    railFolded: false,
    callsSeen: 0,
    runsSeen: 0,
    ledgerNewsSeen: 0,
    agentNewsSeen: 0,
    route: { page: 'live', id: '' },
  });
  const transport = fakeTransport({
    'snapshot.get': () => ok(makeSnapshot(snapshot)),
    'call.list': () => ok([]),
    'run.list': () => ok([]),
    'model.show': () => ok({ ...facts, capabilities: [...facts.capabilities] } as never),
    'call.preflight': () => ok(makePreflight()),
    'call.start': () => ok({ callId: callId('call-1') }),
    'call.cancel': () => ok({}),
    'call.get': ({ callId: id }) => ok(makeRecord({ id })),
    'context.plan': () => ok({ cells: 8, calls: 8, tokensMax: 173_296, timeMs: null, warnings: [] } as never),
    'calibration.list': () => ok({ rows: [], startValues: [] }),
    'prices.list': () => ok([]),
    'directory.get': () =>
      ok({ directory: DEFAULT_DIRECTORY, revision: 0, warnings: [], timeZones: ['Europe/Berlin', 'UTC'] }),
    'ledger.get': () => denied('unsupported', 'no ledger in this test'),
    'storm.get': () => ok({ storm: null }),
    'agent.list': () => ok({ runs: [], approvals: [] }),
    'agent.presets': () => ok([]),
    'settings.set': () => denied('internal', 'not in this test'),
    ...script,
  });
  const client = createEngineClient(transport, { soon: (run) => void setTimeout(run, 0), nowMs: () => 0 });
  return { ...render(<App client={client} />), transport };
}

/** What jsdom does not have; none of it decides anything here. */
export function jsdomGaps(): void {
  vi.stubGlobal('matchMedia', () => ({
    matches: false,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  }));
  vi.stubGlobal(
    'ResizeObserver',
    class {
      observe(): void {}
      unobserve(): void {}
      disconnect(): void {}
    },
  );
  // Nothing has a size in jsdom; tables with virtual rows need one to draw into.
  Object.defineProperty(Element.prototype, 'clientHeight', { configurable: true, value: 600 });
  Object.defineProperty(Element.prototype, 'clientWidth', { configurable: true, value: 800 });
  Element.prototype.scrollIntoView = () => undefined;
  Element.prototype.scrollTo = () => undefined;
  Element.prototype.hasPointerCapture = () => false;
}
