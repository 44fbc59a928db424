/** The recorded calls that have lines of their own in the server's log, with what their replies say. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { estimateMessages } from '../../../shared/engine/estimate/estimate.ts';
import { readReplyBody } from '../../../shared/engine/explain/reply-body.ts';
import { readRecording } from '../../../shared/engine/explain/recording.ts';
import { readRequestBody } from '../../../shared/engine/explain/request-body.ts';
import type { MatchEnded, MatchSent } from '../../../shared/engine/truncation/log-match.ts';
import { readRecord } from '../../../shared/engine/truncation/log-record.ts';

export interface RecordedCall {
  readonly name: string;
  readonly sent: Omit<MatchSent, 'id' | 'sentAt'>;
  readonly ended: Omit<MatchEnded, 'endedAt' | 'endedMs'>;
  readonly lines: readonly string[];
}

const folder = fileURLToPath(new URL('../../fixtures/', import.meta.url));

export const recordedCalls: readonly RecordedCall[] = ['real', 'old', 'config'].flatMap((name) =>
  readdirSync(join(folder, name))
    .filter((file) => file.endsWith('.json'))
    .sort()
    .flatMap((file) => readOne(`${name}/${file}`)),
);

function readOne(file: string): RecordedCall[] {
  const read = readRecording(readFileSync(join(folder, file), 'utf8'));
  if (!read.ok || read.value.log === null || read.value.path === null) return [];
  const { path, log, requestBody, replyBody, status } = read.value;
  if (path !== '/api/chat' && path !== '/api/generate') return [];
  const reply = readReplyBody(replyBody);
  const prompts = log.filter((line) => readRecord(line).kind === 'new').length;
  // Recordings of several calls at once have lines that no reply in them tells apart.
  if (reply === null || prompts > 1 || log.filter((line) => line.includes('[GIN]')).length !== 1) return [];
  if (reply.promptEvalCount === null && reply.needs === null) return [];
  const request = readRequestBody(requestBody ?? {}, path === '/api/chat' ? 'chat' : 'generate');
  const { total } = estimateMessages(request.messages);
  return [
    {
      name: file,
      sent: {
        path,
        numCtx: request.numCtx,
        low: total.low,
        high: total.high,
        messages: request.messages.length,
      },
      ended: {
        status,
        promptEvalCount: reply.promptEvalCount,
        evalCount: reply.evalCount,
        needs: reply.needs,
        totalDurationMs: totalOf(replyBody),
      },
      lines: log,
    },
  ];
}

/** Milliseconds of the last `total_duration`; null where the reply has none. */
function totalOf(body: unknown): number | null {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const at = text.lastIndexOf('"total_duration":');
  const found = at < 0 ? null : /^\d+/.exec(text.slice(at + 17, at + 40));
  return found === null ? null : Number(found[0]) / 1e6;
}
