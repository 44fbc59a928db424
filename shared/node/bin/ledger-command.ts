/** What `spillway ledger …` does. Data on stdout, words on stderr; nothing here waits for a lock of the data folder. */
import type { Denial } from '../../contract/denials.ts';
import type { Book } from '../../contract/ledger.ts';
import type { BudgetWindow } from '../../contract/plans.ts';
import { isoOf } from '../../engine/ledger/calendar.ts';
import type { GrantRequest } from '../../engine/ledger/ledger.ts';
import { ExportStopped } from '../csv/chunked-exports.ts';
import { ledgerExport } from '../ledger/ledger-export.ts';
import { type OpenedLedger, openLedger } from '../ledger/open-ledger.ts';
import { openHome } from '../storage/home.ts';
import { EXIT, type ExitCode, complain, problemOfStdout, writeOut } from './exit.ts';
import { readGrant } from './ledger-grant.ts';
import { grantLine, statusText } from './ledger-table.ts';
import { plainText } from './plain-text.ts';
import { openSink } from './sink.ts';

export interface LedgerOptions {
  readonly simulated?: boolean;
  readonly json?: boolean;
  readonly csv?: string;
  readonly home?: string;
}

export interface ExportCommandOptions extends LedgerOptions {
  readonly profile: 'machine' | 'spreadsheet';
  readonly separator: ',' | ';' | 'tab';
  readonly decimalMark: '.' | ',';
}

export interface GrantOptions extends LedgerOptions {
  readonly tenant?: string;
  readonly user?: string;
  readonly model?: string;
  readonly window?: BudgetWindow;
  readonly tokens?: string;
  readonly requests?: string;
  readonly dollars?: string;
  readonly reason?: string;
}

export async function ledgerStatus(options: LedgerOptions): Promise<ExitCode> {
  if (options.csv !== undefined) {
    const machine = { profile: 'machine', separator: ',', decimalMark: '.' } as const;
    return ledgerExportTo('balances', { ...options, ...machine }, EXIT.done);
  }
  return withLedger(options, EXIT.done, async ({ ledger }) => {
    const book = bookOf(options);
    const view = await ledger.view(book);
    if (!view.ok) return refuse(view.denial);
    const open = view.value.reservations.filter((one) => one.state === 'open');
    const nowMs = Math.floor(ledger.nowMs(book));
    const status = { store: ledger.store.kind, book, now: isoOf(nowMs), openHolds: open.length };
    await writeOut(
      options.json === true
        ? `${JSON.stringify({ ...status, balances: view.value.balances, reservations: open })}\n`
        : statusText({ ...status, nowMs, balances: view.value.balances }),
    );
    return EXIT.done;
  });
}

export async function ledgerAudit(options: LedgerOptions): Promise<ExitCode> {
  return withLedger(options, EXIT.failed, async ({ ledger }) => {
    const audit = await ledger.audit();
    if (!audit.ok) return refuse(audit.denial);
    const { sound, entries, accounts, openHolds, faults } = audit.value;
    const counts = `${counted(entries, 'entry', 'entries')}, ${counted(accounts, 'account')}, ${counted(openHolds, 'open hold')}`;
    const text = sound
      ? `Sound: ${counts}.\n`
      : [
          `NOT SOUND: ${counts}. What does not add up:`,
          ...faults.map((fault) => `  ${plainText(fault, 500)}`),
          'Keep a copy of the data folder, then export the journal: it is the truth, the balances follow from it.\n',
        ].join('\n');
    await writeOut(options.json === true ? `${JSON.stringify(audit.value)}\n` : text);
    return sound ? EXIT.done : EXIT.failed;
  });
}

const tables = ['journal', 'balances', 'reservations'] as const;

export async function ledgerExportTo(
  table: string,
  options: ExportCommandOptions,
  without: ExitCode = EXIT.failed,
): Promise<ExitCode> {
  const what = tables.find((one) => one === table);
  if (what === undefined) {
    complain(`There is no table ${plainText(table, 60)}.`, `Give ${tables.join(', ')}.`);
    return EXIT.badInput;
  }
  if (options.csv !== undefined && options.json === true) {
    complain('--csv and --json are two formats.', 'Leave one out; --json writes to stdout.');
    return EXIT.badInput;
  }
  return withLedger(options, without, async ({ ledger, directory }) => {
    const book = bookOf(options);
    const source = ledgerExport(
      { store: ledger.store, directory: () => directory },
      {
        what,
        book,
        atMs: ledger.nowMs(book),
        options: {
          format: options.json === true ? 'json' : 'csv',
          profile: options.profile,
          separator: options.separator === 'tab' ? '\t' : options.separator,
          decimalMark: options.decimalMark,
        },
      },
    );
    const sink = openSink(options.csv ?? '-', 'Give another file, and export again.');
    if (!sink.ok) return refuse(sink.denial);
    try {
      for await (const lines of source.lines) await sink.value.write(lines);
    } catch (error) {
      await sink.value.close();
      if (error instanceof ExportStopped) return refuse(error.denial);
      throw error;
    }
    const problem = (await sink.value.close())?.message ?? problemOfStdout();
    if (problem !== null) {
      complain(problem, 'Export again.');
      return EXIT.failed;
    }
    return EXIT.done;
  });
}

export async function ledgerGrant(options: GrantOptions): Promise<ExitCode> {
  const grant = readGrant(options, bookOf(options));
  if (!grant.ok) return refuse(grant.denial);
  return withLedger(options, EXIT.failed, async ({ ledger }) => {
    const granted = await ledger.grant(grant.value);
    if (!granted.ok) return refuse(namingFlag(granted.denial, grant.value));
    await writeOut(
      options.json === true ? `${JSON.stringify(granted.value)}\n` : grantLine(grant.value, granted.value),
    );
    return EXIT.done;
  });
}

/** without: the exit code where there is no ledger yet. */
async function withLedger(
  options: LedgerOptions,
  without: ExitCode,
  work: (opened: OpenedLedger) => Promise<ExitCode>,
): Promise<ExitCode> {
  const home = openHome({ flag: options.home });
  if (!home.ok) return refuse(home.denial);
  const opened = await openLedger({
    databaseFile: home.value.databaseFile,
    redisUrl: process.env['SPILLWAY_REDIS_URL'],
  });
  if (!opened.ok) return refuse(opened.denial);
  if (opened.value === null) {
    complain(
      `No ledger yet in ${plainText(home.value.folder, 500)}: nothing was called from there.`,
      'Start the console, or name its folder with --home.',
    );
    return without;
  }
  try {
    for (const notice of opened.value.notices) complain(`Note: ${plainText(notice.text)}`, notice.next);
    return await work(opened.value);
  } finally {
    await opened.value.close();
  }
}

const bookOf = ({ simulated }: LedgerOptions): Book => (simulated === true ? 'simulated' : 'real');

/** The ledger names its own fields. */
function namingFlag(denial: Denial, { scope, window }: GrantRequest): Denial {
  const flags: Readonly<Record<string, string>> = {
    window: `--window ${window}`,
    tenant: '--tenant',
    name: scope === 'tenant' ? '--tenant' : `--${scope}`,
    unit: '--tokens, --requests or --dollars',
    amount: '--tokens, --requests or --dollars',
  };
  const flag = denial.field === undefined ? undefined : flags[denial.field];
  return flag === undefined ? denial : { ...denial, message: `${flag}: ${denial.message}` };
}

function refuse(denial: Denial): ExitCode {
  complain(plainText(denial.message, 1_000), denial.next === undefined ? null : plainText(denial.next, 500));
  return denial.code === 'bad-input' ? EXIT.badInput : EXIT.failed;
}

const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
