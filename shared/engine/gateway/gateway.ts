/**
 * The one place that every tool call passes (design, section 4.4). Read `step` first: admit in ranked order, run side by side,
 * settle, cap, judge. Every call gets exactly one result on every path, so a transcript stays valid whatever happens.
 */
import type { EndReason, Exhaustion, GatewayCall, GatewayCode, GuardTrip, Lease } from '../../contract/agents.ts';
import type { Bytes, Milliseconds } from '../../contract/units.ts';
import { bytes, milliseconds } from '../../contract/units.ts';
import type { BudgetTree, HoldId } from '../budget-tree/tree.ts';
import { createCancel } from '../cancel.ts';
import { type Json, canonicalText, parseJson } from '../guards/canonical.ts';
import type { Sha256 } from '../guards/fingerprint.ts';
import type { GuardedCall, Guards, Trip } from '../guards/guards.ts';
import { must } from '../must.ts';
import type { CancelSignal } from '../ports.ts';
import type { Breakers } from './breaker.ts';
import { capOutput } from './output-cap.ts';
import { READ_BLOB, readBlobTool } from './read-blob.ts';
import { type Refusal, refusalOfExhaustion } from './refusal.ts';
import { type Tool, type ToolAnswer, type ToolText, textOf } from './tool.ts';

/** A call as the model asked for it. Arguments come as text, since what is wrong with them shows only there. */
export interface ToolAsk {
  readonly id: string;
  readonly name: string;
  readonly argumentsText: string;
}

/** Full outputs, kept out of the context. Handles are random and good in one run of one user. */
export interface Blobs {
  put(text: ToolText): Promise<string>;
  /** null: no such handle in this run. Whole characters from `offset`; `bytes` of the whole. */
  read(
    handle: string,
    offset: number,
    bytesMax: number,
  ): Promise<{ text: string; nextOffset: number | null; bytes: number } | null>;
}

/** Starts an agent on a part of this one's budget, and comes back with its summary when it has ended. */
export interface Delegate {
  readonly name: string;
  run(
    parentId: string,
    args: Json,
    about: { readonly signal: CancelSignal },
  ): Promise<
    | { readonly ok: true; readonly childId: string; readonly text: string }
    | { readonly ok: false; readonly code: GatewayCode; readonly words: string; readonly exhaustion: Exhaustion | null }
  >;
}

export interface GatewayPorts {
  /** Milliseconds of awake time since the run began. */
  nowMs(): number;
  /** Calls back once, unless it was taken back before. */
  after(delayMs: number, then: () => void): () => void;
  readonly tree: BudgetTree;
  readonly guards: Guards;
  readonly breakers: Breakers;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly blobs: Blobs;
  readonly delegate: Delegate | null;
  readonly sha256: Sha256;
  /** Tokens that a text will have in the context. */
  tokensOf(text: string, textBytes: number): number;
  /** What the model reads when a call was not made. */
  wordRefusal(refusal: Refusal): string;
  /** Asks a person; false = no. Answers false when the run is cancelled. */
  approve(call: GatewayCall): Promise<boolean>;
  onCall(call: GatewayCall): void;
  onTrip(trip: GuardTrip): void;
  onLease(lease: Lease): void;
}

export interface GatewaySettings {
  /** Tokens of a capped output, which every call reserves. */
  readonly outputTokensMax: number;
  /** Results are charged to the tokens of their node; false where the model's turns are. */
  readonly chargeResults: boolean;
  readonly cache: boolean;
  readonly approvalAboveNanoDollars: number | null;
}

export interface StepResult {
  /** In the order of the asks. */
  readonly results: readonly {
    readonly id: string;
    readonly name: string;
    readonly text: string;
    readonly call: GatewayCall;
  }[];
  /** Why the agent has to end now; null = it may go on. */
  readonly stop: { readonly reason: EndReason; readonly exhaustion: Exhaustion | null } | null;
  readonly noProgress: number;
}

export interface Gateway {
  step(nodeId: string, step: number, asks: readonly ToolAsk[], signal: CancelSignal): Promise<StepResult>;
  /** Ends what was started and outlives its call; answers how many could not be ended. */
  releaseLeases(): Promise<number>;
  leases(): Lease[];
}

interface Admitted {
  readonly ask: ToolAsk;
  readonly index: number;
  readonly tool: Tool;
  readonly args: Json;
  readonly guarded: GuardedCall;
  readonly fingerprint: string;
  readonly hold: HoldId;
  readonly cached: ToolText | null;
  readonly warning: string | null;
}

/** What became of one ask; filled in as the step goes. */
interface Slot {
  call: GatewayCall;
  text: string;
  shown: { readonly tool: string; readonly text: string; readonly polls: boolean } | null;
}

const ARGUMENTS_HEAD = 2_000;
const RESULT_HEAD = 300;
const CACHE_ENTRIES_MAX = 2_000;

export function createGateway(ports: GatewayPorts, settings: GatewaySettings): Gateway {
  const { tree, guards } = ports;
  const callsByTool = new Map<string, number>();
  const cache = new Map<string, ToolText>();
  const leases = new Map<string, { lease: Lease; release(): Promise<void> }>();
  const readBlob = readBlobTool(ports.blobs, tree, settings.outputTokensMax);

  const toolOf = (name: string): Tool | undefined => (name === READ_BLOB ? readBlob : ports.tools.get(name));

  async function step(
    nodeId: string,
    stepNumber: number,
    asks: readonly ToolAsk[],
    signal: CancelSignal,
  ): Promise<StepResult> {
    const slots: Slot[] = asks.map((ask, index) => ({
      call: freshCall(nodeId, stepNumber, ask, index, ports.nowMs()),
      text: '',
      shown: null,
    }));
    const stops: { reason: EndReason; exhaustion: Exhaustion | null }[] = [];
    const admitted: Admitted[] = [];
    const delegations: { ask: ToolAsk; index: number; args: Json }[] = [];

    const refuse = (index: number, refusal: Refusal): void => {
      const slot = slots[index];
      must(slot !== undefined, 'a refusal answers a call of the step');
      const text = ports.wordRefusal(refusal);
      const tokens = chargeText(nodeId, text);
      slot.text = text;
      slot.call = {
        ...slot.call,
        outcome: refusal.code === 'fan-out' || refusal.code === 'not-run' ? 'not-run' : 'refused',
        code: refusal.code,
        exhaustion: refusal.exhaustion,
        resultHead: text.slice(0, RESULT_HEAD),
        tokens,
        endedMs: now(),
      };
      ports.onCall(slot.call);
    };

    const { fanOut } = tree.node(nodeId).limits;
    let budget: Exhaustion | null = null;
    for (const [index, ask] of asks.entries()) {
      if (index >= fanOut) {
        refuse(index, {
          code: 'fan-out',
          tool: ask.name,
          words: `not run: at most ${fanOut} calls in one step`,
          exhaustion: null,
        });
        continue;
      }
      if (signal.aborted) {
        refuse(index, { code: 'cancelled', tool: ask.name, words: 'not run: the run was stopped', exhaustion: null });
        continue;
      }
      // The first call that the budget refuses ends the step; what comes after it is not tried.
      if (budget !== null) {
        refuse(index, refusalOfExhaustion(ask.name, budget));
        continue;
      }
      const outcome = admit(nodeId, ask, index);
      if ('delegation' in outcome) delegations.push({ ask, index, args: outcome.delegation });
      else if ('admitted' in outcome) admitted.push(outcome.admitted);
      else {
        refuse(index, outcome.refusal);
        if (outcome.refusal.code === 'budget') budget = outcome.refusal.exhaustion;
        if (outcome.stop !== null) stops.push({ reason: outcome.stop, exhaustion: null });
      }
    }
    if (budget !== null) stops.push({ reason: reasonOf(budget), exhaustion: budget });

    await runAll(nodeId, admitted, slots, signal, refuse, stops);
    // A call that ran alone is judged here, in the order it was asked for: what came back first is chance.
    let subAgentReturned = false;
    for (const { ask, index, args } of delegations) {
      if (signal.aborted) {
        refuse(index, { code: 'cancelled', tool: ask.name, words: 'not run: the run was stopped', exhaustion: null });
        continue;
      }
      subAgentReturned = (await delegateTo(nodeId, ask, index, args, slots, signal, refuse)) || subAgentReturned;
    }

    const texts = slots.flatMap(({ shown }) => shown ?? []);
    const ended = guards.stepEnded({ nodeId, texts, subAgentReturned });
    spreadNovelty(slots, ended.newShingles);
    if (ended.trip !== null) {
      tell(ended.trip);
      if (ended.trip.stage === 'stop') stops.push({ reason: 'no-progress', exhaustion: null });
    }
    return {
      results: slots.map(({ call, text }, index) => ({ id: call.id, name: asks[index]?.name ?? '', text, call })),
      stop: stops[0] ?? null,
      noProgress: ended.noProgress,
    };
  }

  type Admission =
    | { readonly admitted: Admitted }
    | { readonly delegation: Json }
    | { readonly refusal: Refusal; readonly stop: EndReason | null };

  /** The ranked checks; the first that fails is the answer. The budget comes last, so that nothing is held for a call that is refused. */
  function admit(nodeId: string, ask: ToolAsk, index: number): Admission {
    const no = (code: GatewayCode, words: string, stop: EndReason | null = null): Admission => ({
      refusal: { code, tool: ask.name, words, exhaustion: null },
      stop,
    });
    const isDelegate = ports.delegate !== null && ask.name === ports.delegate.name;
    const tool = toolOf(ask.name);
    if (tool === undefined && !isDelegate) return no('unknown-tool', `there is no tool ${ask.name.slice(0, 100)}`);
    const polls = tool?.spec.polls ?? false;
    const about = { id: ask.id, nodeId, tool: ask.name, polls };

    const parsed = parseJson(ask.argumentsText.trim() === '' ? '{}' : ask.argumentsText);
    const wrong = parsed.ok ? (tool?.spec.check(parsed.value) ?? null) : `the arguments are no JSON (${parsed.fault})`;
    if (!parsed.ok || wrong !== null) {
      const trip = guards.broken(about);
      if (trip !== null) tell(trip);
      return no('broken-arguments', wrong ?? '', trip?.stage === 'stop' ? 'broken-arguments' : null);
    }
    if (isDelegate) return { delegation: parsed.value };
    must(tool !== undefined, 'a call that is no delegation has its tool');
    const guarded: GuardedCall = { ...about, args: parsed.value };
    const { fingerprint, trip } = guards.before(guarded);
    if (trip !== null) {
      tell(trip);
      const code = trip.guard === 'cycle' ? 'cycle' : 'identical-call';
      if (trip.stage !== 'warn') return no(code, trip.text, trip.stage === 'stop' ? stopOf(trip) : null);
    }
    const used = callsByTool.get(ask.name) ?? 0;
    if (tool.spec.callsMax !== null && used >= tool.spec.callsMax) {
      return no(
        'tool-limit',
        `${ask.name} was called ${used} times, and may be called ${tool.spec.callsMax} times in a run`,
      );
    }
    const waitMs = ports.breakers.admit(tool.spec.upstream, ports.nowMs());
    if (waitMs !== null) {
      return no(
        'breaker-open',
        `${tool.spec.upstream} failed again and again; it may be tried in ${Math.ceil(waitMs / 1_000)} s`,
      );
    }
    const key = cacheKey(tool, fingerprint);
    const cached = settings.cache && tool.spec.cacheable ? (cache.get(key) ?? null) : null;
    const hold = tree.hold(
      nodeId,
      {
        calls: 1,
        tokens: settings.chargeResults ? settings.outputTokensMax : 0,
        nanoDollars: cached === null ? tool.spec.nanoDollarsWorst : 0,
      },
      ports.nowMs(),
    );
    if (!hold.ok) return { refusal: refusalOfExhaustion(ask.name, hold.exhaustion), stop: null };
    callsByTool.set(ask.name, used + 1);
    const warning = trip?.stage === 'warn' ? trip.text : null;
    return {
      admitted: { ask, index, tool, args: parsed.value, guarded, fingerprint, hold: hold.value, cached, warning },
    };
  }

  /** Equal calls of one step run one after another, so that a loop inside a step is seen; all others side by side. */
  async function runAll(
    nodeId: string,
    admitted: readonly Admitted[],
    slots: Slot[],
    signal: CancelSignal,
    refuse: (index: number, refusal: Refusal) => void,
    stops: { reason: EndReason; exhaustion: Exhaustion | null }[],
  ): Promise<void> {
    const groups = new Map<string, Admitted[]>();
    for (const one of admitted) groups.set(one.fingerprint, [...(groups.get(one.fingerprint) ?? []), one]);
    const after = (one: Admitted, result: string): EndReason | null => {
      const judged = guards.after(one.guarded, result);
      const slot = slots[one.index];
      if (slot !== undefined) {
        slot.call = { ...slot.call, stateHash: judged.stateHash };
        if (judged.trip !== null && judged.trip.stage !== 'stop')
          slot.text = `${slot.text}\n[note: ${judged.trip.text}]`;
        ports.onCall(slot.call);
      }
      if (judged.trip === null) return null;
      tell(judged.trip);
      return judged.trip.stage === 'stop' ? stopOf(judged.trip) : null;
    };
    const alone: { one: Admitted; result: string }[] = [];
    await Promise.all(
      [...groups.values()].map(async (group) => {
        let over: EndReason | null = null;
        for (const one of group) {
          if (over !== null) {
            tree.settle(one.hold, { calls: 0, tokens: 0, nanoDollars: 0 });
            refuse(one.index, {
              code: 'not-run',
              tool: one.ask.name,
              words: 'not run: the run ends because of a loop',
              exhaustion: null,
            });
            continue;
          }
          const result = await runOne(nodeId, one, slots, signal);
          if (group.length === 1) alone.push({ one, result });
          else over = after(one, result);
        }
        if (over !== null) stops.push({ reason: over, exhaustion: null });
      }),
    );
    for (const { one, result } of alone.sort((a, b) => a.one.index - b.one.index)) {
      const over = after(one, result);
      if (over !== null) stops.push({ reason: over, exhaustion: null });
    }
  }

  /** Runs one admitted call to its end and settles it. Answers what its state is judged by. */
  async function runOne(nodeId: string, one: Admitted, slots: Slot[], signal: CancelSignal): Promise<string> {
    const slot = slots[one.index];
    must(slot !== undefined, 'an admitted call has its slot');
    const update = (change: Partial<GatewayCall>): void => {
      slot.call = { ...slot.call, ...change };
      ports.onCall(slot.call);
    };
    update({
      outcome: 'running',
      fingerprint: one.fingerprint,
      argumentsHead: canonicalText(one.args).slice(0, ARGUMENTS_HEAD),
      startedMs: now(),
    });
    const { spec } = one.tool;
    const above = settings.approvalAboveNanoDollars;
    if (one.cached === null && (spec.approval || (above !== null && spec.nanoDollarsWorst > above))) {
      update({ outcome: 'waiting-approval' });
      if (!(await ports.approve(slot.call))) {
        tree.settle(one.hold, { calls: 0, tokens: 0, nanoDollars: 0 });
        const text = ports.wordRefusal({
          code: 'approval-denied',
          tool: spec.name,
          words: 'a person did not allow it',
          exhaustion: null,
        });
        const tokens = chargeText(nodeId, text);
        slot.text = text;
        update({
          outcome: 'refused',
          code: 'approval-denied',
          resultHead: text.slice(0, RESULT_HEAD),
          tokens,
          endedMs: now(),
        });
        return text;
      }
      update({ outcome: 'running' });
    }
    const ran = one.cached === null ? await attempts(nodeId, one, signal) : null;
    const output = one.cached ?? ran?.answer.text ?? textOf('');
    const failed = ran !== null && ran.answer.failed;
    if (ran !== null && !failed && settings.cache && spec.cacheable && cache.size < CACHE_ENTRIES_MAX) {
      cache.set(cacheKey(one.tool, one.fingerprint), output);
    }
    const shown = await shownOf(nodeId, output, spec.keep);
    const note = one.warning === null ? '' : `\n[note: ${one.warning}]`;
    slot.text = `${shown.text}${note}`;
    const tokens = ports.tokensOf(slot.text, shown.bytes);
    const nanoDollars = ran?.nanoDollars ?? 0;
    tree.settle(one.hold, {
      calls: 1,
      tokens: settings.chargeResults ? tokens : 0,
      nanoDollars: ran === null ? 0 : ran.firstNanoDollars,
    });
    slot.shown = { tool: spec.name, text: shown.text, polls: spec.polls };
    update({
      outcome: one.cached !== null ? 'cached' : failed ? 'failed' : 'done',
      code: failed ? (ran.timedOut ? 'timeout' : 'tool-failed') : null,
      resultHead: shown.text.slice(0, RESULT_HEAD),
      outputBytes: output.bytes as Bytes,
      shownBytes: bytes(shown.bytes),
      handle: shown.handle,
      tokens,
      nanoDollars,
      attempts: ran?.attempts ?? 0,
      endedMs: now(),
    });
    return `${output.bytes === output.head.length ? '' : `${output.bytes} bytes: `}${output.head}`;
  }

  interface Ran {
    readonly answer: ToolAnswer;
    readonly attempts: number;
    readonly timedOut: boolean;
    /** All attempts together; the first is settled with the call's own hold. */
    readonly nanoDollars: number;
    readonly firstNanoDollars: number;
  }

  /** The one retry layer. Every attempt is paid: the first by the call's hold, each further one by a hold of its own. */
  async function attempts(nodeId: string, one: Admitted, signal: CancelSignal): Promise<Ran> {
    const { spec } = one.tool;
    let total = 0;
    let first = 0;
    for (let attempt = 1; ; attempt += 1) {
      const { answer, timedOut } = await invoke(nodeId, one, attempt, signal);
      const cost = answer.nanoDollars ?? spec.nanoDollarsWorst;
      total += cost;
      if (attempt === 1) first = cost;
      ports.breakers.report(spec.upstream, answer.failed && answer.retryable, ports.nowMs());
      if (answer.lease !== null) keepLease(nodeId, spec.name, one.ask.id, answer.lease);
      const again =
        answer.failed &&
        answer.retryable &&
        attempt < spec.attemptsMax &&
        !signal.aborted &&
        ports.breakers.admit(spec.upstream, ports.nowMs()) === null;
      const result = { answer, attempts: attempt, timedOut, nanoDollars: total, firstNanoDollars: first };
      if (!again) return result;
      const amounts = { calls: 1, tokens: 0, nanoDollars: spec.nanoDollarsWorst };
      const hold = tree.hold(nodeId, amounts, ports.nowMs());
      if (!hold.ok) return result;
      // Settled at once at its worst case: what it really costs is known only after it, and is then given back.
      tree.settle(hold.value, amounts);
    }
  }

  /** One attempt with a time limit that holds also for a tool that does not listen. */
  async function invoke(
    nodeId: string,
    one: Admitted,
    attempt: number,
    signal: CancelSignal,
  ): Promise<{ readonly answer: ToolAnswer; readonly timedOut: boolean }> {
    const { spec } = one.tool;
    const own = createCancel();
    const release = signal.onAbort(() => own.cancel(signal.reason ?? 'person'));
    const treeMs = tree.timeLeftMs(nodeId, ports.nowMs());
    const limitMs = Math.max(1, Math.min(spec.timeoutMs, treeMs ?? Infinity));
    let timedOut = false;
    let takeBack = (): void => undefined;
    const over = new Promise<ToolAnswer>((resolve) => {
      const give = (words: string): void => resolve(failedAnswer(words));
      takeBack = ports.after(limitMs, () => {
        timedOut = true;
        own.cancel('timeout');
        give(`${spec.name} did not answer within ${limitMs} ms`);
      });
      own.signal.onAbort(() => {
        if (!timedOut) give(`${spec.name} was stopped`);
      });
    });
    try {
      const asked = one.tool
        .invoke(one.args, { signal: own.signal, attempt, nodeId })
        .catch((error: unknown) =>
          failedAnswer(`${spec.name} failed: ${error instanceof Error ? error.message : String(error)}`),
        );
      const answer = await Promise.race([asked, over]);
      return { answer: timedOut ? { ...answer, failed: true, retryable: true } : answer, timedOut };
    } finally {
      takeBack();
      release();
    }
  }

  async function delegateTo(
    nodeId: string,
    ask: ToolAsk,
    index: number,
    args: Json,
    slots: Slot[],
    signal: CancelSignal,
    refuse: (index: number, refusal: Refusal) => void,
  ): Promise<boolean> {
    const slot = slots[index];
    must(ports.delegate !== null && slot !== undefined, 'a delegation has its slot');
    slot.call = {
      ...slot.call,
      outcome: 'running',
      argumentsHead: canonicalText(args).slice(0, ARGUMENTS_HEAD),
      startedMs: now(),
    };
    ports.onCall(slot.call);
    const answer = await ports.delegate.run(nodeId, args, { signal });
    if (!answer.ok) {
      refuse(index, { code: answer.code, tool: ask.name, words: answer.words, exhaustion: answer.exhaustion });
      return false;
    }
    const shown = await shownOf(nodeId, textOf(answer.text), 'head');
    slot.text = shown.text;
    const tokens = chargeText(nodeId, shown.text);
    slot.call = {
      ...slot.call,
      outcome: 'done',
      childId: answer.childId,
      resultHead: shown.text.slice(0, RESULT_HEAD),
      outputBytes: bytes(textOf(answer.text).bytes),
      shownBytes: bytes(shown.bytes),
      handle: shown.handle,
      tokens,
      attempts: 1,
      endedMs: now(),
    };
    ports.onCall(slot.call);
    return true;
  }

  async function shownOf(
    nodeId: string,
    output: ToolText,
    keep: 'head' | 'head-and-tail',
  ): Promise<{ readonly text: string; readonly bytes: number; readonly handle: string | null }> {
    const cap = tree.node(nodeId).limits.outputBytes;
    const isOver = cap !== null && output.bytes > cap;
    const isPart = output.handle !== null;
    if (!isOver && !isPart) return { text: output.head, bytes: output.bytes, handle: null };
    const handle = output.handle ?? (await ports.blobs.put(output));
    const shown = capOutput(output, cap, keep, () => handle);
    return { text: shown.text, bytes: shown.bytes, handle: shown.wasCut ? handle : null };
  }

  /** A text that comes into the context whether or not there is room for it: it is short, and it has been said. */
  function chargeText(nodeId: string, text: string): number {
    const tokens = ports.tokensOf(text, textOf(text).bytes);
    if (settings.chargeResults) tree.chargeAnyway(nodeId, { calls: 0, tokens, nanoDollars: 0 });
    return tokens;
  }

  function keepLease(
    nodeId: string,
    tool: string,
    callId: string,
    { what, release }: NonNullable<ToolAnswer['lease']>,
  ): void {
    const lease: Lease = {
      id: `${callId}/lease`,
      nodeId,
      tool,
      what: what.slice(0, 500),
      openedMs: now(),
      state: 'open',
    };
    leases.set(lease.id, { lease, release });
    ports.onLease(lease);
  }

  const now = (): Milliseconds => milliseconds(Math.max(0, Math.round(ports.nowMs())));
  const tell = (trip: Trip): void => ports.onTrip({ ...trip, atMs: now() });
  const cacheKey = (tool: Tool, fingerprint: string): string => `${fingerprint} ${tool.spec.authorisation}`;

  return {
    step,
    async releaseLeases() {
      for (const [id, entry] of leases) {
        if (entry.lease.state !== 'open') continue;
        const state = await entry.release().then(
          () => 'released' as const,
          () => 'failed' as const,
        );
        const lease: Lease = { ...entry.lease, state };
        leases.set(id, { ...entry, lease });
        ports.onLease(lease);
      }
      return [...leases.values()].filter(({ lease }) => lease.state !== 'released').length;
    },
    leases: () => [...leases.values()].map(({ lease }) => lease),
  };
}

function failedAnswer(words: string): ToolAnswer {
  return { text: textOf(words), nanoDollars: null, failed: true, retryable: true, lease: null };
}

function freshCall(nodeId: string, step: number, ask: ToolAsk, index: number, atMs: number): GatewayCall {
  const at = milliseconds(Math.max(0, Math.round(atMs)));
  return {
    id: ask.id,
    nodeId,
    step,
    index,
    tool: ask.name.slice(0, 300),
    argumentsHead: ask.argumentsText.slice(0, ARGUMENTS_HEAD),
    fingerprint: null,
    stateHash: null,
    outcome: 'running',
    code: null,
    exhaustion: null,
    resultHead: '',
    outputBytes: bytes(0),
    shownBytes: bytes(0),
    handle: null,
    tokens: 0,
    nanoDollars: 0,
    attempts: 0,
    newShingles: null,
    startedMs: at,
    endedMs: null,
    childId: null,
  };
}

export function reasonOf({ dimension }: Exhaustion): EndReason {
  if (dimension === 'tokens') return 'budget-tokens';
  if (dimension === 'nano-dollars') return 'budget-money';
  if (dimension === 'wall-clock') return 'budget-time';
  return 'budget-calls';
}

function stopOf({ guard }: Trip): EndReason {
  return guard;
}

/** The step's new phrases belong to its last output on screen: they are counted over the step as a whole. */
function spreadNovelty(slots: Slot[], newShingles: number | null): void {
  const last = slots.findLast(({ shown }) => shown !== null);
  if (last !== undefined) last.call = { ...last.call, newShingles };
}
