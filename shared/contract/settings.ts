/** What a person can set. Unknown fields are an error that names the field; every field has its default here. */
import { z } from 'zod';
import { priceSetNameSchema } from './costs.ts';
import { LOCAL_PAYER, payerSchema } from './plans.ts';

const fields = {
  /** Empty = OLLAMA_HOST, else http://127.0.0.1:11434. */
  ollamaUrl: z.string().max(2_000),
  useSimulator: z.boolean(),
  localOnly: z.boolean(),
  theme: z.enum(['system', 'light', 'dark']),
  policy: z.enum(['warn', 'refuse', 'allow']),
  numPredict: z.int().min(1).max(10_000_000),
  callTimeoutMs: z.int().min(1_000).max(86_400_000),
  csvProfile: z.enum(['machine', 'spreadsheet']),
  csvSeparator: z.enum([',', ';', '\t']),
  csvDecimalMark: z.enum(['.', ',']),
  /** Where the server's log is read: '' = the platform's place, `off`, `journal`, `serve` (start it here), or a path. */
  serverLog: z.string().max(4_096),
  /** 1 = real pace of a small model, 0 = no waiting. */
  simulatorTimeScale: z.number().min(0).max(10),
  firstRunDone: z.boolean(),
  /** What calls would have cost by these prices is shown beside them; null = nothing is. */
  asIfPriceSet: priceSetNameSchema.nullable(),
  /** Who pays for the console's own calls. */
  payer: payerSchema,
  /** Empty = SPILLWAY_REDIS_URL, else the database of this folder. */
  redisUrl: z.string().max(2_000),
  /** When the shared ledger is away: refuse every call, or go on with this share of each limit. */
  redisLoss: z.enum(['refuse', 'local-share']),
  redisLocalSharePercent: z.int().min(1).max(100),
  /** `full`: a reservation is on the disk before its call leaves. `normal`: the last ones may be lost with the power. */
  ledgerSync: z.enum(['full', 'normal']),
};

export const settingsSchema = z.strictObject({
  ollamaUrl: fields.ollamaUrl.default(''),
  useSimulator: fields.useSimulator.default(false),
  localOnly: fields.localOnly.default(true),
  theme: fields.theme.default('system'),
  policy: fields.policy.default('warn'),
  numPredict: fields.numPredict.default(256),
  callTimeoutMs: fields.callTimeoutMs.default(1_800_000),
  csvProfile: fields.csvProfile.default('machine'),
  csvSeparator: fields.csvSeparator.default(','),
  csvDecimalMark: fields.csvDecimalMark.default('.'),
  serverLog: fields.serverLog.default(''),
  simulatorTimeScale: fields.simulatorTimeScale.default(1),
  firstRunDone: fields.firstRunDone.default(false),
  asIfPriceSet: fields.asIfPriceSet.default(null),
  payer: fields.payer.default(LOCAL_PAYER),
  redisUrl: fields.redisUrl.default(''),
  redisLoss: fields.redisLoss.default('refuse'),
  redisLocalSharePercent: fields.redisLocalSharePercent.default(10),
  ledgerSync: fields.ledgerSync.default('full'),
});
export type Settings = z.infer<typeof settingsSchema>;

/** Made of the fields without their defaults: a patch of one field that filled in the others would reset them. */
export const settingsPatchSchema = z.strictObject(fields).partial();
