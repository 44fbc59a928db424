/**
 * Calls of somebody else's model, behind the gateway that agent runs use: one session is the root of one budget tree, with the
 * guards of one agent. Decides nothing of its own but when a session is over.
 */
import { createHash } from 'node:crypto';
import type { EndReason, GatewayCall, GuardSettings, GuardTrip, NodeLimits, ToolRule } from '../../contract/agents.ts';
import { createBudgetTree } from '../../engine/budget-tree/tree.ts';
import { estimateText } from '../../engine/estimate/estimate.ts';
import { createBreakers } from '../../engine/gateway/breaker.ts';
import { type StepResult, createGateway } from '../../engine/gateway/gateway.ts';
import { READ_BLOB, readBlobTool } from '../../engine/gateway/read-blob.ts';
import { type Refusal, wordRefusal } from '../../engine/gateway/refusal.ts';
import { type Tool, type ToolSpec, withRule } from '../../engine/gateway/tool.ts';
import { createGuards } from '../../engine/guards/guards.ts';
import type { CancelSignal } from '../../engine/ports.ts';
import type { BlobFolder } from '../agent/blob-folder.ts';

export interface SessionOptions {
  readonly tools: readonly Tool[];
  readonly toolRules: Readonly<Record<string, ToolRule>>;
  readonly limits: NodeLimits;
  readonly guards: GuardSettings;
  readonly blobs: BlobFolder;
  /** Asks the person at the other end; false = no, or nobody can be asked. */
  approve(call: GatewayCall): Promise<boolean>;
  onTrip?(trip: GuardTrip): void;
}

export interface SessionAnswer {
  readonly text: string;
  /** A refusal, or a failure of the tool. */
  readonly isError: boolean;
  /** Of a refusal: the same as figures; null = the call ran. */
  readonly refusal: Readonly<Record<string, unknown>> | null;
}

export interface Session {
  /** With read_blob; as the client is told. */
  readonly specs: readonly ToolSpec[];
  call(name: string, args: unknown, signal: CancelSignal): Promise<SessionAnswer>;
  /** Why nothing is run any more; null = it goes on. */
  over(): EndReason | null;
  used(): { readonly calls: number; readonly refused: number; readonly nanoDollars: number };
  /** Ends what was started and outlives its call; answers how many could not be ended. */
  close(): Promise<number>;
}

const ROOT = 'session';

export function createSession(options: SessionOptions): Session {
  const { limits, blobs } = options;
  const beganMs = performance.now();
  const nowMs = (): number => performance.now() - beganMs;
  // No agents below it and no closing call: all of the budget is for calls.
  const settings = {
    keepCalls: 0,
    carveRule: 'keep',
    closing: { tokens: 0, nanoDollars: 0 },
    spawnsPerMinute: 0,
  } as const;
  const tree = createBudgetTree(ROOT, limits, settings);
  const tools = new Map(options.tools.map((tool) => [tool.spec.name, ruled(tool, options.toolRules)]));
  const tokensOf = (text: string, textBytes: number): number =>
    text === '' ? Math.ceil(textBytes / 3) : estimateText(text).likely;
  const gateway = createGateway(
    {
      nowMs,
      after(delayMs, then) {
        const timer = setTimeout(then, Math.min(delayMs, TIMER_MAX));
        return () => clearTimeout(timer);
      },
      tree,
      guards: createGuards(options.guards, sha256),
      breakers: createBreakers(),
      tools,
      blobs,
      delegate: null,
      sha256,
      tokensOf,
      wordRefusal,
      approve: (call) => options.approve(call),
      onCall: () => undefined,
      onTrip: (trip) => options.onTrip?.(trip),
      onLease: () => undefined,
    },
    {
      outputTokensMax: limits.outputBytes === null ? 0 : tokensOf('', limits.outputBytes),
      chargeResults: true,
      cache: false,
      approvalAboveNanoDollars: null,
    },
  );
  let step = 0;
  let underWay = 0;
  let refused = 0;
  let over: EndReason | null = null;

  function refuse(refusal: Refusal): SessionAnswer {
    refused += 1;
    const text = wordRefusal(refusal);
    return { text, isError: true, refusal: JSON.parse(text) as Record<string, unknown> };
  }

  function answerOf({ results, stop }: StepResult): SessionAnswer {
    // A budget that is used up refuses by itself, call by call; a guard that stops ends the session.
    if (stop !== null && stop.exhaustion === null && stop.reason !== 'cancelled') over ??= stop.reason;
    const [result] = results;
    if (result === undefined) return { text: '', isError: true, refusal: null };
    const { outcome } = result.call;
    if (outcome !== 'refused' && outcome !== 'not-run') {
      return { text: result.text, isError: outcome === 'failed', refusal: null };
    }
    refused += 1;
    return { text: result.text, isError: true, refusal: JSON.parse(result.text) as Record<string, unknown> };
  }

  return {
    specs: [...[...tools.values()].map(({ spec }) => spec), readBlobTool(blobs, tree, 0).spec],
    async call(name, args, signal) {
      const no = (code: Refusal['code'], words: string): SessionAnswer =>
        refuse({ code, tool: name, words, exhaustion: null });
      if (over !== null) return no('not-run', `not run: this session ended (${over}); a new one starts afresh`);
      // Each call is a step of its own here, so the bound of a step is kept over what runs at once.
      if (underWay >= limits.fanOut) return no('fan-out', `not run: at most ${limits.fanOut} calls at once`);
      underWay += 1;
      step += 1;
      try {
        const ask = { id: `${ROOT}/${step}`, name, argumentsText: JSON.stringify(args) };
        return answerOf(await gateway.step(ROOT, step, [ask], signal));
      } finally {
        underWay -= 1;
      }
    },
    over: () => over,
    used: () => ({ ...pick(tree.node(ROOT).used), refused }),
    close: () => gateway.releaseLeases(),
  };
}

const TIMER_MAX = 2_147_483_647;

/**
 * The client at the other end asks its person as it sees fit, by the hints that it is told; here only what was set for a tool
 * makes a call wait.
 */
function ruled(tool: Tool, rules: Readonly<Record<string, ToolRule>>): Tool {
  const { name } = tool.spec;
  const rule = name !== READ_BLOB && Object.hasOwn(rules, name) ? rules[name] : undefined;
  return withRule({ ...tool, spec: { ...tool.spec, approval: false } }, rule);
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const pick = ({
  calls,
  nanoDollars,
}: {
  calls: number;
  nanoDollars: number;
}): { calls: number; nanoDollars: number } => ({
  calls,
  nanoDollars,
});
