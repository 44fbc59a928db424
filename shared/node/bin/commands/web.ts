/** `spillway web`: the browser host; its own options are read by the host itself. */
import type { Command } from 'commander';

export function registerWeb(program: Command): void {
  program
    .command('web')
    .description('open the console in the browser (spillway web --help for its options)')
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .argument('[options...]', 'options of the host, such as --simulate --no-open --port 11480')
    .action(async (args: readonly string[]) => {
      const { runWeb } = await import('../web.ts');
      process.exitCode = await runWeb(args);
    });
}
