/** Calls as rows: a short one for lists, a body with the long texts apart, and the way back to the exact record. */
import type { CallRecord, CallRequest, CallSummary, Message, Reply } from '../../contract/calls.ts';
import type { CallId, RunId } from '../../contract/ids.ts';
import { summaryOf } from '../../engine/summary.ts';
import type { ContextRowRecord } from '../csv/context-columns.ts';
import { checksumOf } from './integrity.ts';
import type { Statements } from './statements.ts';
import type { PackedText, Texts } from './texts.ts';
import { inlineCharactersMax } from './texts.ts';

export interface CallRows {
  /** The same id again replaces what was stored. */
  save(record: CallRecord): void;
  record(id: CallId): CallRecord | null;
  summaries(query: { readonly runId?: RunId | null; readonly limit: number }): CallSummary[];
  /** Prompt and output tokens of calls that started in [from, to). */
  tokens(fromIso: string, toIso: string, simulated: boolean | null): number | null;
  /** Ids of all texts that calls of this run use. */
  textsOfRun(runId: RunId): number[];
}

export function createCallRows(statements: Statements, texts: Texts): CallRows {
  return {
    save: (record) => {
      saveShort(statements, record);
      saveBody(statements, texts, record);
    },
    record: (id) => {
      const row = statements.get<BodyRow & { summary: string }>(
        'SELECT calls.summary, call_bodies.* FROM calls JOIN call_bodies ON call_id = calls.id WHERE calls.id = ?',
        id,
      );
      return row === undefined ? null : recordOf(row, texts);
    },
    summaries: ({ runId, limit }) => {
      const order = 'ORDER BY started_at DESC, calls.rowid DESC LIMIT ?';
      const rows =
        runId === undefined
          ? statements.all<{ summary: string }>(`SELECT summary FROM calls ${order}`, limit)
          : statements.all<{ summary: string }>(`SELECT summary FROM calls WHERE run_id IS ? ${order}`, runId, limit);
      return rows.map((row) => JSON.parse(row.summary) as CallSummary);
    },
    tokens: (fromIso, toIso, simulated) =>
      statements.get<{ total: number | null }>(
        `SELECT sum(coalesce(prompt_tokens, 0) + coalesce(output_tokens, 0)) AS total FROM calls
         WHERE started_at >= ? AND started_at < ? AND (prompt_tokens IS NOT NULL OR output_tokens IS NOT NULL)
           AND simulated IN (?, ?)`,
        fromIso,
        toIso,
        simulated === true ? 1 : 0,
        simulated === false ? 0 : 1,
      )?.total ?? null,
    textsOfRun: (runId) =>
      statements
        .all<{ text_id: number }>(
          'SELECT DISTINCT text_id FROM call_texts JOIN calls ON calls.id = call_id WHERE run_id = ?',
          runId,
        )
        .map((row) => row.text_id),
  };
}

/** What the export reads of a call: its summary, its settings and its answer. No prompt is unpacked for it. */
export interface ExportCallRow {
  readonly summary: string;
  readonly request: string;
  readonly reply: string;
  readonly answer: string;
}

export function exportRecordOf(row: ExportCallRow, texts: Texts): ContextRowRecord {
  const { thinkingCharacters, ...reply } = JSON.parse(row.reply) as StoredReply;
  return {
    ...ownFields(JSON.parse(row.summary) as CallSummary),
    request: JSON.parse(row.request) as Omit<CallRequest, 'messages'>,
    reply: {
      ...reply,
      thinking: { length: thinkingCharacters },
      answer: texts.unpack(JSON.parse(row.answer) as PackedText),
    },
  };
}

interface BodyRow extends ExportCallRow {
  readonly preflight: string;
  readonly messages: string;
  readonly sent_body: string;
  readonly thinking: string;
  readonly raw_reply: string;
}

type StoredReply = Omit<Reply, 'thinking' | 'answer'> & { readonly thinkingCharacters: number };
type StoredMessage = Omit<Message, 'content'> & { readonly content: PackedText };
/** The sent body in order: texts as they stand, and contents of messages, written as JSON writes them. */
type BodyPart = PackedText | { readonly message: number };

function saveShort(statements: Statements, record: CallRecord): void {
  const summary = JSON.stringify(summaryOf(record));
  statements.run(
    `INSERT INTO calls (id, run_id, cell_key, started_at, simulated, prompt_tokens, output_tokens, summary, checksum)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET run_id = excluded.run_id, cell_key = excluded.cell_key,
       started_at = excluded.started_at, simulated = excluded.simulated, prompt_tokens = excluded.prompt_tokens,
       output_tokens = excluded.output_tokens, summary = excluded.summary, checksum = excluded.checksum`,
    record.id,
    record.runId,
    record.cellKey,
    record.startedAt,
    record.simulated ? 1 : 0,
    record.reply.promptEvalCount,
    record.reply.evalCount,
    summary,
    checksumOf(summary),
  );
}

function saveBody(statements: Statements, texts: Texts, record: CallRecord): void {
  const used = new Set<number>();
  const pack = (text: string): PackedText => texts.pack(text, (id) => used.add(id));
  const { messages, ...request } = record.request;
  const { thinking, answer, ...reply } = record.reply;
  const storedReply: StoredReply = { ...reply, thinkingCharacters: thinking.length };
  const storedMessages: StoredMessage[] = messages.map((message) => ({ ...message, content: pack(message.content) }));
  const values = [
    request,
    record.preflight,
    storedReply,
    storedMessages,
    bodyParts(record.sentBody, messages).map((part) => (typeof part === 'string' ? pack(part) : part)),
    pack(thinking),
    pack(answer),
    pack(record.rawReply),
  ].map((value) => JSON.stringify(value));
  statements.run(
    `INSERT OR REPLACE INTO call_bodies
       (call_id, request, preflight, reply, messages, sent_body, thinking, answer, raw_reply, checksum)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    record.id,
    ...values,
    checksumOf(...values),
  );
  statements.run('DELETE FROM call_texts WHERE call_id = ?', record.id);
  for (const text of used) statements.run('INSERT INTO call_texts (call_id, text_id) VALUES (?, ?)', record.id, text);
}

/**
 * The sent body is mostly the long messages again, so those places only point at them. Each is looked for as it stands in
 * JSON, in order; one that is not there (a body built another way) is simply kept as text.
 */
function bodyParts(sentBody: string, messages: readonly Message[]): (string | { readonly message: number })[] {
  const parts: (string | { readonly message: number })[] = [];
  let from = 0;
  for (const [index, message] of messages.entries()) {
    if (message.content.length <= inlineCharactersMax) continue;
    const escaped = JSON.stringify(message.content);
    const at = sentBody.indexOf(escaped, from);
    if (at < 0) continue;
    parts.push(sentBody.slice(from, at), { message: index });
    from = at + escaped.length;
  }
  parts.push(sentBody.slice(from));
  return parts;
}

function recordOf(row: BodyRow & { summary: string }, texts: Texts): CallRecord {
  const unpack = (json: string): string => texts.unpack(JSON.parse(json) as PackedText);
  const messages = (JSON.parse(row.messages) as StoredMessage[]).map((message) => ({
    ...message,
    content: texts.unpack(message.content),
  }));
  const { thinkingCharacters: _characters, ...reply } = JSON.parse(row.reply) as StoredReply;
  const sentBody = (JSON.parse(row.sent_body) as BodyPart[])
    .map((part) =>
      typeof part !== 'string' && 'message' in part
        ? JSON.stringify(messages[part.message]?.content)
        : texts.unpack(part),
    )
    .join('');
  return {
    ...ownFields(JSON.parse(row.summary) as CallSummary),
    request: { ...(JSON.parse(row.request) as Omit<CallRequest, 'messages'>), messages },
    preflight: JSON.parse(row.preflight) as CallRecord['preflight'],
    sentBody,
    rawReply: unpack(row.raw_reply),
    reply: { ...reply, thinking: unpack(row.thinking), answer: unpack(row.answer) },
  };
}

/** The fields that a summary has from its record unchanged; the rest of it is drawn from request and reply. */
function ownFields(
  summary: CallSummary,
): Omit<CallRecord, 'request' | 'sentBody' | 'rawReply' | 'preflight' | 'reply'> {
  const {
    model: _model,
    route: _route,
    numCtxRequested: _numCtx,
    numPredict: _numPredict,
    temperature: _temperature,
    seed: _seed,
    think: _think,
    promptEvalCount: _promptEvalCount,
    evalCount: _evalCount,
    doneReason: _doneReason,
    ending: _ending,
    answerHead: _answerHead,
    error: _error,
    timeToFirstTokenMs: _timeToFirstTokenMs,
    loadDurationMs: _loadDurationMs,
    promptEvalDurationMs: _promptEvalDurationMs,
    evalDurationMs: _evalDurationMs,
    totalDurationMs: _totalDurationMs,
    wallMs: _wallMs,
    ...own
  } = summary;
  return own;
}
