/** What is known about server and model before a call: facts, what was learned, what earlier calls have shown. */
import { createHash } from 'node:crypto';
import type { CallRecord, CallRequest } from '../../contract/calls.ts';
import { type Result, denied, ok } from '../../contract/denials.ts';
import type { Tokens } from '../../contract/units.ts';
import { type LearnedRatio, estimateMessages, learnRatio } from '../../engine/estimate/estimate.ts';
import type { CancelSignal, Subject, SubjectPort } from '../../engine/ports.ts';
import { findRunning, fullName } from '../../engine/running.ts';
import type { Store } from '../storage/store-types.ts';
import { type ServerWatch, notUp } from './server-watch.ts';

/** Prompts whose true count is remembered; the oldest goes first. */
const COUNTED_MAX = 500;
const WINDOWS_MAX = 20;
/** Reading a longer prompt again costs this thread more than one more sample is worth. */
const LEARN_CHARACTERS_MAX = 500_000;

export interface Subjects extends SubjectPort {
  /** Learns from a finished call: characters per token, the server's default window, memory at that window. */
  learn(record: CallRecord): void;
  /** The server counted this very prompt, uncut, in a call that left no record. */
  learnPrompt(request: CallRequest, promptTokens: number): void;
  /** The model was just loaded without num_ctx: the window it runs in is the server's default for it. */
  learnDefault(model: string): void;
  /** The smallest window that this server's models ran in without being asked for one; null where no call has shown it. */
  defaultWindow(): Tokens | null;
  /** What was learned of characters per token; `simulated` apart from real models of one name. */
  learned(): { readonly model: string; readonly simulated: boolean; readonly learned: LearnedRatio }[];
  /** Starts anew with the script table, now and after a restart; answers how many models. null = all. */
  forget(model: { readonly name: string; readonly simulated: boolean } | null): Result<number>;
}

const SIMULATED = 'simulated ';

export function createSubjects(options: { watch: ServerWatch; store: Store; localOnly: () => boolean }): Subjects {
  const { watch, store } = options;
  const learned = new Map<string, LearnedRatio>();
  for (const [key, json] of store.learnedRatios()) {
    const ratio = parseRatio(json);
    if (ratio !== null) learned.set(key, ratio);
  }
  const defaults = new Map<string, Tokens>();
  const memory = new Map<string, Map<number, number>>();
  const turns = new Map<string, { promptEvalCount: number; characters: number }>();
  const counted = new Map<string, number>();
  /** The simulator's models are no model of a real server, even under one name. */
  const keyOf = (model: string): string => `${watch.status().kind === 'simulator' ? SIMULATED : ''}${fullName(model)}`;
  const serverKey = (): string => watch.target().address.url;

  return {
    async of(model, signal): Promise<Result<Subject>> {
      const refused = await admit(model, signal);
      if (refused !== null) return refused;
      const status = watch.status();
      const facts = await watch.facts(model, signal);
      const key = keyOf(model);
      return ok({
        server: status.url,
        serverVersion: status.version,
        simulated: status.kind === 'simulator',
        facts: facts.ok ? facts.value : null,
        digest:
          status.models.find((entry) => fullName(entry.name) === fullName(model))?.digest ??
          (facts.ok ? facts.value.digest : null),
        learned: learned.get(key) ?? null,
        defaultNumCtx: defaults.get(`${serverKey()} ${key}`) ?? null,
        running: status.running,
        countedOf: (request) => counted.get(promptKey(key, request)) ?? null,
        previousOf: (request) => turnBefore(key, request),
        memorySeen: [...(memory.get(key) ?? [])].map(([window, bytes]) => ({ window, bytes })),
      });
    },
    learnPrompt: (request, promptTokens) => rememberCount(keyOf(request.model), request, promptTokens),
    learnDefault(model) {
      const running = findRunning(watch.status().running, model, null);
      const window = running?.contextLength ?? null;
      if (window !== null) defaults.set(`${serverKey()} ${keyOf(model)}`, window);
    },
    defaultWindow() {
      const server = `${serverKey()} `;
      const windows = [...defaults].filter(([key]) => key.startsWith(server)).map(([, window]) => window);
      return windows.sort((a, b) => a - b)[0] ?? null;
    },
    learn(record) {
      const key = keyOf(record.request.model);
      if (record.simulated !== (watch.status().kind === 'simulator')) return;
      if (record.numCtxRunning !== null) {
        if (record.request.numCtx === null) defaults.set(`${serverKey()} ${key}`, record.numCtxRunning);
        if (record.memoryBytes !== null) remember(memory, key, record.numCtxRunning, record.memoryBytes);
      }
      rememberTurn(record, key);
      learnCount(record, key);
    },
    learned: () =>
      [...learned].map(([key, ratio]) => {
        const simulated = key.startsWith(SIMULATED);
        return { model: simulated ? key.slice(SIMULATED.length) : key, simulated, learned: ratio };
      }),
    forget(model) {
      const key = model === null ? null : `${model.simulated ? SIMULATED : ''}${fullName(model.name)}`;
      const forgotten = store.forgetLearnedRatios(key);
      if (!forgotten.ok) return forgotten;
      if (key === null) learned.clear();
      else learned.delete(key);
      return forgotten;
    },
  };

  /** What each turn of a conversation counted, whole or cut: a later turn that counts less has lost something. */
  function rememberTurn(record: CallRecord, key: string): void {
    const { promptEvalCount } = record.reply;
    if (promptEvalCount === null || record.runId !== null || record.promptCharacters > LEARN_CHARACTERS_MAX) return;
    turns.set(promptKey(key, record.request), { promptEvalCount, characters: record.promptCharacters });
    if (turns.size > COUNTED_MAX) turns.delete(turns.keys().next().value ?? '');
  }

  /** The call that this conversation goes on from: the same messages without the last answer and the new question. */
  function turnBefore(key: string, request: CallRequest): { promptEvalCount: number; characters: number } | null {
    const { messages } = request;
    if (messages.length < 3 || messages.at(-2)?.role !== 'assistant') return null;
    return turns.get(promptKey(key, { ...request, messages: messages.slice(0, -2) })) ?? null;
  }

  /** A cloud model never leaves in local-only mode; a server that is down is looked at once more before saying so. */
  async function admit(model: string, signal: CancelSignal): Promise<Result<never> | null> {
    if (watch.status().state !== 'up') await watch.look();
    const status = watch.status();
    if (status.state !== 'up') return notUp(status);
    if (signal.aborted) return denied('cancelled', 'Stopped before it was sent.');
    const cloud =
      /[:-]cloud$/i.test(model.trim()) ||
      status.models.some((entry) => entry.cloud && fullName(entry.name) === fullName(model));
    if (cloud && options.localOnly()) {
      return denied('cloud-model', `${model} runs on another machine, and Spillway is in local-only mode.`, {
        field: 'model',
        next: 'Choose a local model, or switch local-only mode off in Settings.',
      });
    }
    return null;
  }

  function rememberCount(key: string, request: CallRequest, count: number): void {
    counted.set(promptKey(key, request), count);
    if (counted.size > COUNTED_MAX) counted.delete(counted.keys().next().value ?? '');
  }

  function learnCount(record: CallRecord, key: string): void {
    const count = record.reply.promptEvalCount;
    const isUncut =
      record.truncation.kinds.every((kind) => kind === 'intact') &&
      (record.truncation.confidence === 'exact' || record.truncation.confidence === 'certain');
    if (count === null || !isUncut || record.promptCharacters > LEARN_CHARACTERS_MAX) return;
    rememberCount(key, record.request, count);
    const sizes = estimateMessages(record.request.messages);
    const before = learned.get(key) ?? null;
    const after = learnRatio(before, {
      script: sizes.script,
      tableTokens: sizes.tableTokens,
      countedTokens: count,
      messages: record.request.messages.length,
      characters: sizes.total.characters,
    });
    if (after === before) return;
    learned.set(key, after);
    store.saveLearnedRatio(key, JSON.stringify(after));
  }
}

function remember(memory: Map<string, Map<number, number>>, key: string, window: number, bytes: number): void {
  const seen = memory.get(key) ?? new Map<number, number>();
  memory.set(key, seen.set(window, bytes));
  if (seen.size > WINDOWS_MAX) seen.delete(seen.keys().next().value ?? 0);
}

/** The count belongs to the whole prompt as it went out; the thinking switch can change the template. */
function promptKey(model: string, request: CallRequest): string {
  const hash = createHash('sha256');
  hash.update(`${model}\n${request.route}\n${String(request.think)}\n`);
  for (const message of request.messages)
    hash.update(`${message.role} ${message.content.length} ${toolPart(message)}\n`).update(message.content);
  hash.update(JSON.stringify(request.tools ?? []));
  return hash.digest('base64');
}

const toolPart = ({ toolCalls, toolName }: CallRequest['messages'][number]): string =>
  toolCalls === undefined && toolName === undefined ? '' : JSON.stringify([toolCalls ?? [], toolName ?? '']);

function parseRatio(json: string): LearnedRatio | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && 'scripts' in value ? (value as LearnedRatio) : null;
  } catch {
    return null;
  }
}
