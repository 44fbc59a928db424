/** Turns a request and what is known around it into what the pure readers (preflight, classifier) take. */
import type { CallRequest, Message, Reply } from '../contract/calls.ts';
import type { RunningModel } from '../contract/server.ts';
import type { MessagesEstimate } from './estimate/estimate.ts';
import type { LogLines, Subject } from './ports.ts';
import type { ReasoningSettings } from './reasoning/types.ts';
import { findRunning } from './running.ts';
import type { PreflightInput } from './truncation/preflight.ts';
import type { TruncationInput } from './truncation/types.ts';

export function preflightInput(request: CallRequest, subject: Subject, sizes: MessagesEstimate): PreflightInput {
  return {
    messages: request.messages,
    sizes,
    learned: subject.learned,
    counted: subject.countedOf?.(request) ?? null,
    route: request.route,
    promptPath: promptPath(request, subject),
    serverVersion: subject.serverVersion,
    addsBos: subject.facts?.addsBos ?? null,
    ...windowBefore(request, subject),
    trained: subject.facts?.trainedContext ?? null,
    numPredict: request.numPredict,
    numKeep: request.numKeep ?? null,
    policy: request.policy,
    memorySeen: subject.memorySeen ?? [],
  };
}

export function truncationInput(
  request: CallRequest,
  subject: Subject,
  sizes: MessagesEstimate,
  reply: Reply,
  found: RunningModel | null,
  log: LogLines | null = null,
): TruncationInput {
  const refuses = request.policy === 'refuse';
  return {
    route: request.route,
    promptPath: promptPath(request, subject),
    serverVersion: subject.serverVersion,
    raw: false,
    messages: request.messages.map((message, index) => ({
      role: message.role,
      characters: message.content.length,
      estimate: sizes.messages[index] ?? sizes.total,
    })),
    estimate: sizes.total,
    hasUncountedParts: hasTools(request),
    numCtxRequested: request.numCtx,
    windowRunning: found?.contextLength ?? null,
    trainedContext: subject.facts?.trainedContext ?? null,
    numKeep: request.numKeep ?? null,
    numPredict: request.numPredict,
    truncate: refuses ? false : null,
    shift: refuses ? false : null,
    addsBos: subject.facts?.addsBos ?? null,
    reply,
    log: log?.lines ?? null,
    logDebug: log?.debug ?? false,
    logShared: log?.isShared ?? false,
    render: null,
    previous: subject.previousOf?.(request) ?? null,
  };
}

/** How a template writes tools and calls is not known; their texts are counted, the words around them are not. */
export const hasTools = ({ tools, messages }: CallRequest): boolean =>
  (tools?.length ?? 0) > 0 || messages.some((message) => message.toolCalls !== undefined);

/** The texts of a prompt, with those of tools and calls: what an estimate is made of. */
export function textsOf({ messages, tools }: CallRequest): readonly Message[] {
  if ((tools?.length ?? 0) === 0 && !messages.some((message) => message.toolCalls !== undefined)) return messages;
  return messages.map((message, index) => ({
    ...message,
    content: `${message.content}${message.toolCalls === undefined ? '' : JSON.stringify(message.toolCalls)}${index === 0 && tools !== undefined ? JSON.stringify(tools) : ''}`,
  }));
}

/** /api/generate takes the rendered path also on native models (measured). */
function promptPath(request: CallRequest, subject: Subject): PreflightInput['promptPath'] {
  return request.route === 'generate' ? 'rendered' : (subject.facts?.promptPath ?? 'unknown');
}

/**
 * The window the call will run in: what is asked for, up to the trained one; else what a call that asks for nothing gets: the
 * Modelfile's, the server's default where it was seen, and only then what happens to be loaded.
 */
function windowBefore(request: CallRequest, subject: Subject): Pick<PreflightInput, 'window' | 'windowSource'> {
  const trained = subject.facts?.trainedContext ?? null;
  if (request.numCtx !== null) {
    return { window: trained === null ? request.numCtx : Math.min(request.numCtx, trained), windowSource: 'requested' };
  }
  const standing = subject.facts?.modelfileNumCtx ?? subject.defaultNumCtx;
  if (standing !== null)
    return { window: trained === null ? standing : Math.min(standing, trained), windowSource: 'server-default' };
  const loaded = findRunning(subject.running, request.model, subject.digest)?.contextLength ?? null;
  return loaded === null ? { window: null, windowSource: 'unknown' } : { window: loaded, windowSource: 'running' };
}

/** What the reasoning reader takes before the call; the window that ran is known only after it. */
export function reasoningSettings(request: CallRequest): ReasoningSettings {
  return {
    think: request.think === 'default' ? null : request.think,
    numPredict: request.numPredict,
    window: null,
    numCtx: request.numCtx,
    shift: request.policy === 'refuse' ? false : null,
    structured: false,
  };
}
