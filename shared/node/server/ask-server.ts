/** Two questions to the server beside the calls: which messages it keeps, and how many tokens a prompt has. */
import type { CallRecord, CallRequest } from '../../contract/calls.ts';
import { type Result, denied, ok } from '../../contract/denials.ts';
import type { ExactCount, RenderPicture } from '../../contract/renders.ts';
import { characters, tokens } from '../../contract/units.ts';
import { createCancel } from '../../engine/cancel.ts';
import type { MessagesEstimate } from '../../engine/estimate/estimate.ts';
import type { CancelSignal, Estimator, ReplyEnd, Subject } from '../../engine/ports.ts';
import { truncationInput } from '../../engine/readings.ts';
import { createReplyBuilder } from '../../engine/reply-builder.ts';
import { findRunning } from '../../engine/running.ts';
import { classifyTruncation } from '../../engine/truncation/classify.ts';
import { atLeast, heedsFlags, parseVersion } from '../../engine/truncation/cut-size.ts';
import { countWindows, isCounted } from '../../engine/truncation/exact-count.ts';
import { readRefusal } from '../../engine/truncation/refusal.ts';
import { readRenderings } from '../../engine/truncation/render-oracle.ts';
import { wireRequest } from '../../engine/wire-body.ts';
import type { ServerWatch } from './server-watch.ts';
import type { Subjects } from './subjects.ts';

export interface ServerQuestions {
  /** Which messages of a stored chat call the server keeps, asked now with the options of the call. */
  render(record: CallRecord, signal: AbortSignal): Promise<Result<RenderPicture>>;
  /** The tokens of a prompt. They are remembered, so that the next estimate of this very prompt is counted. */
  count(request: CallRequest, signal: AbortSignal): Promise<Result<ExactCount>>;
}

interface Around {
  readonly watch: ServerWatch;
  readonly subjects: Subjects;
  readonly estimator: Estimator;
  /** Limit of a call that brings none; null = none. */
  readonly timeoutMs: () => number | null;
}

export function createServerQuestions(around: Around): ServerQuestions {
  return {
    render: (record, signal) => withCancel(signal, (cancel) => render(around, record, cancel)),
    count: (request, signal) => withCancel(signal, (cancel) => count(around, request, cancel)),
  };
}

async function withCancel<Value>(
  signal: AbortSignal,
  work: (cancel: CancelSignal) => Promise<Result<Value>>,
): Promise<Result<Value>> {
  const cancel = createCancel();
  const stop = (): void => cancel.cancel('person');
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await work(cancel.signal);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

async function render(around: Around, record: CallRecord, signal: CancelSignal): Promise<Result<RenderPicture>> {
  const { request } = record;
  const found = await around.subjects.of(request.model, signal);
  if (!found.ok) return found;
  const subject = found.value;
  const refused = refusedRender(record, subject);
  if (refused !== null) return refused;
  const wire = wireRequest(request);
  if (!wire.ok) return wire;
  const { body } = wire.value;
  const kept = await around.watch.door().render(body, signal);
  if (!kept.ok) return kept;
  if (kept.value === null) return notAvailable();
  const uncut = await around.watch.door().render({ ...body, truncate: false }, signal);
  if (!uncut.ok) return uncut;
  if (uncut.value === null) return notAvailable();
  const reading = readRenderings({ messages: request.messages, kept: kept.value, uncut: uncut.value });
  const sizes = await around.estimator.estimate(request.messages, subject.learned);
  const sizesOf = { keptCharacters: characters(kept.value.length), uncutCharacters: characters(uncut.value.length) };
  const input = truncationInput(request, subject, sizes, record.reply, null);
  const verdict = reading.isWhole
    ? classifyTruncation({ ...input, windowRunning: record.numCtxRunning, render: sizesOf })
    : record.truncation;
  return ok({ messages: [...reading.messages], ...sizesOf, note: noteOf(reading.isWhole, record), verdict });
}

/** The two renderings are of now: another server or another model would show something else than the call. */
function refusedRender(record: CallRecord, subject: Subject): ReturnType<typeof denied> | null {
  if (record.request.route !== 'chat') {
    return denied('unsupported', 'Only calls of /api/chat have messages that can be dropped.', {
      next: 'Look at the evidence of the call.',
    });
  }
  if (record.server !== subject.server) {
    return denied('unsupported', `The call went to ${record.server}, and the server is ${subject.server} now.`, {
      next: 'Connect to that server, or send the call again.',
    });
  }
  if (record.modelDigest !== null && subject.digest !== null && record.modelDigest !== subject.digest) {
    return denied('unsupported', 'The model was changed since the call.', { next: 'Send the call again.' });
  }
  const version = parseVersion(subject.serverVersion);
  const isKnown = version === null || atLeast(version, 0, 11, 5);
  return isKnown && heedsFlags(subject.serverVersion) ? null : notAvailable();
}

function notAvailable(): ReturnType<typeof denied> {
  return denied('unsupported', 'Not available: this server does not show the prompt it builds.', {
    next: 'Update Ollama to 0.12.4 or later.',
  });
}

function noteOf(isWhole: boolean, { truncation, request }: CallRecord): string {
  const asked = 'Rendered now by the server, with and without truncation, with the options of the call.';
  const open = isWhole ? '' : ' The template writes some texts in another way: those are unknown.';
  const isCut = truncation.kinds.some((kind) => kind === 'halved' || kind === 'cut-to-window');
  const cut = isCut
    ? ' This call was cut by tokens besides: what is kept here lost a part of its text after this step.'
    : ' A cut by tokens comes after this step and is not visible here.';
  const window = request.numCtx === null ? ' The window is the one the server uses by itself now.' : '';
  return `${asked}${open}${cut}${window}`;
}

async function count(around: Around, request: CallRequest, signal: CancelSignal): Promise<Result<ExactCount>> {
  const found = await around.subjects.of(request.model, signal);
  if (!found.ok) return found;
  const subject = found.value;
  const sizes = await around.estimator.estimate(request.messages, subject.learned);
  let costTokens = 0;
  let problem: string | null = null;
  for (const window of countWindows(request, subject, sizes.total)) {
    const tried = await tryWindow(around, { ...bare(request), numCtx: window }, subject, sizes, signal);
    if (!tried.ok) return tried;
    const { end, promptTokens, how, windowRan, isRefusedOtherwise } = tried.value;
    costTokens += how === 'refusal' ? 0 : (end.promptEvalCount ?? 0) + (end.evalCount ?? 0);
    if (end.ending === 'aborted') return denied('cancelled', 'Stopped.');
    problem = end.error ?? problem;
    // What has nothing to do with the window is the same in the next one.
    if (isRefusedOtherwise) break;
    if (promptTokens === null) continue;
    around.subjects.learnPrompt(request, promptTokens);
    await around.watch.refreshRunning();
    const seen = window ?? windowRan;
    return ok({
      promptTokens: tokens(promptTokens),
      how,
      costTokens: tokens(costTokens),
      window: seen === null ? null : tokens(seen),
    });
  }
  const cost = costTokens === 0 ? '' : ` ${costTokens.toLocaleString('en-US')} tokens were evaluated for it.`;
  const why =
    problem === null ? 'No window was found that holds the prompt for certain.' : `The server said: ${problem}.`;
  return denied('server-error', `The prompt was not counted. ${why}${cost}`, {
    next: 'Choose a window that holds it, and count again.',
  });
}

/** The prompt with the least of a reply. Whatever is left out here changes nothing about the prompt. */
function bare({ thinkingCap: _cap, logprobs: _logprobs, ...request }: CallRequest): CallRequest {
  return { ...request, numPredict: 1, policy: 'warn', stream: false };
}

interface Tried {
  readonly end: ReplyEnd;
  readonly promptTokens: number | null;
  readonly how: ExactCount['how'];
  readonly windowRan: number | null;
  /** Refused, or broken off, for another reason than the size of the prompt. */
  readonly isRefusedOtherwise: boolean;
}

async function tryWindow(
  around: Around,
  request: CallRequest,
  subject: Subject,
  sizes: MessagesEstimate,
  signal: CancelSignal,
): Promise<Result<Tried>> {
  const wire = wireRequest(request);
  if (!wire.ok) return wire;
  const { path, body } = wire.value;
  const builder = createReplyBuilder();
  const door = around.watch.door();
  // Told not to truncate and nothing else: another `shift` would load the model again.
  const asked = { path, body: { ...body, truncate: false }, timeoutMs: request.timeoutMs ?? around.timeoutMs() };
  let end: ReplyEnd | null = null;
  for await (const portion of door.stream(asked, signal)) {
    for (const event of portion) {
      if (event.kind === 'chunk') builder.chunk(event, 0);
      if (event.kind === 'end') end = event.end;
    }
  }
  if (end === null) throw new Error('Broken rule: a model stream always ends with its end');
  const reply = builder.finish(end, 0);
  const refusal = readRefusal(reply);
  if (refusal !== null)
    return ok({ end, promptTokens: refusal.needs, how: 'refusal', windowRan: refusal.has, isRefusedOtherwise: false });
  if (end.ending !== 'done')
    return ok({ end, promptTokens: null, how: 'refusal', windowRan: null, isRefusedOtherwise: true });
  const running = findRunning((await door.running(signal)) ?? [], request.model, subject.digest);
  const input = truncationInput(request, subject, sizes, reply, running);
  const isWhole = isCounted(classifyTruncation({ ...input, truncate: false }));
  return ok({
    end,
    promptTokens: isWhole ? end.promptEvalCount : null,
    how: 'evaluated',
    windowRan: running?.contextLength ?? null,
    isRefusedOtherwise: false,
  });
}
