/** The window that would hold a prompt and its reply. */

/** Windows people know and servers are set to; above the last one, multiples of 1,024. */
const STOPS = [2_048, 4_096, 8_192, 16_384, 32_768, 40_960, 65_536, 131_072, 262_144];
const STEP = 1_024;
const NUM_CTX_MAX = 10_000_000;

/** Smallest useful num_ctx for `promptTokens` + `replyTokens`; null where the model was not trained for that much. */
export function fittingNumCtx(promptTokens: number, replyTokens: number, trained: number | null): number | null {
  // A prompt of exactly the window is cut already.
  const need = promptTokens + Math.max(1, replyTokens);
  const most = Math.min(trained ?? NUM_CTX_MAX, NUM_CTX_MAX);
  if (!Number.isFinite(need) || need > most) return null;
  const stop = STOPS.find((one) => one >= need) ?? Math.ceil(need / STEP) * STEP;
  if (stop <= most) return stop;
  return Math.min(Math.ceil(need / STEP) * STEP, most);
}
