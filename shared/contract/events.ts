/** What the engine tells every screen. Names are noun-action; texts in `call-delta` are appended in order. */
import { z } from 'zod';
import {
  agentNodeSchema,
  agentRunIdSchema,
  agentRunSchema,
  approvalSchema,
  bombSchema,
  breakerSchema,
  gatewayCallSchema,
  guardTripSchema,
  leaseSchema,
  modelTurnSchema,
} from './agents.ts';
import { callRequestSchema, callSummarySchema } from './calls.ts';
import { preflightSchema } from './estimates.ts';
import { cellSchema, runSummarySchema } from './experiments.ts';
import { callIdSchema, cellKeySchema, runIdSchema } from './ids.ts';
import {
  balanceSchema,
  budgetAlertSchema,
  ledgerStateSchema,
  refusalLineSchema,
  reservationSchema,
  stormSchema,
} from './ledger.ts';
import { serverLogSchema, serverStatusSchema } from './server.ts';
import { settingsSchema } from './settings.ts';
import { millisecondsSchema } from './units.ts';

export const callPhases = ['estimating', 'sent', 'loading', 'evaluating', 'streaming', 'judging'] as const;

/** A call that is under way. Requests of sweeps travel without their long texts (`messages` empty). */
export const openCallSchema = z.strictObject({
  id: callIdSchema,
  runId: runIdSchema.nullable(),
  cellKey: cellKeySchema.nullable(),
  startedAt: z.iso.datetime(),
  request: callRequestSchema.omit({ messages: true, needles: true, tools: true }),
  preflight: preflightSchema.nullable(),
  phase: z.enum(callPhases),
});
export type OpenCall = z.infer<typeof openCallSchema>;

export const eventSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('server-changed'), status: serverStatusSchema }),
  z.strictObject({ type: z.literal('server-log-changed'), log: serverLogSchema }),
  z.strictObject({ type: z.literal('settings-changed'), settings: settingsSchema }),
  z.strictObject({ type: z.literal('call-opened'), call: openCallSchema }),
  z.strictObject({
    type: z.literal('call-phase-changed'),
    callId: callIdSchema,
    phase: z.enum(callPhases),
    atMs: millisecondsSchema,
  }),
  z.strictObject({
    type: z.literal('call-delta'),
    callId: callIdSchema,
    thinking: z.string(),
    answer: z.string(),
    /** Running totals, so that a lost delta never makes a count wrong. Chunks, which are tokens on most models. */
    thinkingChunks: z.int().nonnegative(),
    answerChunks: z.int().nonnegative(),
    atMs: millisecondsSchema,
  }),
  z.strictObject({ type: z.literal('call-closed'), call: callSummarySchema }),
  z.strictObject({ type: z.literal('run-opened'), run: runSummarySchema }),
  z.strictObject({ type: z.literal('run-changed'), run: runSummarySchema }),
  z.strictObject({ type: z.literal('cell-changed'), runId: runIdSchema, cell: cellSchema }),
  /** Balances are of the accounts that the operation touched, as they stand after it. */
  z.strictObject({
    type: z.literal('reservation-opened'),
    reservation: reservationSchema,
    balances: z.array(balanceSchema),
  }),
  z.strictObject({
    type: z.literal('reservation-closed'),
    reservation: reservationSchema,
    balances: z.array(balanceSchema),
  }),
  z.strictObject({ type: z.literal('reservation-refused'), line: refusalLineSchema, balances: z.array(balanceSchema) }),
  z.strictObject({ type: z.literal('budget-alerted'), alert: budgetAlertSchema }),
  /** The store, the clock, or a limit changed: balances are to be asked for again. */
  z.strictObject({ type: z.literal('ledger-changed'), state: ledgerStateSchema }),
  z.strictObject({ type: z.literal('storm-changed'), storm: stormSchema }),
  /** At most ten a second for each run, and once more at its end. */
  z.strictObject({
    type: z.literal('agent-run-changed'),
    run: agentRunSchema,
    nodes: z.array(agentNodeSchema),
    breakers: z.array(breakerSchema),
  }),
  z.strictObject({ type: z.literal('agent-call-changed'), runId: agentRunIdSchema, call: gatewayCallSchema }),
  z.strictObject({ type: z.literal('agent-turn-changed'), runId: agentRunIdSchema, turn: modelTurnSchema }),
  z.strictObject({ type: z.literal('agent-guard-tripped'), runId: agentRunIdSchema, trip: guardTripSchema }),
  z.strictObject({ type: z.literal('agent-lease-changed'), runId: agentRunIdSchema, lease: leaseSchema }),
  z.strictObject({ type: z.literal('approval-asked'), approval: approvalSchema }),
  z.strictObject({ type: z.literal('approval-ended'), id: z.string(), allowed: z.boolean() }),
  z.strictObject({ type: z.literal('bomb-changed'), bomb: bombSchema }),
  z.strictObject({
    type: z.literal('notice-raised'),
    level: z.enum(['info', 'warning', 'error']),
    text: z.string(),
    next: z.string().nullable(),
  }),
]);
export type EngineEvent = z.infer<typeof eventSchema>;
