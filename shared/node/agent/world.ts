/** The world that agents work in: scripted models by name, the ready tools, and the tools of MCP servers beside them. */
import { createHash } from 'node:crypto';
import type { AgentTask, ToolSet } from '../../contract/agents.ts';
import { type Result, ok } from '../../contract/denials.ts';
import { createCancel } from '../../engine/cancel.ts';
import { DELEGATE } from '../../engine/agent/delegate.ts';
import type { RunSettings } from '../../engine/agent/run.ts';
import { carrierTools, clockTools } from '../../engine/agent-lab/carrier.ts';
import { farmReader } from '../../engine/agent-lab/farm-reader.ts';
import {
  FARM_BASE_TOKENS,
  FARM_BYTES_PER_TOKEN,
  FARM_REFUSAL_BYTES,
  farmSettings,
  farmUngoverned,
} from '../../engine/agent-lab/farm-task.ts';
import { fileTools } from '../../engine/agent-lab/file-tree.ts';
import { ATTEMPTS_MAX, flakyTools } from '../../engine/agent-lab/flaky.ts';
import { jobTools } from '../../engine/agent-lab/jobs.ts';
import { linkFarmTools } from '../../engine/agent-lab/link-farm.ts';
import { scriptedModel } from '../../engine/agent-lab/script-kit.ts';
import { FARM_SCRIPT, scriptOf } from '../../engine/agent-lab/scripts.ts';
import { READ_BLOB } from '../../engine/gateway/read-blob.ts';
import { type Tool, textOf } from '../../engine/gateway/tool.ts';
import { utf8Bytes } from '../../engine/utf8.ts';
import type { AgentWorld, Scenario, ToolWorld } from './agents.ts';
import { bigPageTools } from './tools-big-page.ts';

export interface FoundTools {
  readonly tools: readonly Tool[];
  /** What could not be used, and why, in words. */
  readonly problems: readonly string[];
  close(): Promise<void>;
}

/** Tools of MCP servers, named `server.tool`. */
export type McpTools = (servers: AgentTask['mcpServers'], about: ToolWorld) => Promise<Result<FoundTools>>;

export function createWorld({ mcp }: { readonly mcp?: McpTools } = {}): AgentWorld {
  return {
    scenario(name, task) {
      if (name === FARM_SCRIPT) return farmScenario(task);
      const script = scriptOf(name);
      return script === null
        ? null
        : {
            model: ({ sleep }) => scriptedModel(script.decide, sleep),
            rootName: 'agent',
            settings: null,
            figures: LAB_FIGURES,
          };
    },
    async tools(task, about) {
      const own = [...new Set(task.tools)].flatMap((set) => toolSets[set](task, about));
      if (Object.keys(task.mcpServers).length === 0) return ok({ tools: own, problems: [], close: nothing });
      if (mcp === undefined) return ok({ tools: own, problems: ['MCP servers cannot be used here.'], close: nothing });
      const found = await mcp(task.mcpServers, about);
      if (!found.ok) return found;
      const merged = merge(own, found.value.tools);
      return ok({
        tools: merged.tools.map((tool, at) => (at < own.length ? tool : holding(tool, about, limitOf(tool, task)))),
        problems: [...found.value.problems, ...merged.problems],
        close: () => found.value.close(),
      });
    },
  };
}

const toolSets: { readonly [Set in ToolSet]: (task: AgentTask, about: ToolWorld) => Tool[] } = {
  carrier: (_task, { sleep }) => carrierTools(sleep),
  clock: (_task, { sleep }) => clockTools(sleep),
  'link-farm': (_task, { sleep }) => linkFarmTools(sleep),
  files: ({ seed }, { sleep }) => fileTools(seed, sleep),
  'big-page': ({ seed }, about) => bigPageTools(seed, about),
  // Behind the gateway a client leaves retries to it; without, it has its own, as clients do.
  flaky: ({ seed, governed }, { sleep }) => flakyTools(seed, sleep, { clientAttempts: governed ? 1 : ATTEMPTS_MAX }),
  // Without the ledger nobody holds on to what was started.
  jobs: ({ seed, governed }, { sleep }) => jobTools(seed, sleep, { hasLeases: governed }),
};

/** The lab's own figures: four bytes make a token, so that a run comes to the same figures whatever its handles are. */
const BYTES_PER_TOKEN = 4;
const LAB_FIGURES: NonNullable<Scenario['figures']> = {
  baseTokens: (prompt) => Math.ceil(utf8Bytes(prompt) / BYTES_PER_TOKEN),
  tokensOf: (_text, textBytes) => Math.ceil(textBytes / BYTES_PER_TOKEN),
};

const FARM_PARTIAL_BYTES = 1_200;

/** The farm as its golden trace has it, with whatever the task itself sets over it. */
function farmScenario(task: AgentTask): Scenario {
  return {
    model: ({ sleep }) => farmReader(sleep),
    rootName: 'planner',
    settings: task.governed ? withTask(farmSettings(), task) : farmUngoverned(),
    // Twelve times as long as the governed run: nobody wants to watch that, and both sides should end together.
    ...(task.governed ? {} : { paceShare: 1 / 12 }),
    figures: {
      baseTokens: () => FARM_BASE_TOKENS,
      tokensOf: (_text, textBytes) => Math.ceil(textBytes / FARM_BYTES_PER_TOKEN),
      wordRefusal: ({ words }) => words.slice(0, FARM_REFUSAL_BYTES).padEnd(FARM_REFUSAL_BYTES),
      wordPartial: ({ nodeId, why }) => `${nodeId} stopped: ${why}. `.padEnd(FARM_PARTIAL_BYTES, '.'),
      handleOf: ({ head }) => createHash('sha256').update(head).digest('hex').slice(0, 16),
    },
  };
}

function withTask(base: RunSettings, { limits, guards }: AgentTask): RunSettings {
  return { ...base, limits: { ...base.limits, ...set(limits) }, guards: { ...base.guards, ...set(guards) } };
}

/** Fields that are there and undefined say nothing. */
function set<Fields extends object>(fields: Fields): { [Key in keyof Fields]: Exclude<Fields[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** The first of a name stays. What is called like one of the gateway's own tools could pass for it. */
function merge(own: readonly Tool[], others: readonly Tool[]): { tools: Tool[]; problems: string[] } {
  const tools = [...own];
  const problems: string[] = [];
  const taken = new Set(own.map(({ spec }) => spec.name));
  for (const tool of others) {
    const { name } = tool.spec;
    const shown = JSON.stringify(name.slice(0, NAME_MAX));
    if (RESERVED.includes(lastPart(name)) || RESERVED.includes(name)) {
      problems.push(`The tool ${shown} is left out: its name belongs to the gateway.`);
    } else if (taken.has(name)) problems.push(`The tool ${shown} is left out: another one has the same name.`);
    else {
      taken.add(name);
      tools.push(tool);
    }
  }
  return { tools, problems };
}

const NAME_MAX = 200;
const RESERVED: readonly string[] = [READ_BLOB, DELEGATE];
/** Of `server.tool`, as a model that shortens names would say it. */
const lastPart = (name: string): string => name.slice(name.indexOf('.') + 1);

/**
 * A server works in real time: a script's clock stands while it does, and so does the gateway's time limit. It is kept here as
 * well, or one that hangs would hold the run for ever.
 */
function holding(tool: Tool, { hold }: ToolWorld, limitMs: number): Tool {
  const { name } = tool.spec;
  return {
    ...tool,
    async invoke(args, about) {
      const own = createCancel();
      let isLate = false;
      const release = about.signal.onAbort(() => own.cancel(about.signal.reason ?? 'person'));
      const timer = setTimeout(() => {
        isLate = true;
        own.cancel('timeout');
      }, limitMs);
      try {
        const answer = await hold(tool.invoke(args, { ...about, signal: own.signal }));
        if (!isLate) return answer;
        const text = textOf(`${name} did not answer within ${limitMs} ms`);
        return { ...answer, text, failed: true, retryable: true, code: 'timeout' };
      } finally {
        clearTimeout(timer);
        release();
      }
    },
  };
}

const limitOf = ({ spec }: Tool, { toolRules }: AgentTask): number =>
  (Object.hasOwn(toolRules, spec.name) ? toolRules[spec.name]?.timeoutMs : undefined) ?? spec.timeoutMs;

const nothing = (): Promise<void> => Promise.resolve();
