/** One valid example of everything that crosses the line: parameters and result of every request, and every kind of event. */
import { agentRunViewSchema, agentTaskSchema, approvalSchema, bombSchema } from '../../shared/contract/agents.ts';
import type { AgentRunId, AgentRunView, Approval, Bomb } from '../../shared/contract/agents.ts';
import { callRecordSchema } from '../../shared/contract/calls.ts';
import type { CallRecord, CallSummary } from '../../shared/contract/calls.ts';
import { nanoDollars } from '../../shared/contract/costs.ts';
import type { CallsCost, ConversationCost, PriceList } from '../../shared/contract/costs.ts';
import type { Preflight } from '../../shared/contract/estimates.ts';
import type { EngineEvent, OpenCall } from '../../shared/contract/events.ts';
import { contextExperimentSchema } from '../../shared/contract/experiments.ts';
import type { Cell, RunSummary } from '../../shared/contract/experiments.ts';
import type { CallId, CellKey, DocumentId, RunId } from '../../shared/contract/ids.ts';
import type { RequestName, RequestParams, RequestResult } from '../../shared/contract/requests.ts';
import type { ServerStatus } from '../../shared/contract/server.ts';
import { accountKey } from '../../shared/contract/ledger.ts';
import type {
  Account,
  Balance,
  BudgetAlert,
  LedgerEntry,
  LedgerState,
  LedgerView,
  RefusalLine,
  Reservation,
  Storm,
} from '../../shared/contract/ledger.ts';
import { DEFAULT_DIRECTORY } from '../../shared/contract/plans.ts';
import { reasoningExperimentSchema } from '../../shared/contract/reasoning.ts';
import { settingsSchema } from '../../shared/contract/settings.ts';
import { bytes, characters, milliseconds, tokens } from '../../shared/contract/units.ts';
import type { TruncationVerdict } from '../../shared/contract/verdicts.ts';

export const callId = 'call-1' as CallId;
export const runId = 'run-1' as RunId;
export const cellKey = 'gemma3:270m|4096|10000|0' as CellKey;
export const documentId = 'document-1' as DocumentId;

const at = '2026-11-14T09:00:00.000Z';

export const settings = settingsSchema.parse({});

export const server: ServerStatus = {
  state: 'up',
  kind: 'ollama',
  url: 'http://127.0.0.1:11434',
  urlSource: 'default',
  version: '0.33.0',
  problem: null,
  looks: [{ address: 'http://127.0.0.1:11434', outcome: 'Ollama 0.33.0' }],
  looksCount: 1,
  lastLookAt: at,
  models: [],
  running: [],
  ollamaInstalled: null,
};

export const experimentInput = {
  kind: 'context' as const,
  axes: {
    models: ['gemma3:270m'],
    numCtx: ['default' as const, 40_960],
    sizes: [2_000, 10_000],
    needleDepths: [0],
    routes: ['chat' as const],
    policies: ['warn' as const],
    repeats: 1,
  },
};
const experiment = contextExperimentSchema.parse(experimentInput);

export const reasoningInput = {
  kind: 'reasoning' as const,
  axes: {
    models: ['gemma3:270m'],
    variants: [
      { think: false, numPredict: 2_000 },
      { think: true, numPredict: 8_000 },
      { think: true, numPredict: 256, thinkingCap: { tokensMax: 200, then: 'ask-again' as const } },
    ],
    repeats: 1,
  },
  prompt: 'Is 1000003 a prime number? Answer only yes or no.',
};

export const callInput = {
  model: 'gemma3:270m',
  route: 'chat' as const,
  messages: [{ role: 'user' as const, content: 'What is the launch code?' }],
  numCtx: 4_096,
  numPredict: 60,
  think: 'default' as const,
  temperature: 0,
  seed: 7,
  policy: 'warn' as const,
};

export const run: RunSummary = {
  id: runId,
  kind: 'context',
  name: 'classic',
  state: 'running',
  createdAt: at,
  endedAt: null,
  simulated: true,
  server: server.url,
  serverVersion: '0.33.0',
  experiment,
  cellsTotal: 4,
  cellsDone: 1,
  cellsFailed: 0,
  tokensEvaluated: tokens(2_051),
  cellsTruncated: 1,
  etaMs: null,
  warnings: [],
  error: null,
};

const estimate = {
  low: tokens(5),
  likely: tokens(6),
  high: tokens(8),
  characters: characters(24),
  charactersPerToken: 4,
  source: 'script-table' as const,
};

const preflight: Preflight = {
  estimate,
  parts: { system: tokens(0), history: tokens(0), prompt: tokens(6) },
  window: tokens(4_096),
  windowSource: 'requested',
  trained: null,
  replyReserve: tokens(60),
  outcome: 'fits',
  expected: 'intact',
  kept: tokens(6),
  lost: tokens(0),
  headKept: null,
  tailKept: null,
  lostRanges: [],
  fitsNumCtx: tokens(4_096),
  fitsMemoryBytes: null,
  sentence: 'It fits.',
};

const verdict: TruncationVerdict = {
  kinds: ['intact'],
  confidence: 'certain',
  sent: null,
  kept: tokens(6),
  lost: tokens(0),
  lostAtLeast: false,
  headKept: null,
  tailKept: null,
  shifts: null,
  needs: null,
  has: null,
  evidence: [],
  next: null,
  fitsNumCtx: null,
};

export const record: CallRecord = callRecordSchema.parse({
  id: callId,
  runId: null,
  cellKey: null,
  startedAt: at,
  simulated: true,
  server: server.url,
  serverVersion: '0.33.0',
  modelDigest: null,
  request: callInput,
  path: '/api/chat',
  sentBody: '{"model":"gemma3:270m"}',
  promptCharacters: 24,
  estimate,
  preflight,
  numCtxRunning: 4_096,
  vramBytes: null,
  memoryBytes: bytes(300_000_000),
  reply: {
    status: 200,
    ending: 'done',
    abortedBy: null,
    done: true,
    doneReason: 'stop',
    promptEvalCount: 6,
    evalCount: 4,
    totalDurationMs: 120,
    loadDurationMs: 20,
    promptEvalDurationMs: 40,
    evalDurationMs: 60,
    contextLength: null,
    error: null,
    needs: null,
    has: null,
    thinking: '',
    answer: 'ZEBRA-7741 <img src=x onerror=alert(1)> \u2028\u0000',
    thinkingChunks: 0,
    answerChunks: 4,
    toolCalls: 0,
    timeToFirstTokenMs: 61,
    wallMs: 130,
  },
  rawReply: '{"done":true}\n',
  rawReplyClipped: false,
  truncation: verdict,
  needle: 'none',
  needles: [],
});

export const summary: CallSummary = {
  id: record.id,
  runId: null,
  cellKey: null,
  startedAt: at,
  simulated: true,
  server: record.server,
  serverVersion: record.serverVersion,
  modelDigest: null,
  path: record.path,
  promptCharacters: record.promptCharacters,
  estimate: record.estimate,
  numCtxRunning: record.numCtxRunning,
  vramBytes: null,
  memoryBytes: record.memoryBytes,
  rawReplyClipped: false,
  truncation: verdict,
  needle: 'none',
  needles: [],
  model: 'gemma3:270m',
  route: 'chat',
  numCtxRequested: tokens(4_096),
  numPredict: 60,
  temperature: 0,
  seed: 7,
  think: 'default',
  promptEvalCount: tokens(6),
  evalCount: tokens(4),
  doneReason: 'stop',
  ending: 'done',
  answerHead: 'ZEBRA-7741',
  error: null,
  timeToFirstTokenMs: milliseconds(61),
  loadDurationMs: milliseconds(20),
  promptEvalDurationMs: milliseconds(40),
  evalDurationMs: milliseconds(60),
  totalDurationMs: milliseconds(120),
  wallMs: milliseconds(130),
};

export const cell: Cell = {
  plan: {
    key: cellKey,
    index: 0,
    model: 'gemma3:270m',
    numCtx: tokens(4_096),
    size: 10_000,
    depths: [0],
    route: 'chat',
    policy: 'warn',
    repeat: 0,
    seed: 7,
    warmUp: false,
  },
  state: 'done',
  documentCharacters: 10_000,
  call: summary,
};

const { messages: _messages, ...callOptions } = callInput;
export const openCall: OpenCall = {
  id: callId,
  runId: null,
  cellKey: null,
  startedAt: at,
  request: { ...callOptions, stream: true },
  preflight,
  phase: 'sent',
};

export const delta = (answer: string, answerChunks: number, id: CallId = callId): EngineEvent => ({
  type: 'call-delta',
  callId: id,
  thinking: '',
  answer,
  thinkingChunks: 0,
  answerChunks,
  atMs: milliseconds(answerChunks),
});
export const runChanged = (cellsDone: number): EngineEvent => ({ type: 'run-changed', run: { ...run, cellsDone } });
export const notice = (text: string): EngineEvent => ({ type: 'notice-raised', level: 'info', text, next: null });

const account: Account = {
  book: 'simulated',
  tenant: 'acme',
  scope: 'user',
  name: 'ada',
  window: 'day',
  period: '2026-11-14',
  unit: 'tokens',
};
const dayEndsAt = '2026-11-15T00:00:00.000Z';

export const balance: Balance = {
  key: accountKey(account),
  account,
  limit: 6_000,
  granted: 0,
  spent: 3_937,
  held: 0,
  free: 2_063,
  overrun: 0,
  endsAt: dayEndsAt,
  timeZone: 'UTC',
  alerts: [{ percent: 80, at: 4_800, raised: false }],
};

export const reservation: Reservation = {
  id: 'reservation-1',
  key: 'run-1/step-3',
  owner: 'console 4711',
  book: 'simulated',
  openedAt: at,
  expiresAt: '2026-11-14T09:10:00.000Z',
  detail: {
    user: 'ada',
    tenant: 'acme',
    plan: 'assistant',
    model: 'gemma3:270m',
    callId,
    inputTokens: 2_034,
    outputTokens: 400,
    sentTokensEstimated: 2_018,
    strict: false,
  },
  lines: [{ account: balance.key, unit: 'tokens', amount: 2_434 }],
  state: 'settled',
  closedAt: '2026-11-14T09:00:07.000Z',
  charge: {
    inputTokens: 1_930,
    outputTokens: 39,
    nanoDollars: 0,
    source: 'reported',
    overrunTokens: 0,
    reason: 'the server counted it',
  },
};

export const refusalLine: RefusalLine = {
  id: 'refusal-1',
  code: 'user-day-limit-reached',
  tenant: 'acme',
  user: 'ada',
  model: 'gemma3:270m',
  count: 2,
  firstAt: at,
  lastAt: '2026-11-14T22:44:02.000Z',
  message: 'The day of ada is used up.',
  refusal: {
    account,
    kind: 'reached',
    needed: 2_434,
    spent: 3_937,
    held: 0,
    limit: 6_000,
    free: 2_063,
    retryAfterSeconds: 4_558,
    endsAt: dayEndsAt,
  },
};

export const budgetAlert: BudgetAlert = {
  account,
  percent: 80,
  used: 4_900,
  limit: 6_000,
  at,
  text: 'user ada: 4,900 of 6,000 tokens used, 1,100 left.',
};

export const ledgerEntry: LedgerEntry = {
  seq: 2,
  at,
  operation: 'settle',
  book: 'simulated',
  reservationId: reservation.id,
  key: reservation.key,
  owner: reservation.owner,
  tenant: 'acme',
  user: 'ada',
  model: 'gemma3:270m',
  lines: [{ account: balance.key, unit: 'tokens', amount: 1_969, overrun: 0 }],
  inputTokens: 1_930,
  outputTokens: 39,
  source: 'reported',
  reason: 'the server counted it',
};

export const ledgerState: LedgerState = {
  store: 'redis',
  state: 'local-share',
  problem: 'Redis does not answer.',
  next: 'A share of each limit is kept here until it does.',
  book: 'simulated',
  now: '2026-11-14T22:44:02.000Z',
  clockOffsetMs: -3_600_000,
};

export const ledgerView: LedgerView = {
  state: ledgerState,
  balances: [balance],
  reservations: [reservation],
  refusals: [refusalLine],
  alerts: [budgetAlert],
};

const stormSide = {
  admitted: 3,
  refused: 17,
  spentTokens: 0,
  heldTokens: 7_302,
  heldTokensMax: 7_302,
  calls: ['running' as const, 'refused' as const],
  refusedCode: 'tenant-month-limit-held',
  retryAfterSeconds: 3_600,
};

export const storm: Storm = {
  id: 'storm-1',
  ask: {
    calls: 20,
    users: 'one-each',
    messageCharacters: 6_052,
    outputTokensMax: 400,
    userLimit: null,
    tenantLimit: 9_000,
  },
  state: 'running',
  problem: null,
  reservedTokensEach: 2_434,
  checkAfter: { ...stormSide, refused: 0, refusedCode: null, retryAfterSeconds: null },
  reserveFirst: stormSide,
  startedAt: at,
  endedAt: null,
};

const directoryView = {
  directory: DEFAULT_DIRECTORY,
  revision: 3,
  warnings: [
    {
      plan: 'assistant',
      field: 'limits.conversationTokensMax',
      text: '6,000 and an answer of 400 do not fit 4,096.',
      next: '3,696 is safe.',
    },
  ],
  timeZones: ['UTC', 'Asia/Kathmandu'],
};

export const agentRunId = 'agents-1' as AgentRunId;
const agentTask = agentTaskSchema.parse({
  name: 'link farm',
  prompt: 'Find out what people think of the X-200.',
  model: 'script:farm-reader',
  tools: ['link-farm'],
});
const exhaustion = {
  nodeId: 'planner',
  dimension: 'calls' as const,
  needed: 1,
  used: 60,
  held: 0,
  limit: 60,
  retryAfterSeconds: null,
  evidence: '0 calls are left',
};
export const agentView: AgentRunView = agentRunViewSchema.parse({
  run: {
    id: agentRunId,
    task: agentTask,
    state: 'running',
    reason: null,
    simulated: true,
    scripted: true,
    startedAt: at,
    endedAt: null,
    nowMs: 5_000,
    totals: {
      toolCalls: 1,
      refused: 0,
      delegations: 0,
      agents: 1,
      modelTurns: 1,
      billedInputTokens: 3_000,
      contextTokens: 3_500,
      largestContextTokens: 3_500,
      toolNanoDollars: 4_000_000,
      outputBytes: 24_000,
      retries: 0,
      peakFanOut: 1,
      callsPerKb: 25.6,
      tokensPerKb: 89_600,
      callsByTool: { fetch: 1 },
    },
    openLeases: 0,
    answer: null,
    problem: null,
  },
  nodes: [
    {
      id: 'planner',
      parentId: null,
      depth: 0,
      task: agentTask.prompt,
      state: 'running',
      reason: null,
      limits: {
        calls: 60,
        tokens: 400_000,
        tokensMean: 'context',
        nanoDollars: 2_000_000_000,
        wallClockMs: 300_000,
        depth: 2,
        fanOut: 8,
        descendants: null,
        outputBytes: 16_000,
      },
      used: { calls: 1, contextTokens: 3_500, billedTokens: 3_000, nanoDollars: 4_000_000 },
      held: { calls: 0, tokens: 0, nanoDollars: 0 },
      carved: { calls: 0, tokens: 0, nanoDollars: 0 },
      peak: { fanOut: 1, outputBytes: 16_000 },
      descendants: 0,
      startedMs: 0,
      endedMs: null,
      modelTurns: 1,
      largestContextTokens: 3_500,
      exhaustion: null,
      summary: null,
    },
  ],
  calls: [
    {
      id: 'planner/1/1',
      nodeId: 'planner',
      step: 1,
      index: 0,
      tool: 'fetch',
      argumentsHead: '{"url":"https://farm.example/r/001"}',
      fingerprint: 'a'.repeat(64),
      stateHash: 'b'.repeat(64),
      outcome: 'done',
      code: null,
      exhaustion: null,
      resultHead: 'Review 001 of the X-200',
      outputBytes: 24_000,
      shownBytes: 16_000,
      handle: '458da971e71702e2',
      tokens: 4_000,
      nanoDollars: 4_000_000,
      attempts: 1,
      newShingles: 871,
      startedMs: 3_000,
      endedMs: 5_000,
      childId: null,
    },
  ],
  turns: [
    {
      nodeId: 'planner',
      turn: 1,
      closing: false,
      callId: null,
      contextTokens: 3_000,
      text: 'I read the first review.',
      toolCalls: 1,
      startedMs: 0,
      endedMs: 3_000,
    },
  ],
  trips: [
    {
      nodeId: 'planner',
      guard: 'identical-calls',
      stage: 'warn',
      tool: 'fetch',
      atMs: 5_000,
      count: 4,
      limit: 3,
      hash: 'a'.repeat(64),
      calls: ['planner/1/1'],
      text: 'loop: fetch called 4 times with identical arguments',
    },
  ],
  breakers: [{ upstream: 'farm.example', state: 'half-open', failures: 5, retryAfterMs: 1_000 }],
  leases: [{ id: 'lease-1', nodeId: 'planner', tool: 'start_job', what: 'job 1', openedMs: 4_000, state: 'open' }],
  callsDropped: 0,
});
const agentCall = first(agentView.calls);
export const approval: Approval = approvalSchema.parse({
  id: 'approval-1',
  runId: agentRunId,
  kind: 'call',
  nodeId: 'planner',
  call: { ...agentCall, outcome: 'waiting-approval', endedMs: null },
  nanoDollarsWorst: 4_000_000,
  exhaustion: null,
  limitAsked: null,
});
const raise: Approval = { ...approval, id: 'approval-2', kind: 'raise', call: null, exhaustion, limitAsked: 90 };
export const bomb: Bomb = bombSchema.parse({
  id: 'bomb-1',
  shape: 'link-farm',
  title: 'Link farm',
  unit: 'tool calls',
  without: { runId: 'agents-2', count: 1_976, secondCount: 2_000 },
  with: { runId: agentRunId, count: 58, secondCount: null },
  secondUnit: 'model calls',
  state: 'running',
});
const compared = { canonical: '{"a":1}', fingerprint: 'a'.repeat(64), stateHash: null, lossy: false, fault: null };

function first<Item>(items: readonly Item[]): Item {
  const item = items[0];
  if (item === undefined) throw new Error('a sample has at least one of each');
  return item;
}

export const events: { readonly [Type in EngineEvent['type']]: Extract<EngineEvent, { type: Type }> } = {
  'server-changed': { type: 'server-changed', status: server },
  'server-log-changed': {
    type: 'server-log-changed',
    log: {
      state: 'open',
      source: '/var/log/ollama.log',
      simulated: false,
      problem: null,
      lines: 12,
      unmatched: 1,
      unmatchedLast: ['scripted crash'],
    },
  },
  'settings-changed': { type: 'settings-changed', settings },
  'call-opened': { type: 'call-opened', call: openCall },
  'call-phase-changed': { type: 'call-phase-changed', callId, phase: 'streaming', atMs: milliseconds(61) },
  'call-delta': {
    type: 'call-delta',
    callId,
    thinking: '',
    answer: 'ZEBRA',
    thinkingChunks: 0,
    answerChunks: 1,
    atMs: milliseconds(70),
  },
  'call-closed': { type: 'call-closed', call: summary },
  'run-opened': { type: 'run-opened', run },
  'run-changed': { type: 'run-changed', run },
  'cell-changed': { type: 'cell-changed', runId, cell },
  'reservation-opened': {
    type: 'reservation-opened',
    reservation: { ...reservation, state: 'open', closedAt: null, charge: null },
    balances: [balance],
  },
  'reservation-closed': { type: 'reservation-closed', reservation, balances: [balance] },
  'reservation-refused': { type: 'reservation-refused', line: refusalLine, balances: [balance] },
  'budget-alerted': { type: 'budget-alerted', alert: budgetAlert },
  'ledger-changed': { type: 'ledger-changed', state: ledgerState },
  'storm-changed': { type: 'storm-changed', storm },
  'agent-run-changed': {
    type: 'agent-run-changed',
    run: agentView.run,
    nodes: agentView.nodes,
    breakers: agentView.breakers,
  },
  'agent-call-changed': { type: 'agent-call-changed', runId: agentRunId, call: agentCall },
  'agent-turn-changed': { type: 'agent-turn-changed', runId: agentRunId, turn: first(agentView.turns) },
  'agent-guard-tripped': { type: 'agent-guard-tripped', runId: agentRunId, trip: first(agentView.trips) },
  'agent-lease-changed': { type: 'agent-lease-changed', runId: agentRunId, lease: first(agentView.leases) },
  'approval-asked': { type: 'approval-asked', approval },
  'approval-ended': { type: 'approval-ended', id: 'approval-1', allowed: false },
  'bomb-changed': { type: 'bomb-changed', bomb },
  'notice-raised': { type: 'notice-raised', level: 'info', text: 'Hello', next: null },
};

const priceSet = { name: 'Claude Sonnet 5.5', date: '2026-11-14' };
const priceList: PriceList = [
  {
    set: {
      ...priceSet,
      source: 'Read on the price page',
      inputNanoDollarsPerToken: nanoDollars(2_000),
      outputNanoDollarsPerToken: nanoDollars(10_000),
      cachedNanoDollarsPerToken: null,
    },
    own: true,
  },
];
const conversationInput = { turns: 20, baseTokens: 3_000, addedTokensPerTurn: 500, outputTokensPerTurn: 200 };
const conversationCost: ConversationCost = {
  inputTokens: tokens(155_000),
  cachedTokens: tokens(0),
  outputTokens: tokens(4_000),
  input: nanoDollars(310_000_000),
  output: nanoDollars(40_000_000),
  total: nanoDollars(350_000_000),
};
const callsCost: CallsCost = {
  since: at,
  calls: 3,
  callsUnknown: 1,
  inputTokens: tokens(4_000),
  outputTokens: null,
  cost: { input: nanoDollars(8_000_000), output: null, total: null },
};

export const samples: {
  readonly [Name in RequestName]: { readonly params: RequestParams<Name>; readonly result: RequestResult<Name> };
} = {
  'snapshot.get': {
    params: {},
    result: {
      app: { version: '0.1.0', host: 'test', platform: 'linux', home: '/home/ada/.local/share/spillway' },
      settings,
      server,
      openCalls: [openCall],
      runs: [run],
      tokensToday: null,
      notices: [],
    },
  },
  'settings.set': { params: { theme: 'dark' }, result: { ...settings, theme: 'dark' } },
  'server.look': { params: {}, result: server },
  'server.connect': { params: { url: 'http://127.0.0.1:11434' }, result: server },
  'simulator.start': { params: {}, result: { ...server, kind: 'simulator' } },
  'simulator.stop': { params: {}, result: server },
  'model.show': {
    params: { model: 'gemma3:270m' },
    result: {
      name: 'gemma3:270m',
      digest: null,
      architecture: 'gemma3',
      trainedContext: tokens(32_768),
      capabilities: ['completion'],
      addsBos: true,
      promptPath: 'rendered',
      slidingWindow: null,
      modelfileNumCtx: null,
      embeddingOnly: false,
    },
  },
  'model.load': { params: { model: 'gemma3:270m', numCtx: null }, result: server },
  'call.preflight': { params: callInput, result: preflight },
  'call.start': { params: callInput, result: { callId } },
  'call.cancel': { params: { callId }, result: {} },
  'call.get': { params: { callId }, result: record },
  'call.render': {
    params: { callId },
    result: {
      messages: [{ index: 0, role: 'user', characters: characters(5), kept: 'kept' }],
      keptCharacters: characters(40),
      uncutCharacters: characters(40),
      note: 'Rendered now.',
      verdict: record.truncation,
    },
  },
  'call.count': {
    params: callInput,
    result: { promptTokens: tokens(24), how: 'evaluated', costTokens: tokens(25), window: tokens(4_096) },
  },
  'call.list': { params: { limit: 10 }, result: [summary] },
  'document.put': {
    params: { name: 'mine', text: 'some text' },
    result: { documentId, characters: 9, sha256: '0'.repeat(64) },
  },
  'context.plan': {
    params: experimentInput,
    result: { cells: 4, calls: 5, tokensMax: tokens(20_000), timeMs: null, warnings: [] },
  },
  'context.start': { params: experimentInput, result: { runId } },
  'reasoning.plan': {
    params: reasoningInput,
    result: { cells: 3, calls: 4, tokensMax: tokens(10_300), timeMs: null, warnings: [], leftOut: [] },
  },
  'reasoning.start': { params: reasoningInput, result: { runId } },
  'reasoning.preset': {
    params: { model: 'gemma3:270m' },
    result: { experiment: reasoningExperimentSchema.parse(reasoningInput), warnings: [] },
  },
  'reasoning.summary': {
    params: { runId },
    result: {
      runId,
      lanes: [
        {
          model: 'gemma3:270m',
          variant: 'off/2000',
          runs: 1,
          ended: 1,
          answered: 1,
          complete: 0,
          starved: 0,
          thinkingTokensMedian: tokens(0),
          answerTokensMedian: tokens(2_000),
          splitSource: 'counted',
          wallMsMedian: milliseconds(40_000),
          obeyed: { obeyed: 0, notObeyed: 1, suspect: 0, of: 1, sentence: 'off obeyed 0 of 1' },
        },
      ],
      caps: [],
    },
  },
  'run.list': { params: {}, result: [run] },
  'run.get': { params: { runId }, result: { run, cells: [cell] } },
  'run.cancel': { params: { runId }, result: {} },
  'run.resume': { params: { runId }, result: {} },
  'run.delete': { params: { runId }, result: {} },
  'cell.get': { params: { runId, cellKey }, result: { cell, record } },
  'export.open': {
    params: { runId, options: { format: 'csv' } },
    result: { exportId: 'export-1', name: 'classic.csv', mime: 'text/csv', rows: 4 },
  },
  'export.read': { params: { exportId: 'export-1' }, result: { chunk: 'run_id,cell\r\n', done: false } },
  'calibration.list': {
    params: {},
    result: {
      rows: [
        {
          model: 'gemma3:270m',
          simulated: false,
          script: 'latin',
          samples: 3,
          samplesSeen: 4,
          median: 4.6,
          low: null,
          high: 5.2,
          factor: 0.98,
        },
      ],
      startValues: [{ script: 'cjk', text: '港口', median: 1.4, low: 0.8, high: 2.6 }],
    },
  },
  'calibration.forget': { params: { model: null }, result: { models: 2 } },
  'calibration.export': {
    params: { format: 'csv' },
    result: { name: 'calibration.csv', mime: 'text/csv', rows: 1, text: 'model,simulated\r\n' },
  },
  'prices.list': { params: {}, result: priceList },
  'prices.set': {
    params: { name: 'mine', date: '2026-11-20', source: 'a bill', inputPerMillion: '0.05', outputPerMillion: 2 },
    result: priceList,
  },
  'prices.forget': { params: priceSet, result: priceList },
  'cost.resend': {
    params: { question: { turns: 2, toolOutputTokens: [500] }, priceSet },
    result: {
      turns: [1, 2],
      lines: [
        {
          toolOutputTokens: tokens(500),
          inputTokens: [tokens(3_000), tokens(6_500)],
          costs: [nanoDollars(6_000_000), nanoDollars(13_000_000)],
          totalTokens: tokens(6_500),
          totalCost: nanoDollars(13_000_000),
          timesFirst: 1,
        },
      ],
    },
  },
  'cost.conversation': { params: { conversation: conversationInput, priceSet }, result: conversationCost },
  'cost.month': {
    params: { conversation: conversationInput, month: { conversationsPerDay: 10 }, priceSet },
    result: conversationCost,
  },
  'cost.calls': { params: { priceSet }, result: { simulated: true, today: callsCost, session: callsCost } },
  'ledger.get': { params: { book: 'simulated', search: 'acme Ada' }, result: ledgerView },
  'ledger.journal': {
    params: { book: 'simulated', operations: ['settle'], beforeSeq: 9, limit: 2 },
    result: { entries: [ledgerEntry], hasMore: true },
  },
  'ledger.audit': {
    params: {},
    result: { at, sound: false, entries: 2, accounts: 1, openHolds: 0, faults: ['held is 1, its entries sum to 0'] },
  },
  'ledger.grant': {
    params: { tenant: 'acme', scope: 'user', name: 'ada', window: 'day', unit: 'tokens', amount: 500 },
    result: { ...balance, granted: 500, limit: 6_500, free: 2_563 },
  },
  'ledger.export': {
    params: { what: 'journal', book: 'simulated', options: { format: 'csv' } },
    result: { exportId: 'export-2', name: 'journal.csv', mime: 'text/csv', rows: 2 },
  },
  'ledger.clock': { params: { byMs: -3_600_000 }, result: ledgerState },
  'directory.get': { params: {}, result: directoryView },
  'directory.set': { params: { directory: DEFAULT_DIRECTORY, revision: 3 }, result: directoryView },
  'directory.import': {
    params: { text: 'tenant,user,plan\r\nacme,ada,assistant\r\n' },
    result: { view: directoryView, added: 1, changed: 0 },
  },
  'directory.export': {
    params: { format: 'csv' },
    result: { name: 'users.csv', mime: 'text/csv', rows: 3, text: 'tenant,user,plan\r\n' },
  },
  'storm.start': { params: { calls: 20 }, result: storm },
  'storm.cancel': { params: { stormId: storm.id }, result: {} },
  'storm.get': { params: {}, result: { storm } },
  'agent.presets': {
    params: {},
    result: [{ name: 'farm', title: 'Link farm', shows: 'What a budget does.', scripted: true, task: agentTask }],
  },
  'agent.tools': {
    params: { task: agentTask },
    result: {
      tools: [
        {
          name: 'fetch',
          source: 'link-farm',
          description: 'Reads a page.',
          parameters: { type: 'object' },
          nanoDollarsWorst: 4_000_000,
          latencyMsUsual: null,
          outputBytesUsual: 24_000,
          sideEffect: false,
          polls: false,
          timeoutMs: 20_000,
          attemptsMax: 2,
          callsMax: null,
          approval: false,
        },
      ],
      problems: [],
    },
  },
  'agent.start': { params: { prompt: 'Read.', model: 'script:farm-reader' }, result: { runId: agentRunId } },
  'agent.cancel': { params: { runId: agentRunId, nodeId: null }, result: {} },
  'agent.resume': { params: { runId: agentRunId }, result: {} },
  'agent.list': { params: {}, result: { runs: [agentView.run], approvals: [approval, raise] } },
  'agent.get': { params: { runId: agentRunId }, result: agentView },
  'agent.delete': { params: { runId: agentRunId }, result: {} },
  'agent.transcript': {
    params: { runId: agentRunId, nodeId: 'planner' },
    result: {
      entries: [
        {
          index: 0,
          role: 'tool',
          content: 'Review 001',
          clipped: false,
          toolName: 'fetch',
          callId: 'planner/1/1',
          ran: true,
          toolCalls: [{ id: 'planner/2/1', name: 'fetch', argumentsText: '{}' }],
        },
      ],
      total: 1,
    },
  },
  'agent.blob': {
    params: { runId: agentRunId, handle: '458da971e71702e2', offset: 0 },
    result: { text: 'Review 001', nextOffset: null, bytes: 24_000 },
  },
  'agent.approve': { params: { id: 'approval-1', allow: true }, result: {} },
  'agent.export': {
    params: { runId: agentRunId, what: 'calls', options: { format: 'csv' } },
    result: { exportId: 'export-1', name: 'calls.csv', mime: 'text/csv', rows: 58 },
  },
  'agent.readServers': {
    params: { text: '{"mcpServers":{}}' },
    result: {
      servers: { files: { command: 'server', args: [], env: {}, memoryMegabytesMax: 1_024, network: true } },
    },
  },
  'agent.budgets': {
    params: {},
    result: [
      {
        taskClass: 'research',
        runs: 25,
        runsDone: 20,
        proposed: { calls: 72, tokens: null, nanoDollars: 300_000_000, wallClockMs: 120_000 },
        headroomPercent: 20,
        enough: true,
      },
    ],
  },
  'bomb.start': { params: { shape: 'link-farm' }, result: bomb },
  'bomb.cancel': { params: { id: 'bomb-1' }, result: {} },
  'bomb.list': { params: {}, result: [bomb] },
  'guard.compare': {
    params: {
      first: { tool: 'fetch', args: '{"a":1}', result: null },
      second: { tool: 'fetch', args: '{"a":2}', result: null },
    },
    result: {
      first: compared,
      second: { ...compared, canonical: '{"a":2}', fingerprint: 'c'.repeat(64) },
      sameCall: false,
      sameState: null,
      similarity: null,
      reasons: ['a is 1 and 2'],
    },
  },
  'reply.explain': {
    params: { text: '{"done":true}' },
    result: {
      truncation: verdict,
      reasoning: null,
      read: {
        model: null,
        version: null,
        window: null,
        path: null,
        promptEvalCount: null,
        evalCount: null,
        answer: '',
        needle: 'none',
      },
    },
  },
};
