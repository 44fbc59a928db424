/**
 * The command line: data on stdout, everything else on stderr. Each command is loaded when it is asked for, so that `explain`
 * starts without a database and `--help` without a server.
 */
import { Command, CommanderError } from 'commander';
import { version } from '../version.ts';
import { EXIT, handleBrokenPipe } from './exit.ts';

/** `args` without node and script. Sets process.exitCode; the process ends when nothing is open any more. */
export async function runProgram(args: readonly string[]): Promise<void> {
  handleBrokenPipe();
  const program = createProgram();
  const wanted = args.find((arg) => !arg.startsWith('-'));
  const named =
    wanted !== undefined && wanted in commands ? [commands[wanted as CommandName]] : Object.values(commands);
  for (const load of named) (await load())(program);
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.badInput;
  }
}

type Register = (program: Command) => void;

const commands = {
  run: async (): Promise<Register> => (await import('./commands/run.ts')).registerRun,
  explain: async (): Promise<Register> => (await import('./commands/explain.ts')).registerExplain,
  simulator: async (): Promise<Register> => (await import('./commands/simulator.ts')).registerSimulator,
  ledger: async (): Promise<Register> => (await import('./commands/ledger.ts')).registerLedger,
  agent: async (): Promise<Register> => (await import('./commands/agent.ts')).registerAgent,
  web: async (): Promise<Register> => (await import('./commands/web.ts')).registerWeb,
  mcp: async (): Promise<Register> => (await import('./commands/mcp.ts')).registerMcp,
  doctor: async (): Promise<Register> => (await import('./commands/doctor.ts')).registerDoctor,
} as const;
type CommandName = keyof typeof commands;

function createProgram(): Command {
  const program = new Command('spillway')
    .version(version)
    // `explain --version 0.33.0` means the recorded server; only `--version` before a command is ours.
    .enablePositionalOptions()
    .description('Shows where a local model overflows: context, thinking, budget, loops.')
    .showHelpAfterError('Add --help for what can be given.')
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, '')) })
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 failed, 2 bad input, 3 a --fail-on verdict occurred, 130 cancelled.',
    );
  return program.exitOverride();
}
