/** `spillway explain`: verdicts for replies that were recorded elsewhere. Needs no server and no database. */
import { type Command, InvalidArgumentError } from 'commander';
import type { ExplainOptions } from '../explain-command.ts';

export function registerExplain(program: Command): void {
  program
    .command('explain')
    .description('say what happened to the prompt of a recorded reply')
    .argument('<file...>', 'request and reply, reply JSON, JSON lines or an event stream; - is stdin')
    .option('--json', 'print one JSON object a file')
    .option('--version <version>', 'version of the server that answered, such as 0.33.0')
    .option('--window <tokens>', 'the window that ran', parsedWindow)
    .option('--log <file>', "the server's log; lines of other calls do no harm")
    .option('--fail-on <verdicts>', 'end with code 3 when one of these occurred, such as halved,refused')
    .action(async (files: string[], options: ExplainOptions) => {
      const { explainFiles } = await import('../explain-command.ts');
      process.exitCode = await explainFiles(files, options);
    });
}

const WINDOW_MAX = 10_000_000;

function parsedWindow(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isInteger(value) || value < 1 || value > WINDOW_MAX) {
    throw new InvalidArgumentError(`Give a whole number from 1 to ${WINDOW_MAX.toLocaleString('en-US')}.`);
  }
  return value;
}
