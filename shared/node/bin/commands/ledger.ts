/** `spillway ledger`: what stands, whether it adds up, tables, and more budget for somebody. Works beside a running console. */
import { type Command, Option } from 'commander';
import { budgetWindows } from '../../../contract/plans.ts';
import type { ExportCommandOptions, GrantOptions, LedgerOptions } from '../ledger-command.ts';

export function registerLedger(program: Command): void {
  const ledger = program
    .command('ledger')
    .description('budgets: what is spent, held and free; audit, export, grant')
    .addHelpText('after', exampleText);

  common(ledger.command('status').description('print the balances of the periods that go on now'))
    .option('--csv <file>', 'write the balances as CSV instead; - is stdout')
    .action(async (options: LedgerOptions) => {
      const { ledgerStatus } = await import('../ledger-command.ts');
      process.exitCode = await ledgerStatus(options);
    });

  ledger
    .command('audit')
    .description('replay the journal and compare it with every balance; ends with code 1 where it does not add up')
    .option('--json', 'print one JSON object')
    .option('--home <folder>', homeText)
    .action(async (options: LedgerOptions) => {
      const { ledgerAudit } = await import('../ledger-command.ts');
      process.exitCode = await ledgerAudit(options);
    });

  common(
    ledger
      .command('export')
      .description('write a table of the ledger, CSV to stdout unless told otherwise')
      .argument('<table>', 'journal (newest first), balances or reservations'),
  )
    .option('--csv <file>', 'write CSV to this file; - is stdout')
    .addOption(new Option('--profile <name>', 'CSV dialect').choices(['machine', 'spreadsheet']).default('machine'))
    .addOption(
      new Option('--separator <sign>', 'spreadsheet profile: , ; or tab').choices([',', ';', 'tab']).default(','),
    )
    .addOption(new Option('--decimal-mark <sign>', 'spreadsheet profile: . or ,').choices(['.', ',']).default('.'))
    .action(async (table: string, options: ExportCommandOptions) => {
      const { ledgerExportTo } = await import('../ledger-command.ts');
      process.exitCode = await ledgerExportTo(table, options);
    });

  common(ledger.command('grant').description('add to the limit of the period that goes on now'))
    .option('--tenant <name>', 'whose budget; alone it is the budget of the whole tenant')
    .option('--user <name>', 'the budget of this user')
    .option('--model <name>', 'the budget of this model')
    .addOption(new Option('--window <period>', 'which limit').choices(budgetWindows))
    .option('--tokens <number>', 'how many tokens more')
    .option('--requests <number>', 'how many requests more')
    .option('--dollars <amount>', 'how many dollars more, such as 2.50')
    .option('--reason <text>', 'why, for the journal')
    .action(async (options: GrantOptions) => {
      const { ledgerGrant } = await import('../ledger-command.ts');
      process.exitCode = await ledgerGrant(options);
    });
}

const homeText = 'data folder (default: SPILLWAY_HOME, else the place of the platform)';

const common = (command: Command): Command =>
  command
    .option('--simulated', 'the book of the simulator in place of the real one')
    .option('--json', 'print JSON on stdout')
    .option('--home <folder>', homeText);

const exampleText = `
Examples:
  spillway ledger status
  spillway ledger grant --tenant acme --user ada --window day --tokens 5000
  spillway ledger export journal --csv journal.csv

Where SPILLWAY_REDIS_URL is set, or the settings name a Redis, the ledger is there; else in the data folder.`;
