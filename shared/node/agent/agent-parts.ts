/** The agents of a console, put together: the world they work in, breakers that all runs share, the lab of bombs. */
import type { AgentPreset } from '../../contract/agents.ts';
import { denied, ok } from '../../contract/denials.ts';
import type { EngineEvent } from '../../contract/events.ts';
import { never } from '../../engine/cancel.ts';
import type { Engine } from '../../engine/engine.ts';
import { createBreakers } from '../../engine/gateway/breaker.ts';
import type { Clock } from '../../engine/ports.ts';
import { connectMcpServers } from '../mcp/connect.ts';
import type { ServerWatch } from '../server/server-watch.ts';
import type { Subjects } from '../server/subjects.ts';
import type { Home } from '../storage/home.ts';
import type { Store, StoreNotice } from '../storage/store-types.ts';
import { type Agents, type AgentsOptions, createAgents } from './agents.ts';
import { type Bombs, createBombs } from './bombs.ts';
import { agentPresets } from './presets.ts';
import { createWorld } from './world.ts';

export interface AgentParts {
  readonly agents: Agents;
  readonly bombs: Bombs;
  /** About runs that were cut off when the last console ended. */
  readonly notices: readonly StoreNotice[];
  presets(): AgentPreset[];
  /** Ends runs, what they started, and waits until all of it is stored. */
  stop(): Promise<void>;
}

/** Real milliseconds of watching for one second of a script, where the simulator works at its usual pace. */
const PACE_MS = 65;

export function createAgentParts(options: {
  readonly engine: Engine;
  readonly store: Store;
  readonly watch: ServerWatch;
  readonly subjects: Subjects;
  readonly clock: Clock;
  readonly home: Home;
  readonly emit: (event: EngineEvent) => void;
  timeScale(): number;
}): AgentParts {
  const { engine, store, watch, clock, home, emit } = options;
  /** Servers that are still starting are given up when the console ends. */
  const ending = new AbortController();
  const interrupted = store.interruptAgentRuns();
  const agents = createAgents({
    engine,
    store,
    clock,
    home,
    emit,
    world: createWorld({ mcp: (servers, { blobs }) => connectMcpServers(servers, { blobs, signal: ending.signal }) }),
    breakers: createBreakers(),
    pace: () => PACE_MS * options.timeScale(),
    isSimulated: () => watch.status().kind === 'simulator',
    checkModel: (model) => modelWithTools(options, model),
  });
  const bombs = createBombs({ agents, emit });
  return {
    agents,
    bombs,
    notices: interrupted.ok && interrupted.value > 0 ? [interruptedNotice(interrupted.value)] : [],
    presets: () => agentPresets(firstWithTools(watch)),
    async stop() {
      ending.abort();
      await bombs.stop();
      await agents.stop();
    },
  };
}

/** What must not leave is refused before anything is started. Unknown facts refuse nothing: the server then says itself what it cannot do. */
async function modelWithTools(
  { watch, subjects }: { readonly watch: ServerWatch; readonly subjects: Subjects },
  model: string,
): ReturnType<AgentsOptions['checkModel']> {
  const subject = await subjects.of(model, never);
  if (!subject.ok) return subject;
  const facts = await watch.facts(model, never);
  if (!facts.ok && facts.denial.code === 'unknown-model') return facts;
  const known = facts.ok ? facts.value : null;
  if (known !== null && known.capabilities.length > 0 && !known.capabilities.includes('tools')) {
    return denied('unsupported', `${model.slice(0, 200)} cannot call tools.`, {
      field: 'model',
      next: 'Choose a model that has the capability tools.',
    });
  }
  return ok({ modelDigest: subject.value.digest, ollamaVersion: subject.value.serverVersion });
}

/** Of the simulator's models the one that does call tools: the others answer at once, and there would be nothing to see. */
const SIMULATED_CALLER = 'sim-loop:latest';

/** undefined = the server names none. */
function firstWithTools(watch: ServerWatch): string | undefined {
  const { kind, models } = watch.status();
  const able = models.filter(({ capabilities, cloud }) => !cloud && capabilities?.includes('tools') === true);
  const caller = kind === 'simulator' ? able.find(({ name }) => name === SIMULATED_CALLER) : undefined;
  return (caller ?? able[0])?.name;
}

function interruptedNotice(runs: number): StoreNotice {
  return {
    level: 'warning',
    text:
      runs === 1
        ? 'An agent run was cut off when Spillway ended. What it had used is charged.'
        : `${runs} agent runs were cut off when Spillway ended. What they had used is charged.`,
    next: 'Resume it on the Agents page.',
  };
}
