/** `spillway run`: an experiment without a window. Rows on stdout or in a file, progress on stderr. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { failOnNames } from '../fail-on.ts';
import type { RunOptions } from '../run-options.ts';

export function registerRun(program: Command): void {
  program
    .command('run')
    .description('run an experiment from a YAML file, or a built-in one')
    .argument('[file]', 'experiment, such as context.yaml')
    .addOption(new Option('--default <name>', 'run the built-in experiment').choices(['context', 'reasoning']))
    .addOption(
      new Option('--preset <name>', 'variant of the built-in context experiment').choices([
        'needle-first',
        'needle-last',
        'needle-anywhere',
      ]),
    )
    .option('--simulate', 'use the built-in simulator; every row says so')
    .option(
      '--time-scale <factor>',
      'pace of the simulator: 0 = no waiting, 1 = a small model on a CPU',
      parsedNumber(0, 10),
      0,
    )
    .option('--ollama <url>', 'address of the server (default: OLLAMA_HOST, else http://127.0.0.1:11434)')
    .option('--log <file>', "the server's log, for exact verdicts: a file, journal, serve (start ollama here), or off")
    .option('--model <name>', 'model to run, in place of the ones in the file; may be repeated', collected, [])
    .option('--seed <number>', 'seed of documents and of the first repeat', parsedWhole(0, 2_147_483_000))
    .option('--csv <file>', 'write one CSV row a cell, as they finish; - is stdout')
    .option('--json', 'print one JSON object a cell on stdout, as they finish')
    .addOption(new Option('--profile <name>', 'CSV dialect').choices(['machine', 'spreadsheet']).default('machine'))
    .addOption(
      new Option('--separator <sign>', 'spreadsheet profile: , ; or tab').choices([',', ';', 'tab']).default(','),
    )
    .addOption(new Option('--decimal-mark <sign>', 'spreadsheet profile: . or ,').choices(['.', ',']).default('.'))
    .option('--fail-on <verdicts>', 'end with code 3 when one of these occurred, such as halved,lost')
    .option('--home <folder>', 'data folder (default: SPILLWAY_HOME, else the place of the platform)')
    .addHelpText('after', exampleText)
    .action(async (file: string | undefined, options: RunOptions) => {
      const { run } = await import('../run-command.ts');
      process.exitCode = await run(file, options);
    });
}

/** Every field has a default but the models, which --model can give as well. */
const exampleText = `
An experiment file:

  models: [llama3.2, gemma3:270m]
  num_ctx: [default, 16384]          # default = whatever the server takes
  sizes: [2000, 40000, {tokens: 9000}]  # characters, or tokens
  needle_depths: [0, 50, [10, 90]]   # percent; a list plants several needles at once
  routes: [chat]                     # chat, generate
  policies: [warn]                   # warn, refuse, allow
  repeats: 1
  question_position: last            # last, first
  num_predict: 60
  temperature: 0
  seed: 7
  document: {file: handbook.txt}     # default: generated text

A reasoning experiment:

  kind: reasoning
  models: [qwen3]
  prompt: Is 1000003 a prime number? Answer only yes or no.
  variants: [off/2000, on/8000, high/4000]  # think / num_predict
  # or: {think: on, num_predict: 8000, thinking_cap: {tokens_max: 500, then: ask-again}}
  repeats: 10
  num_ctx: 16384                     # default = whatever the server takes
  temperature: 0.7
  find_cap: {think: on, cap_max: 8000, in_a_row: 3}  # the smallest num_predict that answers

Verdicts for --fail-on: ${failOnNames.join(', ')}.`;

const collected = (value: string, before: string[]): string[] => [...before, value];

function parsedWhole(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isInteger(value) || value < min || value > max)
      throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`);
    return value;
  };
}

function parsedNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !(value >= min && value <= max))
      throw new InvalidArgumentError(`Give a number from ${min} to ${max}.`);
    return value;
  };
}
