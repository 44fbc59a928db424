/** Finds request, reply, window, version and log in a text somebody recorded elsewhere, whatever its shape. */
import { type Result, denied, ok } from '../../contract/denials.ts';
import { type Fields, countOf, fieldsOf, listOf, parseJson, textOf } from './values.ts';

/** Parts as they stand; null or empty = not in the recording. */
export interface Recording {
  readonly path: string | null;
  readonly requestBody: Fields | null;
  /** Text, or JSON already parsed. */
  readonly replyBody: unknown;
  readonly status: number | null;
  readonly clientLeft: boolean;
  readonly running: readonly { readonly name: string; readonly window: number }[];
  readonly log: readonly string[] | null;
  readonly version: string | null;
}

const bare: Omit<Recording, 'replyBody'> = {
  path: null,
  requestBody: null,
  status: null,
  clientLeft: false,
  running: [],
  log: null,
  version: null,
};

/** Refused only where there is nothing to read: an empty text. What the reply says is read later. */
export function readRecording(text: string): Result<Recording> {
  if (text.trim() === '')
    return denied('bad-input', 'The text is empty.', {
      field: 'text',
      next: 'Paste a reply, or a file with request and response.',
    });
  const file = fieldsOf(parseJson(text.replace(/^\uFEFF/, '')));
  if (file === null) return ok({ ...bare, replyBody: text });
  if (textOf(file['sentBody']) !== null && textOf(file['rawReply']) !== null) return ok(ownRecord(file));
  const reply = file['response'] ?? file['reply'];
  const request = file['request'];
  // The reply of /api/generate has a `response` too: there it is the text of the answer.
  const isRecording =
    request !== undefined || (reply !== undefined && typeof reply === 'object') || file['reply'] !== undefined;
  if (!isRecording) return ok({ ...bare, replyBody: file });
  return ok({ ...requestOf(request), ...replyOf(reply), ...surroundings(file) });
}

/** A call copied from Spillway's own history. */
function ownRecord(file: Fields): Recording {
  const body = fieldsOf(parseJson(textOf(file['sentBody']) ?? ''));
  const reply = fieldsOf(file['reply']) ?? {};
  const window = countOf(file['numCtxRunning']);
  const model = textOf(body?.['model']);
  return {
    path: textOf(file['path']),
    requestBody: body,
    replyBody: textOf(file['rawReply']) ?? '',
    status: countOf(reply['status']),
    clientLeft: reply['ending'] === 'aborted',
    running: window === null || window === 0 || model === null ? [] : [{ name: model, window }],
    log: null,
    version: textOf(file['serverVersion']),
  };
}

/** A fixture has {method, path, body}; others give the body alone. */
function requestOf(request: unknown): Pick<Recording, 'path' | 'requestBody'> {
  const asText = typeof request === 'string' ? parseJson(request) : request;
  const fields = fieldsOf(asText);
  if (fields === null) return { path: null, requestBody: null };
  const path = textOf(fields['path']) ?? pathOfUrl(textOf(fields['url']));
  if (fields['body'] === undefined)
    return { path, requestBody: path === null || fields['model'] !== undefined ? fields : null };
  const body = typeof fields['body'] === 'string' ? parseJson(fields['body']) : fields['body'];
  return { path, requestBody: fieldsOf(body) };
}

function replyOf(reply: unknown): Pick<Recording, 'replyBody' | 'status' | 'clientLeft'> {
  const fields = fieldsOf(reply);
  if (fields === null || (fields['body'] === undefined && fields['status'] === undefined))
    return { replyBody: reply ?? '', status: null, clientLeft: false };
  // A reply of /v1/responses has a `status` of its own, which is a word.
  if (fields['body'] === undefined && countOf(fields['status']) === null)
    return { replyBody: fields, status: null, clientLeft: false };
  return {
    replyBody: fields['body'] ?? '',
    status: countOf(fields['status']),
    clientLeft: fields['client_left'] === true,
  };
}

function surroundings(file: Fields): Pick<Recording, 'running' | 'log' | 'version'> {
  const running = listOf(file['running_after'] ?? file['running']).flatMap((item) => {
    const model = fieldsOf(item);
    const name = textOf(model?.['model']) ?? textOf(model?.['name']);
    const window = countOf(model?.['context_length']);
    return name === null || window === null || window === 0 ? [] : [{ name, window }];
  });
  const log =
    typeof file['log'] === 'string'
      ? splitLines(file['log'])
      : listOf(file['log']).filter((line) => typeof line === 'string');
  const version = textOf(fieldsOf(file['server'])?.['version']) ?? textOf(file['version']);
  return { running, log: log.length === 0 ? null : log, version };
}

export function splitLines(text: string): readonly string[] {
  return text.split(/\r?\n/).filter((line) => line !== '');
}

function pathOfUrl(url: string | null): string | null {
  const match = /^(?:https?:\/\/[^/?#]+)?(\/[^?#]*)/i.exec((url ?? '').slice(0, 2_000));
  return match?.[1] ?? null;
}
