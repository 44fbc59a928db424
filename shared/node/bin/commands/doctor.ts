/** `spillway doctor`: what is wrong on this machine, and what to do. */
import type { Command } from 'commander';

export function registerDoctor(program: Command): void {
  program
    .command('doctor')
    .description('check Node, data folder, database, ledger, Ollama, models and ports')
    .option('--ollama <url>', 'address of the server (default: OLLAMA_HOST, else http://127.0.0.1:11434)')
    .option('--home <folder>', 'data folder (default: SPILLWAY_HOME, else the place of the platform)')
    .option('--json', 'print the checks as one JSON object')
    .action(async (options: { ollama?: string; home?: string; json?: boolean }) => {
      const { doctor } = await import('../doctor-command.ts');
      process.exitCode = await doctor(options);
    });
}
