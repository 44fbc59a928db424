/**
 * Every request a screen can make: name -> params and result. The dispatcher, the carriers and the renderer's client grow
 * from this table; nothing else crosses the line.
 */
import { z } from 'zod';
import {
  agentPresetSchema,
  agentRunIdSchema,
  agentRunSchema,
  agentRunViewSchema,
  agentTaskSchema,
  approvalSchema,
  bombSchema,
  bombShapes,
  classBudgetSchema,
  guardComparisonSchema,
  mcpServerSchema,
  toolInventorySchema,
  transcriptEntrySchema,
} from './agents.ts';
import { callRecordSchema, callRequestSchema, callSummarySchema, numCtxSchema } from './calls.ts';
import {
  callsCostSchema,
  conversationCostSchema,
  conversationSchema,
  monthSchema,
  priceListSchema,
  priceSetInputSchema,
  priceSetNameSchema,
  resendQuestionSchema,
  resendSeriesSchema,
} from './costs.ts';
import { calibrationListRowSchema, preflightSchema, startValueSchema } from './estimates.ts';
import { openCallSchema } from './events.ts';
import {
  cellSchema,
  contextExperimentSchema,
  exportOptionsSchema,
  planSummarySchema,
  runSummarySchema,
} from './experiments.ts';
import { explainInputSchema, explanationSchema } from './explain.ts';
import { callIdSchema, cellKeySchema, documentIdSchema, runIdSchema } from './ids.ts';
import { exactCountSchema, renderPictureSchema } from './renders.ts';
import { reasoningExperimentSchema, reasoningPresets, reasoningSummarySchema } from './reasoning.ts';
import {
  auditSchema,
  balanceSchema,
  books,
  ledgerEntrySchema,
  ledgerOperations,
  ledgerStateSchema,
  ledgerViewSchema,
  stormAskSchema,
  stormSchema,
} from './ledger.ts';
import {
  amountSchema,
  budgetScopes,
  budgetUnits,
  budgetWindows,
  directorySchema,
  nameSchema,
  planWarningSchema,
} from './plans.ts';
import { modelFactsSchema, serverLogSchema, serverStatusSchema } from './server.ts';
import { settingsPatchSchema, settingsSchema } from './settings.ts';

const nothing = z.strictObject({});
const bookSchema = z.enum(books);
const fileSchema = z.strictObject({ name: z.string(), mime: z.string(), rows: z.int(), text: z.string() });
/** revision rises with every change; a change made from an older one is denied, so that no other change is lost. */
const directoryViewSchema = z.strictObject({
  directory: directorySchema,
  revision: z.int().nonnegative(),
  warnings: z.array(planWarningSchema),
  /** Time zones this machine knows. */
  timeZones: z.array(z.string()),
});

export const requests = {
  /** First request of every screen, and again after a gap: all that is needed to draw. */
  'snapshot.get': {
    params: nothing,
    result: z.strictObject({
      app: z.strictObject({
        version: z.string(),
        host: z.enum(['desktop', 'browser', 'test']),
        platform: z.string(),
        home: z.string(),
      }),
      settings: settingsSchema,
      server: serverStatusSchema,
      serverLog: serverLogSchema.optional(),
      openCalls: z.array(openCallSchema),
      runs: z.array(runSummarySchema),
      /** Prompt and output tokens reported since midnight UTC; null when no call reported any. */
      tokensToday: z.int().nullable(),
      notices: z.array(
        z.strictObject({ level: z.enum(['info', 'warning', 'error']), text: z.string(), next: z.string().nullable() }),
      ),
    }),
  },
  'settings.set': { params: settingsPatchSchema, result: settingsSchema },

  'server.look': { params: nothing, result: serverStatusSchema },
  /** Empty url = back to the default. Ends the simulator when one is in use. */
  'server.connect': { params: z.strictObject({ url: z.string().max(2_000) }), result: serverStatusSchema },
  'simulator.start': { params: nothing, result: serverStatusSchema },
  'simulator.stop': { params: nothing, result: serverStatusSchema },
  'model.show': { params: z.strictObject({ model: z.string().min(1).max(500) }), result: modelFactsSchema },
  /**
   * Loads the model as a call with these options would, without generating: the window it then runs in is known from there on.
   * numCtx null = as a call that leaves it to the server.
   */
  'model.load': {
    params: z.strictObject({ model: z.string().min(1).max(500), numCtx: numCtxSchema.nullable() }),
    result: serverStatusSchema,
  },

  'call.preflight': { params: callRequestSchema, result: preflightSchema },
  'call.start': { params: callRequestSchema, result: z.strictObject({ callId: callIdSchema }) },
  'call.cancel': { params: z.strictObject({ callId: callIdSchema }), result: nothing },
  'call.get': { params: z.strictObject({ callId: callIdSchema }), result: callRecordSchema },
  'call.list': {
    params: z.strictObject({ runId: runIdSchema.nullable().optional(), limit: z.int().min(1).max(1_000).default(200) }),
    result: z.array(callSummarySchema),
  },

  /** Asks the server which messages of a chat call it keeps, with the call's own options. Nothing is generated. */
  'call.render': { params: z.strictObject({ callId: callIdSchema }), result: renderPictureSchema },
  /** The tokens of exactly this prompt, by the server: evaluated whole, or refused with its size. A cut prompt is never counted. */
  'call.count': { params: callRequestSchema, result: exactCountSchema },

  'document.put': {
    params: z.strictObject({
      name: z.string().max(500),
      text: z.string().min(1, 'the document is empty').max(5_500_000),
    }),
    result: z.strictObject({ documentId: documentIdSchema, characters: z.int(), sha256: z.string() }),
  },
  'context.plan': { params: contextExperimentSchema, result: planSummarySchema },
  'context.start': { params: contextExperimentSchema, result: z.strictObject({ runId: runIdSchema }) },
  'reasoning.plan': { params: reasoningExperimentSchema, result: planSummarySchema },
  'reasoning.start': { params: reasoningExperimentSchema, result: z.strictObject({ runId: runIdSchema }) },
  /** The ready experiment for a model: variants it cannot run are left out and named in the warnings. */
  'reasoning.preset': {
    params: z.strictObject({ name: z.enum(reasoningPresets).default('prime'), model: z.string().min(1).max(500) }),
    result: z.strictObject({ experiment: reasoningExperimentSchema, warnings: z.array(z.string()) }),
  },
  /** The lanes of a run over their repeats, as far as it has come. */
  'reasoning.summary': { params: z.strictObject({ runId: runIdSchema }), result: reasoningSummarySchema },
  'run.list': {
    params: z.strictObject({
      search: z.string().max(500).default(''),
      limit: z.int().min(1).max(10_000).default(1_000),
    }),
    result: z.array(runSummarySchema),
  },
  'run.get': {
    params: z.strictObject({ runId: runIdSchema }),
    result: z.strictObject({ run: runSummarySchema, cells: z.array(cellSchema) }),
  },
  'run.cancel': { params: z.strictObject({ runId: runIdSchema }), result: nothing },
  /** Goes on with the cells that have no result. */
  'run.resume': { params: z.strictObject({ runId: runIdSchema }), result: nothing },
  'run.delete': { params: z.strictObject({ runId: runIdSchema }), result: nothing },
  'cell.get': {
    params: z.strictObject({ runId: runIdSchema, cellKey: cellKeySchema }),
    result: z.strictObject({ cell: cellSchema, record: callRecordSchema.nullable() }),
  },

  /** Exports are read in chunks so that a million rows never stand in memory; `read` answers '' with done when finished. */
  'export.open': {
    params: z.strictObject({ runId: runIdSchema, options: exportOptionsSchema }),
    result: z.strictObject({ exportId: z.string(), name: z.string(), mime: z.string(), rows: z.int() }),
  },
  'export.read': {
    params: z.strictObject({ exportId: z.string() }),
    result: z.strictObject({ chunk: z.string(), done: z.boolean() }),
  },

  /** What was learned of characters per token, and what the script table starts with. */
  'calibration.list': {
    params: nothing,
    result: z.strictObject({ rows: z.array(calibrationListRowSchema), startValues: z.array(startValueSchema) }),
  },
  /** model null = everything that was learned. */
  'calibration.forget': {
    params: z.strictObject({ model: z.string().min(1).max(500).nullable(), simulated: z.boolean().default(false) }),
    result: z.strictObject({ models: z.int() }),
  },
  /** The whole table as one file; there is one row for each model and script. */
  'calibration.export': {
    params: exportOptionsSchema,
    result: fileSchema,
  },

  'prices.list': { params: nothing, result: priceListSchema },
  /** Adds a set of one's own. */
  'prices.set': { params: priceSetInputSchema, result: priceListSchema },
  'prices.forget': { params: priceSetNameSchema, result: priceListSchema },
  /** Costs are for the input alone. */
  'cost.resend': {
    params: z.strictObject({ question: resendQuestionSchema, priceSet: priceSetNameSchema }),
    result: resendSeriesSchema,
  },
  'cost.conversation': {
    params: z.strictObject({ conversation: conversationSchema, priceSet: priceSetNameSchema }),
    result: conversationCostSchema,
  },
  'cost.month': {
    params: z.strictObject({ conversation: conversationSchema, month: monthSchema, priceSet: priceSetNameSchema }),
    result: conversationCostSchema,
  },
  /** Calls to the kind of server in use (a real one, or a simulator) since midnight UTC and since this console started. */
  'cost.calls': {
    params: z.strictObject({ priceSet: priceSetNameSchema }),
    result: z.strictObject({ simulated: z.boolean(), today: callsCostSchema, session: callsCostSchema }),
  },

  /**
   * book left out = that of the server in use: simulated for a simulator. Balances are those touched last, 500 at most, and some
   * that were never touched. search: words, each in an account's tenant, scope, name, window or unit; of all accounts whose
   * period goes on the ones that have them all.
   */
  'ledger.get': {
    params: z.strictObject({ book: bookSchema.optional(), search: z.string().max(200).optional() }),
    result: ledgerViewSchema,
  },
  /** Newest first, from below beforeSeq. */
  'ledger.journal': {
    params: z.strictObject({
      book: bookSchema.optional(),
      tenant: nameSchema.nullable().default(null),
      user: nameSchema.nullable().default(null),
      operations: z
        .array(z.enum(ledgerOperations))
        .max(ledgerOperations.length)
        .default([...ledgerOperations]),
      account: z.string().max(2_000).nullable().default(null),
      beforeSeq: z.int().positive().nullable().default(null),
      limit: z.int().min(1).max(1_000).default(200),
    }),
    result: z.strictObject({ entries: z.array(ledgerEntrySchema), hasMore: z.boolean() }),
  },
  'ledger.audit': { params: nothing, result: auditSchema },
  /** Adds to the limit of the period that goes on now. */
  'ledger.grant': {
    params: z.strictObject({
      book: bookSchema.optional(),
      tenant: nameSchema,
      scope: z.enum(budgetScopes),
      name: z.string().trim().min(1).max(500),
      window: z.enum(budgetWindows),
      unit: z.enum(budgetUnits),
      amount: amountSchema.min(1, 'grant at least 1'),
      reason: z.string().max(500).default(''),
    }),
    result: balanceSchema,
  },
  /** Read with `export.read`. rows null = not counted, because the journal is too long for it. */
  'ledger.export': {
    params: z.strictObject({
      what: z.enum(['journal', 'balances', 'reservations']),
      book: bookSchema.optional(),
      options: exportOptionsSchema,
    }),
    result: z.strictObject({ exportId: z.string(), name: z.string(), mime: z.string(), rows: z.int().nullable() }),
  },
  /** Moves the clock of the simulated book: to an instant, by a time, or back to the real one. Denied for the real book. */
  'ledger.clock': {
    params: z.union([
      z.strictObject({ to: z.iso.datetime() }),
      z.strictObject({ byMs: z.int().min(-3_200_000_000_000).max(3_200_000_000_000) }),
      z.strictObject({ reset: z.literal(true) }),
    ]),
    result: ledgerStateSchema,
  },

  'directory.get': { params: nothing, result: directoryViewSchema },
  'directory.set': {
    params: z.strictObject({ directory: directorySchema, revision: z.int().nonnegative() }),
    result: directoryViewSchema,
  },
  /** CSV with the columns tenant, user, plan: adds and changes, removes nobody. */
  'directory.import': {
    params: z.strictObject({ text: z.string().max(5_000_000) }),
    result: z.strictObject({ view: directoryViewSchema, added: z.int(), changed: z.int() }),
  },
  'directory.export': { params: exportOptionsSchema, result: fileSchema },

  /** In the simulator only: real calls to its port, against two ledgers in memory. One at a time. */
  'storm.start': { params: stormAskSchema, result: stormSchema },
  'storm.cancel': { params: z.strictObject({ stormId: z.string() }), result: nothing },
  /** The last one; null when there was none since the start. */
  'storm.get': { params: nothing, result: z.strictObject({ storm: stormSchema.nullable() }) },

  'agent.presets': { params: nothing, result: z.array(agentPresetSchema) },
  /** What a task may call, with prices and limits; starts MCP servers only to ask them, and ends them again. */
  'agent.tools': {
    params: z.strictObject({ task: agentTaskSchema }),
    result: z.strictObject({ tools: toolInventorySchema, problems: z.array(z.string()) }),
  },
  'agent.start': { params: agentTaskSchema, result: z.strictObject({ runId: agentRunIdSchema }) },
  /** nodeId null = the whole run. */
  'agent.cancel': {
    params: z.strictObject({ runId: agentRunIdSchema, nodeId: z.string().nullable() }),
    result: nothing,
  },
  /** Goes on with a run that was cut off when the console ended: its guards and budgets stand where they stood. */
  'agent.resume': { params: z.strictObject({ runId: agentRunIdSchema }), result: nothing },
  'agent.list': {
    params: z.strictObject({ limit: z.int().min(1).max(1_000).default(100) }),
    result: z.strictObject({ runs: z.array(agentRunSchema), approvals: z.array(approvalSchema) }),
  },
  'agent.get': { params: z.strictObject({ runId: agentRunIdSchema }), result: agentRunViewSchema },
  'agent.delete': { params: z.strictObject({ runId: agentRunIdSchema }), result: nothing },
  'agent.transcript': {
    params: z.strictObject({
      runId: agentRunIdSchema,
      nodeId: z.string().max(500),
      from: z.int().nonnegative().default(0),
      limit: z.int().min(1).max(500).default(100),
    }),
    result: z.strictObject({ entries: z.array(transcriptEntrySchema), total: z.int().nonnegative() }),
  },
  /** A full output behind its handle: handles are good in one run. */
  'agent.blob': {
    params: z.strictObject({ runId: agentRunIdSchema, handle: z.string().max(200), offset: z.int().nonnegative() }),
    result: z.strictObject({ text: z.string(), nextOffset: z.int().nullable(), bytes: z.int() }),
  },
  'agent.approve': { params: z.strictObject({ id: z.string().max(500), allow: z.boolean() }), result: nothing },
  /** Read with `export.read`. */
  'agent.export': {
    params: z.strictObject({
      runId: agentRunIdSchema,
      what: z.enum(['calls', 'nodes', 'turns']),
      options: exportOptionsSchema,
    }),
    result: z.strictObject({
      exportId: z.string(),
      name: z.string(),
      mime: z.string(),
      rows: z.int().nullable(),
    }),
  },
  /** `mcpServers` as other clients keep it; faults name the server and the field. */
  'agent.readServers': {
    params: z.strictObject({ text: z.string().max(1_000_000) }),
    result: z.strictObject({ servers: z.record(z.string(), mcpServerSchema) }),
  },
  'agent.budgets': { params: nothing, result: z.array(classBudgetSchema) },
  'bomb.start': { params: z.strictObject({ shape: z.enum([...bombShapes, 'link-farm']) }), result: bombSchema },
  'bomb.cancel': { params: z.strictObject({ id: z.string() }), result: nothing },
  'bomb.list': { params: nothing, result: z.array(bombSchema) },
  'guard.compare': {
    params: z.strictObject({
      first: z.strictObject({
        tool: z.string().max(300),
        args: z.string().max(1_000_000),
        result: z.string().max(1_000_000).nullable(),
      }),
      second: z.strictObject({
        tool: z.string().max(300),
        args: z.string().max(1_000_000),
        result: z.string().max(1_000_000).nullable(),
      }),
      ignoredFields: z.array(z.string().max(200)).max(50).default([]),
    }),
    result: guardComparisonSchema,
  },

  'reply.explain': { params: explainInputSchema, result: explanationSchema },
} as const;

export type RequestName = keyof typeof requests;
export type RequestParams<Name extends RequestName> = z.input<(typeof requests)[Name]['params']>;
export type RequestResult<Name extends RequestName> = z.output<(typeof requests)[Name]['result']>;
export type RequestParsed<Name extends RequestName> = z.output<(typeof requests)[Name]['params']>;
