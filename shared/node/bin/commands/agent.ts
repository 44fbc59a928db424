/** `spillway agent`: a task with tools on a budget. The receipt on stdout, steps on stderr. */
import { type Command, Option } from 'commander';
import type { AgentCommandOptions } from '../agent-options.ts';
import { agentFailOnNames } from '../agent-fail-on.ts';

export function registerAgent(program: Command): void {
  const agent = program
    .command('agent')
    .description('agents: tools behind the gateway, budgets, loop guards')
    .addHelpText('after', exampleText);

  agent
    .command('run')
    .description('run a task from a YAML file, or a ready one, and print its receipt')
    .argument('[file]', 'task, such as task.yaml')
    .option('--preset <name>', 'run a ready task; `spillway agent presets` lists them')
    .option('--model <name>', 'model to run, in place of the one in the file; script:NAME is a scripted one')
    .option('--simulate', 'use the built-in simulator; the receipt says so')
    .option('--ollama <url>', 'address of the server (default: OLLAMA_HOST, else http://127.0.0.1:11434)')
    .option('--ungoverned', 'without budgets and guards, to see what happens then')
    .option('--csv <file>', 'write one CSV row a call at the end; - is stdout')
    .option('--json', 'print the run as one JSON object on stdout')
    .addOption(new Option('--profile <name>', 'CSV dialect').choices(['machine', 'spreadsheet']).default('machine'))
    .addOption(
      new Option('--separator <sign>', 'spreadsheet profile: , ; or tab').choices([',', ';', 'tab']).default(','),
    )
    .addOption(new Option('--decimal-mark <sign>', 'spreadsheet profile: . or ,').choices(['.', ',']).default('.'))
    .option(
      '--fail-on <reasons>',
      'end with code 3 when the run ended for one of these, such as state-hash,budget-calls',
    )
    .option('--home <folder>', 'data folder (default: SPILLWAY_HOME, else the place of the platform)')
    .action(async (file: string | undefined, options: AgentCommandOptions) => {
      const { agentRun } = await import('../agent-command.ts');
      process.exitCode = await agentRun(file, options);
    });

  agent
    .command('presets')
    .description('list the tasks that are ready to run')
    .option('--json', 'print them as JSON')
    .action(async (options: { json?: boolean }) => {
      const { agentPresetList } = await import('../agent-command.ts');
      process.exitCode = await agentPresetList(options);
    });
}

const exampleText = `
Examples:
  spillway agent run --preset farm-reader
  spillway agent run task.yaml --simulate --csv calls.csv --fail-on not-done

A task file:

  prompt: Which file of the docs folder is about room keys?
  model: qwen3                       # a model with tools, or script:NAME
  tools: [files]                     # carrier, clock, link-farm, files, big-page, flaky, jobs
  limits: {calls: 60, tokens: 400000, tokens_mean: context, dollars: 2, seconds: 300, depth: 2, fan_out: 8}
  rounds: 40
  guards: {identical_calls: {limit: 3, polling_limit: 60}}   # null = off
  approval_above_dollars: 0.01       # calls that may cost more are asked about
  mcp_servers: {file: mcp.json}      # or the servers themselves, as other clients keep them
  tool_rules:
    files.write_file: {calls_max: 5, dollars_worst: 0.001, approval: true}

A limit of null is no limit; 0 allows nothing. A call that needs a person is asked about on a terminal, and denied where
there is none.

Reasons for --fail-on: ${agentFailOnNames.join(', ')}.`;
