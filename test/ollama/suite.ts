/**
 * What Spillway relies on in an Ollama server, asked through the door. The same tests run against the simulator on every
 * change and against a real server on demand; they hold for any small model, so they judge counts and endings, never words.
 */
import { describe, expect, test } from 'vitest';
import type { CallRequest, Reply } from '../../shared/contract/calls.ts';
import { callRequestSchema } from '../../shared/contract/calls.ts';
import type { Result } from '../../shared/contract/denials.ts';
import type { ModelFacts } from '../../shared/contract/server.ts';
import { createCancel, never } from '../../shared/engine/cancel.ts';
import { estimateMessages } from '../../shared/engine/estimate/estimate.ts';
import type { CancelSignal, Clock, ModelEvent, Subject } from '../../shared/engine/ports.ts';
import { truncationInput } from '../../shared/engine/readings.ts';
import { createReplyBuilder } from '../../shared/engine/reply-builder.ts';
import { findRunning } from '../../shared/engine/running.ts';
import { classifyTruncation } from '../../shared/engine/truncation/classify.ts';
import { eraOf, heedsFlags } from '../../shared/engine/truncation/cut-size.ts';
import { wireRequest } from '../../shared/engine/wire-body.ts';
import { type OllamaDoor, createOllamaDoor } from '../../shared/node/ollama/door.ts';
import { look } from '../../shared/node/ollama/look.ts';

export interface SuiteSubject {
  readonly url: string;
  /** Calls that the server saw its client leave, where it can tell (the simulator). */
  readonly seenAborts?: () => number;
}

const clock: Clock = { now: () => new Date().toISOString(), monotonicMs: () => performance.now() };
const callTimeoutMs = 300_000;

/** `start` runs once, before the tests; each call may wait long, because the first one loads the model. */
export function contractSuite(name: string, start: () => Promise<SuiteSubject>): void {
  describe(name, { timeout: callTimeoutMs }, () => {
    // Not a hook: where the server is not there, every test has to fail and say so, not to be left out.
    let prepared: Promise<Server> | null = null;
    const ready = (): Promise<Server> => (prepared ??= prepare(start));

    test('look finds the server and its version', async () => {
      const server = await ready();
      const report = await look(server.door.address, { timeoutMs: 10_000 });
      expect(report).toMatchObject({ version: server.version, problem: null });
    });

    test('the list names the model with its size and digest', async () => {
      const server = await ready();
      const listed = valueOf(await server.door.tags(never)).find((each) => each.name === server.model);
      expect(listed).toMatchObject({ sizeBytes: expect.any(Number), digest: expect.stringMatching(/^[0-9a-f]{12,}$/) });
    });

    test('show tells the trained window and what the model can do', async () => {
      const server = await ready();
      expect(server.facts.trainedContext).toBeGreaterThan(0);
      expect(server.facts.embeddingOnly).toBe(false);
      expect(server.facts.architecture).toEqual(expect.any(String));
    });

    test('an unknown model is refused as one', async () => {
      const server = await ready();
      expect(await server.door.show('no-such-model-here', never)).toMatchObject({
        ok: false,
        denial: { code: 'unknown-model' },
      });
      const { reply } = await run(server.door, request({ model: 'no-such-model-here' }));
      expect(reply).toMatchObject({ ending: 'refused', status: 404, error: expect.stringContaining('not found') });
    });

    test.each([
      ['chat, streamed', { route: 'chat', stream: true }],
      ['chat, not streamed', { route: 'chat', stream: false }],
      ['generate, streamed', { route: 'generate', stream: true }],
      ['generate, not streamed', { route: 'generate', stream: false }],
    ] as const)('%s', async (_what, more) => {
      const server = await ready();
      const { reply, kinds } = await run(server.door, request({ model: server.model, ...more, numPredict: 12 }));
      expect(kinds).toMatch(more.stream ? /^shc*e$/ : /^shc?e$/);
      // The repeat guard ends a reply without a done line; a small model may run into it, and then nothing else is told.
      if (reply.ending === 'cut') return;
      expect(reply).toMatchObject({ ending: 'done', done: true, status: 200, error: null });
      expect(reply.doneReason).toMatch(/^(stop|length)$/);
      expect(reply.promptEvalCount).toBeGreaterThan(0);
      expect(reply.evalCount).toBeGreaterThan(0);
      expect(reply.evalCount).toBeLessThanOrEqual(12);
      expect(reply.totalDurationMs).toBeGreaterThanOrEqual(reply.evalDurationMs ?? 0);
      expect(reply.answerChunks + reply.thinkingChunks).toBeLessThanOrEqual(more.stream ? 13 : 2);
      if (more.route === 'chat') expect(reply.contextLength).toBeNull();
    });

    test('num_ctx is the window that runs', async () => {
      const server = await ready();
      await run(server.door, request({ model: server.model, numCtx: 512 }));
      const running = valueOf(await server.door.ps(never));
      const found = findRunning(running, server.model, server.facts.digest);
      // Models that see are given at least 2,048; servers before 0.10 do not tell.
      const least = server.facts.capabilities.includes('vision') ? 2_048 : 512;
      expect([least, null]).toContain(found?.contextLength ?? null);
      if (found !== null) expect(found.sizeBytes).toBeGreaterThan(0);
    });

    test('a cancel while the model reads frees the server, streamed or not', async () => {
      const server = await ready();
      const { seenAborts } = server.subject;
      await run(server.door, request({ model: server.model, numCtx: 4096 }));
      const before = seenAborts?.() ?? 0;
      for (const stream of [true, false]) {
        const cancel = createCancel();
        const asked = request({
          model: server.model,
          numCtx: 4096,
          numPredict: 400,
          stream,
          messages: [user(filler(9_000))],
        });
        const { reply } = await run(server.door, asked, cancel.signal, (event) => {
          // Not at once: the server must have read the request, or there is nothing for it to give up.
          if (event.kind === 'sent') setTimeout(() => cancel.cancel('person'), 30);
        });
        expect(reply).toMatchObject({ ending: 'aborted', abortedBy: 'person', promptEvalCount: null });
      }
      const { reply } = await run(server.door, request({ model: server.model, numCtx: 4096 }));
      expect(['done', 'cut']).toContain(reply.ending);
      if (seenAborts !== undefined) await expect.poll(seenAborts, { timeout: 10_000 }).toBe(before + 2);
    });

    test('a cancel in the middle keeps the text that came', async () => {
      const server = await ready();
      const cancel = createCancel();
      const asked = request({
        model: server.model,
        numPredict: 400,
        messages: [user('Write a long story about a lighthouse.')],
      });
      const { reply } = await run(server.door, asked, cancel.signal, (event) => {
        if (event.kind === 'chunk') cancel.cancel('person');
      });
      expect(reply).toMatchObject({
        ending: 'aborted',
        abortedBy: 'person',
        status: 200,
        promptEvalCount: null,
        evalCount: null,
      });
      expect(reply.answerChunks + reply.thinkingChunks).toBeLessThanOrEqual(1);
    });

    test('two calls at once: the end of one is not the end of the other', async () => {
      const server = await ready();
      const cancel = createCancel();
      const leaving = run(server.door, request({ model: server.model, numPredict: 200 }), cancel.signal, (event) => {
        if (event.kind === 'sent') cancel.cancel('person');
      });
      const staying = run(server.door, request({ model: server.model }));
      expect((await leaving).reply.ending).toBe('aborted');
      expect(['done', 'cut']).toContain((await staying).reply.ending);
    });

    test('a prompt of three windows is cut or refused, and the verdict is sure of it', async () => {
      const server = await ready();
      const window = smallWindow(server.facts);
      const asked = request({
        model: server.model,
        numCtx: window,
        numPredict: 4,
        messages: [user(filler(12 * window))],
      });
      const { reply } = await run(server.door, asked);
      const found = findRunning(valueOf(await server.door.ps(never)), server.model, server.facts.digest);
      const sizes = estimateMessages(asked.messages);
      const verdict = classifyTruncation(truncationInput(asked, subjectOf(server), sizes, reply, found));
      if (reply.ending === 'refused') {
        expect(reply.needs).toBeGreaterThan(window);
        expect(verdict).toMatchObject({ kinds: ['refused'], confidence: 'exact', needs: reply.needs, has: reply.has });
        return;
      }
      if ((reply.promptEvalCount ?? 0) > window) {
        // Only an engine that never cuts reads more than the window, and show does not call it rendered or native.
        expect(server.facts.promptPath).toBe('unknown');
        expect(verdict.kinds).not.toContain('halved');
        return;
      }
      expect(['certain', 'exact']).toContain(verdict.confidence);
      const era = eraOf(server.version);
      if (era !== null) expect(verdict.kinds).toContain(era === 'keeps-half' ? 'halved' : 'cut-to-window');
      expect(verdict.kept).toBe(reply.promptEvalCount);
    });

    test('with the policy refuse the same prompt is a refusal', async () => {
      const server = await ready();
      const window = smallWindow(server.facts);
      const messages = [user(filler(12 * window))];
      const { reply } = await run(
        server.door,
        request({ model: server.model, numCtx: window, numPredict: 4, policy: 'refuse', messages }),
      );
      if (!heedsFlags(server.version) || server.facts.promptPath === 'unknown') {
        expect(reply.ending).not.toBe('unreachable');
        return;
      }
      expect(reply).toMatchObject({ ending: 'refused', status: 400, promptEvalCount: null });
      if (reply.needs !== null) expect(reply.needs).toBeGreaterThan(reply.has ?? 0);
    });
  });
}

interface Server {
  readonly subject: SuiteSubject;
  readonly door: OllamaDoor;
  readonly version: string;
  readonly model: string;
  readonly facts: ModelFacts;
}

async function prepare(start: () => Promise<SuiteSubject>): Promise<Server> {
  const subject = await start();
  const door = createOllamaDoor({ url: subject.url, clock });
  const version = valueOf(await door.version(never));
  const facts = await smallestModel(door);
  return { subject, door, version, model: facts.name, facts };
}

/** The smallest model that generates, by its size on disk. */
async function smallestModel(door: OllamaDoor): Promise<ModelFacts> {
  const local = valueOf(await door.tags(never)).filter((model) => !model.cloud);
  local.sort((a, b) => (a.sizeBytes ?? Infinity) - (b.sizeBytes ?? Infinity));
  for (const { name } of local) {
    const facts = valueOf(await door.show(name, never));
    const speaks = facts.capabilities.length === 0 || facts.capabilities.includes('completion');
    if (speaks && !facts.embeddingOnly) return facts;
  }
  throw new Error(`${door.address.label} has no local model that generates: pull a small one first.`);
}

function request(
  more: Partial<Omit<CallRequest, 'numCtx' | 'numPredict'>> & { model: string; numCtx?: number; numPredict?: number },
): CallRequest {
  return callRequestSchema.parse({
    route: 'chat',
    messages: [user('Say hello.')],
    numCtx: null,
    numPredict: 8,
    think: 'default',
    temperature: 0,
    seed: 7,
    policy: 'warn',
    ...more,
  });
}

function user(content: string): CallRequest['messages'][number] {
  return { role: 'user', content };
}

/** Small enough to overflow quickly, and not larger than what the model was trained for. */
function smallWindow(facts: ModelFacts): number {
  return Math.min(2_048, facts.trainedContext ?? 2_048);
}

/** Plain English of at least so many characters. */
function filler(characters: number): string {
  const topics = ['parking', 'travel', 'badges', 'laptops', 'training', 'visitors', 'lunch', 'archives'];
  let text = 'The launch code is KESTREL-4417. ';
  for (let part = 1; text.length < characters; part += 1) {
    text += `Part ${part}: questions about ${topics[part % topics.length] ?? ''} go to room ${(part * 37) % 900} and are closed within ${(part % 9) + 1} days. `;
  }
  return `${text}What is the launch code?`;
}

async function run(
  door: OllamaDoor,
  asked: CallRequest,
  signal: CancelSignal = never,
  onEvent: (event: ModelEvent) => void = () => undefined,
): Promise<{ reply: Reply; kinds: string }> {
  const wire = valueOf(wireRequest(asked));
  const builder = createReplyBuilder();
  const beganMs = clock.monotonicMs();
  let kinds = '';
  let reply: Reply | null = null;
  for await (const event of eachOf(door.stream({ ...wire, timeoutMs: callTimeoutMs }, signal))) {
    kinds += event.kind.charAt(0);
    onEvent(event);
    if (event.kind === 'chunk') builder.chunk(event, clock.monotonicMs() - beganMs);
    if (event.kind === 'end') reply = builder.finish(event.end, clock.monotonicMs() - beganMs);
  }
  if (reply === null) throw new Error('the stream had no end');
  return { reply, kinds };
}

function subjectOf(server: Server): Subject {
  return {
    server: server.door.address.label,
    serverVersion: server.version,
    simulated: false,
    facts: server.facts,
    digest: server.facts.digest,
    learned: null,
    defaultNumCtx: null,
    running: [],
  };
}

function valueOf<Value>(result: Result<Value>): Value {
  if (result.ok) return result.value;
  throw new Error(`${result.denial.message} ${result.denial.next ?? ''}`);
}

async function* eachOf(portions: AsyncIterable<readonly ModelEvent[]>): AsyncGenerator<ModelEvent> {
  for await (const portion of portions) yield* portion;
}
