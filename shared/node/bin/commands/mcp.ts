/** `spillway mcp`: an MCP server that fronts other servers with the gateway. */
import type { Command } from 'commander';
import type { McpCommandOptions } from '../mcp-command.ts';

export function registerMcp(program: Command): void {
  program
    .command('mcp')
    .description('be an MCP server on stdin and stdout that fronts other servers with budgets and loop guards')
    .requiredOption('--servers <file>', 'mcpServers as other clients keep it, JSON')
    .option('--calls <number>', 'tool calls in this session')
    .option('--tokens <number>', 'tokens of results in this session')
    .option('--dollars <amount>', 'what tools may cost in this session, such as 2.50')
    .option('--seconds <number>', 'how long this session may go on')
    .option('--output-bytes <number>', 'bytes of one result; the rest is read with read_blob')
    .option('--at-once <number>', 'calls at the same time')
    .option('--no-guards', 'without loop guards')
    .addHelpText('after', helpText)
    .action(async (options: McpCommandOptions) => {
      const { mcpCommand } = await import('../mcp-command.ts');
      process.exitCode = await mcpCommand(options);
    });
}

const helpText = `
A limit is a number or none. Without flags: 60 calls, 400000 tokens, 2 dollars, no limit of time, 16000 bytes, 8 at once;
the file may say others, and prices of tools, beside mcpServers:

  "spillway": {
    "limits": {"calls": 100},
    "toolRules": {"files.write_file": {"nanoDollarsWorst": 1000000, "callsMax": 5}}
  }

In the settings of a client:

  {"mcpServers": {"spillway": {"command": "spillway", "args": ["mcp", "--servers", "servers.json"]}}}`;
