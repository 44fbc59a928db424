/** What a host asks for, and the parts that a runtime is made of. */
import type { Result } from '../contract/denials.ts';
import type { EngineEvent } from '../contract/events.ts';
import type { ServerStatus } from '../contract/server.ts';
import type { Settings } from '../contract/settings.ts';
import type { Engine } from '../engine/engine.ts';
import type { Clock } from '../engine/ports.ts';
import type { AgentParts } from './agent/agent-parts.ts';
import type { ChunkedExports } from './csv/chunked-exports.ts';
import type { DirectoryKeeper } from './ledger/directory.ts';
import type { Storms } from './ledger/storm.ts';
import type { LedgerService } from './ledger/ledger-service.ts';
import type { Runner } from './experiments/runner.ts';
import type { ServerLog } from './server-log/server-log.ts';
import type { Subjects } from './server/subjects.ts';
import type { ServerQuestions } from './server/ask-server.ts';
import type { ServerWatch } from './server/server-watch.ts';
import type { SimulatorHost } from './simulator/host.ts';
import type { Home } from './storage/home.ts';
import type { LockInfo } from './storage/lock.ts';
import type { Store, StoreNotice } from './storage/store-types.ts';

export interface RuntimeOptions {
  readonly host: LockInfo['host'];
  /** `--home`. */
  readonly home?: string | undefined;
  /** `--ollama`: beats the setting and OLLAMA_HOST for this process, and is not saved. */
  readonly ollamaUrl?: string | undefined;
  /** `--simulate`: for this process, not saved. */
  readonly simulate?: boolean | undefined;
  /** `--log`: beats the setting for this process, and is not saved. */
  readonly serverLog?: string | undefined;
  /** Beats the setting; 0 = no waiting. */
  readonly simulatorTimeScale?: number | undefined;
  readonly environment?: NodeJS.ProcessEnv;
}

/** Everything the request handlers may use. */
export interface Parts {
  readonly options: RuntimeOptions;
  readonly home: Home;
  readonly store: Store;
  readonly notices: StoreNotice[];
  readonly clock: Clock;
  readonly engine: Engine;
  readonly budgets: LedgerService;
  readonly directory: DirectoryKeeper;
  readonly storms: Storms;
  readonly watch: ServerWatch;
  readonly subjects: Subjects;
  readonly serverLog: ServerLog;
  readonly simulator: SimulatorHost;
  readonly experiments: Runner;
  readonly agents: AgentParts;
  readonly exports: ChunkedExports;
  readonly load: (model: string, numCtx: number | null, signal: AbortSignal) => Promise<Result<ServerStatus>>;
  readonly questions: ServerQuestions;
  readonly emit: (event: EngineEvent) => void;
  settings(): Settings;
  saveSettings(settings: Settings): Result<Settings>;
}
