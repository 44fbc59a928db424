/** One function for each request of the contract. Parameters arrive parsed; refusals go back as values. */
import type { RequestName, RequestParsed, RequestResult } from '../contract/requests.ts';
import { type Denial, type Result, denied, ok } from '../contract/denials.ts';
import type { ServerStatus } from '../contract/server.ts';
import { isReasoningCell } from '../contract/experiments.ts';
import { explain } from '../engine/explain/explain.ts';
import { capResults } from '../engine/reasoning-lab/cap-search.ts';
import { laneSummaries } from '../engine/reasoning-lab/lanes.ts';
import { fittedPreset } from '../engine/reasoning-lab/presets.ts';
import { never } from '../engine/cancel.ts';
import { agentHandlers } from './agent/agent-handlers.ts';
import { bombHandlers } from './agent/bomb-handlers.ts';
import { guardHandlers } from './agent/guard-handlers.ts';
import { calibrationHandlers } from './costs/calibration-handlers.ts';
import { costHandlers } from './costs/cost-handlers.ts';
import { openRunExport } from './experiments/export.ts';
import { stormHandlers } from './ledger/storm-handlers.ts';
import { directoryHandlers } from './ledger/directory-handlers.ts';
import { ledgerExport } from './ledger/ledger-export.ts';
import { ledgerHandlers } from './ledger/ledger-handlers.ts';
import { readMcpServers } from './mcp/servers-file.ts';
import { redisPlaceOf } from './redis/url.ts';
import type { EngineDoor, RequestContext } from './rpc/dispatcher.ts';
import type { Parts } from './parts.ts';
import { notUp, ollamaTarget, simulatorTarget } from './server/server-watch.ts';
import { version } from './version.ts';

type Handlers = {
  readonly [Name in RequestName]: (
    params: RequestParsed<Name>,
    context: RequestContext,
  ) => Promise<Result<RequestResult<Name>>> | Result<RequestResult<Name>>;
};

/** Runs kept in the snapshot; History asks for more. */
const SNAPSHOT_RUNS = 50;

export function createHandlers(parts: Parts): EngineDoor['handle'] {
  const handlers = table(parts);
  return async (name, params, context) =>
    (handlers[name] as (params: unknown, context: RequestContext) => Promise<Result<unknown>>)(params, context);
}

function table(parts: Parts): Handlers {
  const { store, engine, watch, simulator, experiments, exports, clock, budgets, directory } = parts;

  /** Points at the server and remembers the choice, unless it was made for this process only. */
  async function connect(url: string): Promise<Result<ServerStatus>> {
    const target = ollamaTarget({
      setting: url,
      env: parts.options.environment?.OLLAMA_HOST ?? process.env.OLLAMA_HOST,
    });
    if (!target.ok) return { ok: false, denial: { ...target.denial, field: 'url' } };
    const saved = parts.saveSettings({ ...parts.settings(), ollamaUrl: url.trim(), useSimulator: false });
    if (!saved.ok) return saved;
    const status = await watch.point(target.value);
    await simulator.stop();
    return ok(status);
  }

  return {
    'snapshot.get': () =>
      ok({
        app: {
          version,
          host: parts.options.host === 'desktop' ? 'desktop' : parts.options.host === 'test' ? 'test' : 'browser',
          platform: process.platform,
          home: parts.home.folder,
        },
        settings: parts.settings(),
        server: watch.status(),
        serverLog: parts.serverLog.state(),
        openCalls: engine.openCalls(),
        runs: store.runs({ limit: SNAPSHOT_RUNS }),
        tokensToday: store.tokensOn(clock.now().slice(0, 10), watch.status().kind === 'simulator'),
        notices: [...parts.notices],
      }),
    'settings.set': (patch) => {
      const redis =
        patch.redisUrl === undefined || patch.redisUrl.trim() === '' ? ok(null) : redisPlaceOf(patch.redisUrl);
      return redis.ok ? parts.saveSettings({ ...parts.settings(), ...definedOnly(patch) }) : redis;
    },

    'server.look': async () => ok(await watch.look()),
    'server.connect': ({ url }) => connect(url),
    'simulator.start': async () => {
      const saved = parts.saveSettings({ ...parts.settings(), useSimulator: true });
      if (!saved.ok) return saved;
      try {
        return ok(await watch.point(simulatorTarget(await simulator.start())));
      } catch (error) {
        return denied(
          'internal',
          `The simulator did not start: ${error instanceof Error ? error.message : String(error)}.`,
          { next: 'Try again.' },
        );
      }
    },
    'simulator.stop': () => connect(parts.settings().ollamaUrl),
    'model.show': async ({ model }) =>
      watch.status().state === 'up' ? watch.facts(model, never) : notUp(watch.status()),
    'model.load': ({ model, numCtx }, { signal }) => parts.load(model, numCtx, signal),

    'call.preflight': (request) => engine.preflight(request),
    'call.start': (request) => {
      const opened = engine.open(request);
      return opened.ok ? ok({ callId: opened.value.id }) : opened;
    },
    'call.cancel': ({ callId }) =>
      engine.cancel(callId, 'person') ? ok({}) : notFound('call', 'It has ended already.'),
    'call.get': ({ callId }) => found(store.call(callId), 'call'),
    'call.list': ({ runId, limit }) => ok(store.calls({ ...(runId === undefined ? {} : { runId }), limit })),

    'call.render': ({ callId }, { signal }) => {
      const record = found(store.call(callId), 'call');
      return record.ok ? parts.questions.render(record.value, signal) : record;
    },
    'call.count': (request, { signal }) => parts.questions.count(request, signal),

    'document.put': (document) => store.putDocument(document),
    'context.plan': (experiment) => experiments.plan(experiment),
    'context.start': (experiment) => experiments.start(experiment),
    'reasoning.plan': (experiment) => experiments.plan(experiment),
    'reasoning.start': (experiment) => experiments.start(experiment),
    'reasoning.preset': (params) => reasoningPresetOf(parts, params),
    'reasoning.summary': ({ runId }) => {
      const run = store.run(runId);
      if (run === null) return notFound('run');
      if (run.kind !== 'reasoning') return denied('bad-input', 'This run is no reasoning run.', { field: 'runId' });
      const cells = store.cells(runId).filter(isReasoningCell);
      return ok({ runId, lanes: laneSummaries(cells), caps: capResults(run.experiment, cells) });
    },
    'run.list': ({ search, limit }) => ok(store.runs({ search, limit })),
    'run.get': ({ runId }) => {
      const run = store.run(runId);
      return run === null ? notFound('run') : ok({ run, cells: store.cells(runId) });
    },
    'run.cancel': ({ runId }) => experiments.cancel(runId),
    'run.resume': ({ runId }) => experiments.resume(runId),
    'run.delete': ({ runId }) => {
      const deleted = store.deleteRun(runId);
      return deleted.ok ? ok({}) : deleted;
    },
    'cell.get': ({ runId, cellKey }) => found(store.cell(runId, cellKey), 'cell'),

    'export.open': ({ runId, options }) => openRunExport({ store, exports }, runId, options),
    'export.read': ({ exportId }) => exports.read(exportId),

    ...agentHandlers({ agents: parts.agents.agents, exports, presets: parts.agents.presets }),
    'agent.readServers': ({ text }) => readMcpServers(text),
    ...bombHandlers(parts.agents),
    ...guardHandlers(),

    ...costHandlers(parts),
    ...calibrationHandlers(parts),
    ...ledgerHandlers(parts),
    ...directoryHandlers(parts),
    ...stormHandlers(parts),
    'ledger.export': ({ what, book = budgets.book(), options }) =>
      exports.open(
        ledgerExport(
          { store: budgets.ledger.store, directory: directory.current },
          { what, book, atMs: budgets.ledger.nowMs(book), options },
        ),
      ),

    'reply.explain': (input) => explain(input),
  };
}

/** Variants that the model cannot run are left out here already, so that the screen shows what will run. */
async function reasoningPresetOf(
  { watch }: Parts,
  { name, model }: RequestParsed<'reasoning.preset'>,
): Promise<Result<RequestResult<'reasoning.preset'>>> {
  const facts = watch.status().state === 'up' ? await watch.facts(model, never) : null;
  const known = facts?.ok === true ? facts.value : null;
  const { experiment, warnings } = fittedPreset(name, { model, facts: known, serverVersion: watch.status().version });
  return ok({ experiment, warnings: [...warnings] });
}

function found<Value>(value: Value | null, what: string): Result<Value> {
  return value === null ? notFound(what) : ok(value);
}

function notFound(what: string, next = 'It may have been deleted.'): { ok: false; denial: Denial } {
  return denied('not-found', `There is no such ${what}.`, { next });
}

/** A field that is there but undefined would wipe a setting. */
function definedOnly<Patch extends object>(patch: Patch): { [Key in keyof Patch]: Exclude<Patch[Key], undefined> } {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as never;
}
