/** `_debug_render_only` of /api/chat: the prompt as it would go to the model. Servers know it from 0.11.5 on. */
import { type Result, ok } from '../../contract/denials.ts';
import type { CancelSignal, WireRequest } from '../../engine/ports.ts';
import type { Reader } from './read.ts';
import { asRecord } from './reply-line.ts';

/** A server that does not know the question takes it for a call: then it may generate one token, never more. */
export async function renderPrompt(
  reader: Reader,
  body: WireRequest['body'],
  signal: CancelSignal,
): Promise<Result<string | null>> {
  const model = typeof body.model === 'string' ? body.model : '';
  const asked = {
    ...body,
    stream: false,
    options: { ...asRecord(body.options), num_predict: 1 },
    _debug_render_only: true,
  };
  const answer = await reader.read(
    {
      path: '/api/chat',
      ask: (client) => client.chat({ model, messages: [] }),
      body: JSON.stringify(asked),
      take: (document) => ({ text: renderedOf(document) }),
      timeoutMs: null,
    },
    signal,
  );
  return answer.ok ? ok(answer.value.text) : answer;
}

function renderedOf(document: unknown): string | null {
  const text = asRecord(asRecord(document)._debug_info).rendered_template;
  return typeof text === 'string' ? text : null;
}
