/** `spillway simulator`: the built-in server on a port of its own, until Ctrl-C. */
import { InvalidArgumentError, Option, type Command } from 'commander';
import { faultNames, newestVersion, startSimulator, type FaultName, type Simulator } from '../../simulator/index.ts';
import { faultTexts } from '../../simulator/faults.ts';

export function registerSimulator(program: Command): void {
  program
    .command('simulator')
    .description('run an Ollama-compatible server without a model, to see where context overflows')
    .option('--port <number>', 'port to listen on, 0 = any free one', portNumber, 11_500)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--version-of <version>', 'behave like this version of Ollama', newestVersion)
    .option('--time-scale <factor>', '1 = pace of a small model, 0 = no waiting', notNegative, 1)
    .option('--seed <number>', 'decides ids and invented answers', wholeNumber, 1_837)
    .option('--num-ctx <tokens>', 'default window', positive, 4_096)
    .option('--num-parallel <slots>', 'requests a model takes at once', positive, 1)
    .option('--log <file>', 'append the server log to this file')
    .option('--debug', 'log DEBUG lines too')
    .addOption(new Option('--fault <names...>', 'what goes wrong on purpose').choices(faultNames))
    .addHelpText(
      'after',
      `\nFaults:\n${faultNames.map((name) => `  ${name.padEnd(18)} ${faultTexts[name]}`).join('\n')}`,
    )
    .action(run);
}

interface Flags {
  readonly port: number;
  readonly host: string;
  readonly versionOf: string;
  readonly timeScale: number;
  readonly seed: number;
  readonly numCtx: number;
  readonly numParallel: number;
  readonly log?: string;
  readonly debug?: boolean;
  readonly fault?: readonly FaultName[];
}

async function run(flags: Flags): Promise<void> {
  const simulator = await started(flags);
  if (simulator === null) return;
  process.stderr.write(
    `Simulator of Ollama ${simulator.version} at ${simulator.url}, seed=${flags.seed} (Ctrl-C ends it)\n`,
  );
  process.stderr.write(
    `Models: ${simulator.state.profiles.map((profile) => profile.name.replace(/:latest$/, '')).join(', ')}\n`,
  );
  if (flags.fault !== undefined) process.stderr.write(`Faults in force: ${flags.fault.join(', ')}\n`);
  await untilSignal();
  await simulator.stop();
  process.stderr.write('Simulator stopped.\n');
}

async function started(flags: Flags): Promise<Simulator | null> {
  try {
    return await startSimulator({
      host: flags.host,
      port: flags.port,
      version: flags.versionOf,
      timeScale: flags.timeScale,
      seed: flags.seed,
      defaultNumCtx: flags.numCtx,
      numParallel: flags.numParallel,
      debug: flags.debug === true,
      ...(flags.log === undefined ? {} : { logFile: flags.log }),
      ...(flags.fault === undefined ? {} : { faults: flags.fault }),
    });
  } catch (error) {
    process.stderr.write(`${startProblem(error, flags)}\n`);
    process.exitCode = isInUse(error) ? 1 : 2;
    return null;
  }
}

function startProblem(error: unknown, flags: Flags): string {
  if (isInUse(error)) return `Port ${flags.port} is in use: give another with --port, or --port 0 for any free one.`;
  return error instanceof Error ? error.message : String(error);
}

function isInUse(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}

function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
}

function portNumber(text: string): number {
  const value = wholeNumber(text);
  if (value < 0 || value > 65_535) throw new InvalidArgumentError('give a port from 0 to 65535.');
  return value;
}

function positive(text: string): number {
  const value = wholeNumber(text);
  if (value < 1) throw new InvalidArgumentError('give a whole number of at least 1.');
  return value;
}

function wholeNumber(text: string): number {
  if (!/^-?\d{1,12}$/.test(text)) throw new InvalidArgumentError('give a whole number.');
  return Number(text);
}

function notNegative(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('give a number of at least 0.');
  return value;
}
