/**
 * The one place that every tool call passes (design, section 4.4). Read `step` first: admit in ranked order, run side by side,
 * settle, cap, judge. Every call gets exactly one result on every path, so a transcript stays valid whatever happens.
 */
import type { EndReason, Exhaustion, GatewayCall, GatewayCode, GuardTrip, Lease } from '../../contract/agents.ts';
import type { Bytes, Milliseconds } from '../../contract/units.ts';
import { bytes, milliseconds } from '../../contract/units.ts';
import type { BudgetTree, HoldId } from '../budget-tree/tree.ts';
import { type Json, canonicalText } from '../guards/canonical.ts';
import { type Sha256, callFingerprint } from '../guards/fingerprint.ts';
import type { GuardedCall, Guards, Trip } from '../guards/guards.ts';
import { must } from '../must.ts';
import type { CancelSignal } from '../ports.ts';
import { utf8Bytes } from '../utf8.ts';
import { readArguments } from './arguments.ts';
import { type Ran, runAttempts } from './attempts.ts';
import type { Breakers } from './breaker.ts';
import { createCache } from './cache.ts';
import { createLeases } from './leases.ts';
import { capOutput } from './output-cap.ts';
import { READ_BLOB, readBlobTool } from './read-blob.ts';
import { type Refusal, refusalOfExhaustion } from './refusal.ts';
import { type Tool, type ToolText, textOf } from './tool.ts';

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
  /** Calls of each tool that the run has made before; left out = none. */
  readonly callsByTool?: readonly (readonly [string, number])[];
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

export function createGateway(ports: GatewayPorts, settings: GatewaySettings): Gateway {
  const { tree, guards } = ports;
  const callsByTool = new Map<string, number>(settings.callsByTool);
  const cache = createCache();
  const leases = createLeases({ now: () => now(), after: ports.after, onLease: ports.onLease });
  const readBlob = readBlobTool(ports.blobs, tree, settings.outputTokensMax);

  /** The gateway's own tools cannot be replaced by one of the same name. */
  function toolOf(name: string): Tool | undefined {
    if (name === READ_BLOB) return readBlob;
    return name === ports.delegate?.name ? undefined : ports.tools.get(name);
  }

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
    const delegations: { ask: ToolAsk; index: number; guarded: GuardedCall }[] = [];

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
      if ('delegation' in outcome) delegations.push({ ask, index, guarded: outcome.delegation });
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
    for (const { ask, index, guarded } of delegations) {
      if (signal.aborted) {
        refuse(index, { code: 'cancelled', tool: ask.name, words: 'not run: the run was stopped', exhaustion: null });
        continue;
      }
      const returned = await delegateTo(nodeId, ask, index, guarded, slots, signal, refuse);
      subAgentReturned ||= returned.ok;
      if (returned.stop !== null) stops.push({ reason: returned.stop, exhaustion: null });
    }

    const texts = slots.flatMap(({ shown }) => shown ?? []);
    const ended = guards.stepEnded({ nodeId, texts, subAgentReturned });
    const novel = spreadNovelty(slots, ended.newShingles);
    if (novel !== null) ports.onCall(novel);
    if (ended.trip !== null) {
      tell(ended.trip);
      if (ended.trip.stage === 'stop') stops.push({ reason: 'no-progress', exhaustion: null });
    }
    // After a state hash there is no closing call: it goes before what else happened in the step.
    const stop = stops.find(({ reason }) => reason === 'state-hash') ?? stops[0] ?? null;
    return {
      results: slots.map(({ call, text }, index) => ({ id: call.id, name: asks[index]?.name ?? '', text, call })),
      stop,
      noProgress: ended.noProgress,
    };
  }

  type Admission =
    | { readonly admitted: Admitted }
    | { readonly delegation: GuardedCall }
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

    const read = readArguments(ask.argumentsText, tool);
    if (!read.ok) {
      const trip = guards.broken(about);
      if (trip !== null) tell(trip);
      return no('broken-arguments', read.words, trip?.stage === 'stop' ? 'broken-arguments' : null);
    }
    const guarded: GuardedCall = { ...about, args: read.args };
    const { fingerprint, trip } = guards.before(guarded);
    if (trip !== null) {
      tell(trip);
      const code = trip.guard === 'cycle' ? 'cycle' : 'identical-call';
      if (trip.stage !== 'warn') return no(code, trip.text, trip.stage === 'stop' ? stopOf(trip) : null);
    }
    if (isDelegate) return { delegation: guarded };
    must(tool !== undefined, 'a call that is no delegation has its tool');
    const notRun = (admission: Admission): Admission => {
      guards.notRun(guarded);
      return admission;
    };
    const used = callsByTool.get(ask.name) ?? 0;
    if (tool.spec.callsMax !== null && used >= tool.spec.callsMax) {
      const words = `${ask.name} was called ${used} times, and may be called ${tool.spec.callsMax} times in a run`;
      return notRun(no('tool-limit', words));
    }
    const cached = cachedOf(tool, read.args) !== null;
    const waitMs = cached ? null : ports.breakers.admit(tool.spec.upstream, ports.nowMs());
    if (waitMs !== null) {
      const words = `${tool.spec.upstream} failed again and again; it may be tried in ${Math.ceil(waitMs / 1_000)} s`;
      return notRun(no('breaker-open', words));
    }
    const amounts = {
      calls: 1,
      tokens: settings.chargeResults ? settings.outputTokensMax : 0,
      nanoDollars: cached ? 0 : tool.spec.nanoDollarsWorst,
    };
    const hold = tree.hold(nodeId, amounts, ports.nowMs());
    if (!hold.ok) {
      if (!cached) ports.breakers.drop(tool.spec.upstream);
      return notRun({ refusal: refusalOfExhaustion(ask.name, hold.exhaustion), stop: null });
    }
    callsByTool.set(ask.name, used + 1);
    const warning = trip?.stage === 'warn' ? trip.text : null;
    return { admitted: { ask, index, tool, args: read.args, guarded, fingerprint, hold: hold.value, warning } };
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
        if (judged.trip !== null && judged.trip.stage !== 'stop') {
          const note = `\n[note: ${judged.trip.text}]`;
          slot.text = `${slot.text}${note}`;
          slot.call = { ...slot.call, tokens: slot.call.tokens + chargeText(nodeId, note) };
        }
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
          if (over !== null || signal.aborted) {
            drop(one);
            const words = over === null ? 'not run: the run was stopped' : 'not run: the run ends because of a loop';
            const code = over === null ? 'cancelled' : 'not-run';
            refuse(one.index, { code, tool: one.ask.name, words, exhaustion: null });
            continue;
          }
          const result = await runOne(nodeId, one, slots, signal, refuse);
          if (result === null) continue;
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

  /** Runs one admitted call to its end and settles it. Answers what its state is judged by; null = it did not run. */
  async function runOne(
    nodeId: string,
    one: Admitted,
    slots: Slot[],
    signal: CancelSignal,
    refuse: (index: number, refusal: Refusal) => void,
  ): Promise<string | null> {
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
    // Asked again: an equal call of this step may have brought it in.
    const cached = cachedOf(one.tool, one.args);
    const above = settings.approvalAboveNanoDollars;
    if (cached === null && (spec.approval || (above !== null && spec.nanoDollarsWorst > above))) {
      update({ outcome: 'waiting-approval' });
      const allowed = await approved(slot.call, signal);
      if (!allowed && !signal.aborted) {
        drop(one);
        const words = 'not run: a person did not allow it';
        refuse(one.index, { code: 'approval-denied', tool: spec.name, words, exhaustion: null });
        return null;
      }
      update({ outcome: 'running' });
    }
    if (signal.aborted) {
      drop(one);
      refuse(one.index, {
        code: 'cancelled',
        tool: spec.name,
        words: 'not run: the run was stopped',
        exhaustion: null,
      });
      return null;
    }
    const ran = cached === null ? await attempts(nodeId, one, signal) : null;
    const output = cached ?? ran?.answer.text ?? textOf('');
    const failed = ran !== null && ran.answer.failed;
    if (ran !== null && !failed && isCached(one.tool)) cache.put(cacheKey(one.tool, one.args), output);
    const shown = await shownOf(nodeId, output, spec.keep);
    const note = one.warning === null ? '' : `\n[note: ${one.warning}]`;
    slot.text = `${shown.text}${note}`;
    const tokens = ports.tokensOf(slot.text, shown.bytes + utf8Bytes(note));
    tree.settle(one.hold, {
      calls: 1,
      tokens: settings.chargeResults ? tokens : 0,
      nanoDollars: ran?.firstNanoDollars ?? 0,
    });
    slot.shown = { tool: spec.name, text: shown.text, polls: spec.polls };
    update({
      outcome: ran === null ? 'cached' : failed ? 'failed' : 'done',
      code: ran !== null && failed ? codeOf(ran) : null,
      resultHead: shown.text.slice(0, RESULT_HEAD),
      outputBytes: output.bytes as Bytes,
      shownBytes: bytes(shown.bytes),
      handle: shown.handle,
      tokens,
      nanoDollars: ran?.nanoDollars ?? 0,
      attempts: ran?.attempts ?? 0,
      endedMs: now(),
    });
    return stateTextOf(output);
  }

  async function attempts(nodeId: string, one: Admitted, signal: CancelSignal): Promise<Ran> {
    const { tool, args, ask } = one;
    let hasLease = false;
    const keep = (what: string, release: (() => Promise<void>) | null): void => {
      hasLease = true;
      leases.keep({ nodeId, tool: tool.spec.name, callId: ask.id, what, release });
    };
    const ran = await runAttempts(
      { nodeId, tool, args, signal },
      { ...ports, onLease: (lease) => keep(lease.what, () => lease.release()) },
    );
    // It says that it leaves something behind, but not how to end it; after a time-out it may have.
    const mayGoOn = tool.spec.sideEffect && (!ran.answer.failed || ran.ending !== 'answered');
    if (mayGoOn && !hasLease) keep(`${tool.spec.name} ${canonicalText(args).slice(0, RESULT_HEAD)}`, null);
    return ran;
  }

  /** A person who does not answer in the time that the agent has left has not allowed it. */
  function approved(call: GatewayCall, signal: CancelSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const leftMs = tree.timeLeftMs(call.nodeId, ports.nowMs());
      const takeBack = leftMs === null ? (): void => undefined : ports.after(leftMs, () => answer(false));
      const release = signal.onAbort(() => resolve(false));
      const answer = (allowed: boolean): void => {
        takeBack();
        release();
        resolve(allowed);
      };
      void (async () => ports.approve(call))().then(answer, () => answer(false));
    });
  }

  /** What was held for a call that does not run, and its place at the breaker. */
  function drop(one: Admitted): void {
    ports.breakers.drop(one.tool.spec.upstream);
    tree.settle(one.hold, { calls: 0, tokens: 0, nanoDollars: 0 });
    guards.notRun(one.guarded);
    callsByTool.set(one.ask.name, Math.max(0, (callsByTool.get(one.ask.name) ?? 0) - 1));
  }

  async function delegateTo(
    nodeId: string,
    ask: ToolAsk,
    index: number,
    guarded: GuardedCall,
    slots: Slot[],
    signal: CancelSignal,
    refuse: (index: number, refusal: Refusal) => void,
  ): Promise<{ readonly ok: boolean; readonly stop: EndReason | null }> {
    const slot = slots[index];
    must(ports.delegate !== null && slot !== undefined, 'a delegation has its slot');
    slot.call = {
      ...slot.call,
      outcome: 'running',
      argumentsHead: canonicalText(guarded.args).slice(0, ARGUMENTS_HEAD),
      startedMs: now(),
    };
    ports.onCall(slot.call);
    const answer = await ports.delegate.run(nodeId, guarded.args, { signal });
    if (!answer.ok) {
      guards.notRun(guarded);
      refuse(index, { code: answer.code, tool: ask.name, words: answer.words, exhaustion: answer.exhaustion });
      const trip = answer.code === 'broken-arguments' ? guards.broken(guarded) : null;
      if (trip !== null) tell(trip);
      return { ok: false, stop: trip?.stage === 'stop' ? stopOf(trip) : null };
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
    return { ok: true, stop: null };
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
    // Where it cannot be stored it is still cut: the rest of it is lost, and the run is not.
    const handle = output.handle ?? (await (async () => ports.blobs.put(output))().catch(() => 'not-stored'));
    const shown = capOutput(output, cap, keep, () => handle);
    return { text: shown.text, bytes: shown.bytes, handle: shown.wasCut ? handle : null };
  }

  /** A text that comes into the context whether or not there is room for it: it is short, and it has been said. */
  function chargeText(nodeId: string, text: string): number {
    const tokens = ports.tokensOf(text, textOf(text).bytes);
    if (settings.chargeResults) tree.chargeAnyway(nodeId, { calls: 0, tokens, nanoDollars: 0 });
    return tokens;
  }

  const now = (): Milliseconds => milliseconds(Math.max(0, Math.round(ports.nowMs())));
  const tell = (trip: Trip): void => ports.onTrip({ ...trip, atMs: now() });
  const isCached = (tool: Tool): boolean => settings.cache && tool.spec.cacheable && !tool.spec.sideEffect;
  const cachedOf = (tool: Tool, args: Json): ToolText | null =>
    isCached(tool) ? cache.get(cacheKey(tool, args)) : null;
  /** All of the arguments: what the guards leave out of a call may still be what is asked for. */
  const cacheKey = ({ spec }: Tool, args: Json): string =>
    `${callFingerprint({ tool: spec.name, args }, [], ports.sha256)} ${spec.authorisation}`;

  return { step, releaseLeases: () => leases.releaseAll(), leases: () => leases.all() };
}

/** What the state of a call is told by: all of the output, or what stands for all of it. */
function stateTextOf({ bytes: size, head, tail, digest }: ToolText): string {
  return size === utf8Bytes(head) ? head : `${size} bytes: ${digest ?? ''}\n${head}\n${tail}`;
}

function codeOf({ answer, ending }: Ran): GatewayCode {
  if (ending === 'cancelled') return 'cancelled';
  return ending === 'answered' ? (answer.code ?? 'tool-failed') : 'timeout';
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
function spreadNovelty(slots: Slot[], newShingles: number | null): GatewayCall | null {
  const last = slots.findLast(({ shown }) => shown !== null);
  if (last === undefined || newShingles === null) return null;
  last.call = { ...last.call, newShingles };
  return last.call;
}
