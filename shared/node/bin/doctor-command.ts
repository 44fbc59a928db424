/** Checks that change nothing: each says what it found, and for a problem the next step. */
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { never } from '../../engine/cancel.ts';
import { systemClock } from '../runtime.ts';
import { resolveServer } from '../ollama/address.ts';
import { createOllamaDoor } from '../ollama/door.ts';
import { look } from '../ollama/look.ts';
import { openLedger } from '../ledger/open-ledger.ts';
import { openHome } from '../storage/home.ts';
import { acquireLock, lockHolder } from '../storage/lock.ts';
import { openStore } from '../storage/store.ts';
import { EXIT, type ExitCode, writeOut } from './exit.ts';
import { plainText } from './plain-text.ts';

export interface Check {
  readonly name: 'node' | 'data folder' | 'database' | 'ledger' | 'ollama' | 'models' | 'ports';
  /** A warning leaves Spillway usable. */
  readonly state: 'ok' | 'warning' | 'problem';
  readonly text: string;
  readonly next: string | null;
}

/** 0 when nothing is a problem, else 1. */
export async function doctor(options: {
  readonly ollama?: string;
  readonly home?: string;
  readonly json?: boolean;
}): Promise<ExitCode> {
  const checks = [
    checkNode(),
    ...checkStorage(options.home),
    ...(await checkLedger(options.home)),
    ...(await checkServer(options.ollama)),
    ...(await Promise.all(PORTS.map(checkPort))),
  ];
  const healthy = checks.every((check) => check.state !== 'problem');
  await writeOut(options.json === true ? `${JSON.stringify({ healthy, checks })}\n` : checks.map(lineOf).join(''));
  return healthy ? EXIT.done : EXIT.failed;
}

const marks = { ok: 'ok      ', warning: 'warning ', problem: 'PROBLEM ' } as const;

function lineOf(check: Check): string {
  return `${marks[check.state]} ${check.name.padEnd(11)} ${plainText(check.text, 500)}${check.next === null ? '' : ` ${plainText(check.next, 500)}`}\n`;
}

const fine = (name: Check['name'], text: string): Check => ({ name, state: 'ok', text, next: null });

function checkNode(): Check {
  // An older Node never gets here: every entry asks requireNode first.
  return fine('node', `Node ${process.versions.node} (${process.execPath}).`);
}

function checkStorage(flag: string | undefined): Check[] {
  const home = openHome({ flag });
  if (!home.ok)
    return [{ name: 'data folder', state: 'problem', text: home.denial.message, next: home.denial.next ?? null }];
  const folder = fine('data folder', `${home.value.folder} can be written.`);
  const lock = acquireLock(home.value, { pid: process.pid, host: 'command-line', url: null });
  if (!lock.ok) {
    const holder = lockHolder(home.value);
    const text =
      holder === null
        ? lock.denial.message
        : `In use by Spillway, pid ${holder.pid}${holder.url === null ? '' : `, ${withoutToken(holder.url)}`}.`;
    return [
      folder,
      {
        name: 'database',
        state: lock.denial.code === 'busy' ? 'ok' : 'problem',
        text,
        next: lock.denial.code === 'busy' ? null : (lock.denial.next ?? null),
      },
    ];
  }
  try {
    if (!existsSync(home.value.databaseFile)) return [folder, fine('database', 'None yet; the first start makes it.')];
    const opened = openStore({ home: home.value, clock: systemClock });
    if (!opened.ok)
      return [
        folder,
        { name: 'database', state: 'problem', text: opened.denial.message, next: opened.denial.next ?? null },
      ];
    const runs = opened.value.store.runs({ limit: 10_000 }).length;
    opened.value.store.close();
    const notices = opened.value.notices.map((notice): Check => ({
      name: 'database',
      state: 'warning',
      text: notice.text,
      next: notice.next,
    }));
    return [folder, fine('database', `${home.value.databaseFile} is sound, ${runs} runs.`), ...notices];
  } finally {
    lock.value.release();
  }
}

/** Nothing where there is no ledger yet, or where its folder or database is told as the problem already. */
async function checkLedger(flag: string | undefined): Promise<Check[]> {
  const home = openHome({ flag });
  if (!home.ok) return [];
  const opened = await openLedger({
    databaseFile: home.value.databaseFile,
    redisUrl: process.env['SPILLWAY_REDIS_URL'],
  });
  if (!opened.ok) {
    const { code, message, next = null } = opened.denial;
    return code.startsWith('storage-') ? [] : [{ name: 'ledger', state: 'problem', text: message, next }];
  }
  if (opened.value === null) return [];
  try {
    const { ledger, notices } = opened.value;
    const audit = await ledger.audit();
    if (!audit.ok)
      return [{ name: 'ledger', state: 'problem', text: audit.denial.message, next: audit.denial.next ?? null }];
    const { sound, entries, openHolds, faults } = audit.value;
    const store = ledger.store.kind === 'redis' ? 'Redis' : 'SQLite';
    const holds = `${openHolds.toLocaleString('en-US')} open hold${openHolds === 1 ? '' : 's'}`;
    const found: Check = sound
      ? fine(
          'ledger',
          `Sound, in ${store}, ${entries.toLocaleString('en-US')} ${entries === 1 ? 'entry' : 'entries'}, ${holds}.`,
        )
      : {
          name: 'ledger',
          state: 'problem',
          text: `Does not add up: ${faults[0] ?? 'no fault is named'}.`,
          next: 'All of it: spillway ledger audit',
        };
    return [
      found,
      ...notices.map((notice): Check => ({ name: 'ledger', state: 'warning', text: notice.text, next: notice.next })),
    ];
  } finally {
    await opened.value.close();
  }
}

async function checkServer(flag: string | undefined): Promise<Check[]> {
  const server = resolveServer({ flag, env: process.env['OLLAMA_HOST'] });
  if (!server.ok)
    return [{ name: 'ollama', state: 'problem', text: server.denial.message, next: server.denial.next ?? null }];
  const { address } = server.value;
  const report = await look(address);
  if (report.version === null) {
    return [
      {
        name: 'ollama',
        state: 'problem',
        text: report.problem ?? `No Ollama at ${address.label}.`,
        next: 'With --simulate the simulator takes its place.',
      },
    ];
  }
  const found = fine('ollama', `${report.version} at ${address.label}.`);
  const door = createOllamaDoor({ url: address.url, clock: systemClock });
  const [tags, running] = await Promise.all([door.tags(never), door.running(never)]);
  if (!tags.ok)
    return [found, { name: 'models', state: 'problem', text: tags.denial.message, next: tags.denial.next ?? null }];
  if (tags.value.length === 0)
    return [
      found,
      { name: 'models', state: 'problem', text: 'There is no model.', next: 'Pull one: ollama pull gemma3:270m' },
    ];
  const loaded = (running ?? []).map(
    (model) => `${model.name} (window ${model.contextLength?.toLocaleString('en-US') ?? 'not told'})`,
  );
  return [
    found,
    fine(
      'models',
      `${tags.value.length} models; ${loaded.length === 0 ? 'none is loaded' : `loaded: ${loaded.join(', ')}`}.`,
    ),
  ];
}

const PORTS = [
  { port: 11480, use: 'the browser host', next: 'It takes the next free port, or give --port.' },
  { port: 11500, use: 'the simulator', next: 'Give another one: spillway simulator --port 11501.' },
] as const;

function checkPort(entry: (typeof PORTS)[number]): Promise<Check> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'is taken' : `cannot be used (${error.code ?? error.message})`;
      resolve({
        name: 'ports',
        state: 'warning',
        text: `127.0.0.1:${entry.port} for ${entry.use} ${why}.`,
        next: entry.next,
      });
    });
    server.listen(entry.port, '127.0.0.1', () =>
      server.close(() => resolve(fine('ports', `127.0.0.1:${entry.port} for ${entry.use} is free.`))),
    );
  });
}

/** What doctor prints is made to be shown to somebody else; the token lets in whoever has it. */
function withoutToken(url: string): string {
  return url.replace(/[?#].*$/s, '');
}
