/** A request over a bare socket with its reply chunk by chunk, for tests that ask for a route and look at the wire. */
import { sendRaw, type RawReply, type Recording } from './recordings.ts';

export interface ChunkedReply extends RawReply {
  /** Texts of the chunks; one for a reply with a length. */
  readonly chunks: readonly string[];
}

export async function rawRequest(
  url: string,
  request: Partial<Recording['request']> & { readonly method: string; readonly path: string },
): Promise<ChunkedReply> {
  const reply = await sendRaw(Number(new URL(url).port), { headers: {}, body: null, ...request });
  const bytes = Buffer.from(reply.body, 'utf8');
  let at = 0;
  const chunks = reply.chunk_sizes.map((size) => bytes.subarray(at, (at += size)).toString('utf8'));
  return { ...reply, chunks };
}
