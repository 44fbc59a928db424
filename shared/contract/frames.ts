/** Envelopes between a screen and the engine, the same over every carrier (memory, WebSocket, Electron IPC). */
import { z } from 'zod';
import { denialSchema } from './denials.ts';
import { eventSchema } from './events.ts';

/** Largest message either side accepts, in bytes of UTF-8 JSON: a pasted document of 5 MB, escaped, fits. */
export const MESSAGE_BYTES_MAX = 32 * 1024 * 1024;
/** Frames go out at most this often. */
export const FRAME_INTERVAL_MS = 50;
/** Events waiting for a slow screen; older ones are dropped, counted, and the screen asks for a snapshot. */
export const FRAME_EVENTS_MAX = 5_000;

export const toEngineSchema = z.strictObject({
  kind: z.literal('request'),
  id: z.int().nonnegative(),
  name: z.string().max(100),
  params: z.unknown(),
});
export type ToEngine = z.infer<typeof toEngineSchema>;

export const toScreenSchema = z.discriminatedUnion('kind', [
  // One kind, told apart by `ok`: a discriminator value may stand only once at each level.
  z.discriminatedUnion('ok', [
    z.strictObject({ kind: z.literal('response'), id: z.int(), ok: z.literal(true), value: z.unknown() }),
    z.strictObject({ kind: z.literal('response'), id: z.int(), ok: z.literal(false), denial: denialSchema }),
  ]),
  /** seq rises by one per screen, from 1; a gap asks for a snapshot. dropped = events lost since the frame before. */
  z.strictObject({
    kind: z.literal('frame'),
    seq: z.int().positive(),
    dropped: z.int().nonnegative(),
    events: z.array(eventSchema),
  }),
]);
export type ToScreen = z.infer<typeof toScreenSchema>;
