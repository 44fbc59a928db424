/** What a person can set. Unknown fields are an error that names the field; every field has its default here. */
import { z } from 'zod';

export const settingsSchema = z.strictObject({
  /** Empty = OLLAMA_HOST, else http://127.0.0.1:11434. */
  ollamaUrl: z.string().max(2_000).default(''),
  useSimulator: z.boolean().default(false),
  localOnly: z.boolean().default(true),
  theme: z.enum(['system', 'light', 'dark']).default('system'),
  policy: z.enum(['warn', 'refuse', 'allow']).default('warn'),
  numPredict: z.int().min(1).max(10_000_000).default(256),
  callTimeoutMs: z.int().min(1_000).max(86_400_000).default(1_800_000),
  csvProfile: z.enum(['machine', 'spreadsheet']).default('machine'),
  csvSeparator: z.enum([',', ';', '\t']).default(','),
  csvDecimalMark: z.enum(['.', ',']).default('.'),
  /** 1 = real pace of a small model, 0 = no waiting. */
  simulatorTimeScale: z.number().min(0).max(10).default(1),
  firstRunDone: z.boolean().default(false),
});
export type Settings = z.infer<typeof settingsSchema>;

export const settingsPatchSchema = settingsSchema.partial().strict();
