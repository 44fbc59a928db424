/** What the engine tells every screen. Names are noun-action; texts in `call-delta` are appended in order. */
import { z } from 'zod';
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
  request: callRequestSchema.omit({ messages: true, needles: true }),
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
  z.strictObject({
    type: z.literal('notice-raised'),
    level: z.enum(['info', 'warning', 'error']),
    text: z.string(),
    next: z.string().nullable(),
  }),
]);
export type EngineEvent = z.infer<typeof eventSchema>;
