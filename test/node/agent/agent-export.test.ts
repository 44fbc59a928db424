/** Agent runs as tables: the columns as they stand, texts of models and tools that are no formulas, both dialects, JSON. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AgentRunView, GatewayCall } from '../../../shared/contract/agents.ts';
import { agentExport } from '../../../shared/node/agent/agent-export.ts';
import { agentCallColumns, agentNodeColumns, agentTurnColumns } from '../../../shared/node/csv/agent-columns.ts';
import { neutralText } from '../../../shared/node/csv/csv.ts';
import { rowsOf } from '../../cli/spillway.ts';
import { simulator, startConsole } from './agent-console.ts';

const machine = { format: 'csv', profile: 'machine', separator: ',', decimalMark: '.' } as const;
const sheet = { format: 'csv', profile: 'spreadsheet', separator: ';', decimalMark: ',' } as const;

const textOf = (
  view: AgentRunView,
  ...how: [what: 'calls' | 'nodes' | 'turns', options: Parameters<typeof agentExport>[2]]
) => [...(agentExport(view, ...how).lines as Iterable<string>)].join('');

async function realRun(): Promise<AgentRunView> {
  const server = await simulator();
  const at = await startConsole({ ollamaUrl: server.url });
  return at.run({ tools: ['carrier'], name: '=1+1', seed: 5 });
}

describe('a run on a server', () => {
  test('calls, agents and turns, each with where they come from', async () => {
    const view = await realRun();
    const origin = {
      ...{ run_id: view.run.id, task: "'=1+1", model: 'sim-loop', simulated: 'true', scripted: 'false' },
      ...{ governed: 'true', seed: '5', model_digest: view.run.modelDigest, ollama_version: '0.33.0-rc2' },
    };
    expect(view.run.modelDigest).toMatch(/^[0-9a-f]{64}$/);
    const calls = rowsOf(textOf(view, 'calls', machine));
    expect(calls).toHaveLength(3);
    expect(calls[0]).toMatchObject({
      ...origin,
      ...{ agent: 'agent', step: '1', index: '0', tool: 'get_shipment_status', outcome: 'done', attempts: '1' },
      ...{ arguments: '{"orderId":"status"}', nano_dollars: '1000000', code: '', handle: '' },
    });
    const [node] = rowsOf(textOf(view, 'nodes', machine));
    expect(node).toMatchObject({
      ...origin,
      ...{ agent: 'agent', parent: '', depth: '0', state: 'ended', reason: 'state-hash', calls_used: '3' },
      ...{ calls_limit: '60', tokens_mean: 'context', nano_dollars_limit: '2000000000' },
    });
    const turns = rowsOf(textOf(view, 'turns', machine));
    expect(turns.map(({ turn, tool_calls: asked, closing }) => [turn, asked, closing])).toEqual([
      ['1', '1', 'false'],
      ['2', '1', 'false'],
      ['3', '1', 'false'],
    ]);
    expect(new Set([...calls, ...turns].map(({ options_hash: hash }) => hash)).size).toBe(1);
  });

  test('no limit and no answer are empty, 0 is 0', async () => {
    const at = await startConsole();
    const view = await at.run({ model: 'script:reader', tools: ['files'], limits: { tokens: null, nanoDollars: 0 } });
    expect(rowsOf(textOf(view, 'nodes', machine))[0]).toMatchObject({
      ...{ tokens_limit: '', nano_dollars_limit: '0', model_digest: '', ollama_version: '' },
    });
  });

  test('the name says what it is', async () => {
    const { name, rows } = agentExport(await realRun(), 'calls', machine);
    expect([/^spillway-agents-calls-\d{4}-\d\d-\d\d-\d{6}-simulated\.csv$/.test(name), rows]).toEqual([true, 3]);
  });
});

test('columns are only ever added at the end', () => {
  const heads = [agentCallColumns, agentNodeColumns, agentTurnColumns].map((columns) =>
    columns.map(({ name }) => name).join(','),
  );
  const run = 'run_id,task,model,simulated,scripted,governed,seed';
  const server = 'model_digest,ollama_version,options_hash,context_tokens_source';
  expect(heads).toEqual([
    `${run},agent,step,index,call_id,tool,arguments,outcome,code,dimension,attempts,output_bytes,shown_bytes,handle,context_tokens,nano_dollars,new_shingles,fingerprint,state_hash,started_ms,ended_ms,child,${server}`,
    `${run},agent,parent,depth,state,reason,calls_used,calls_carved,calls_limit,context_tokens,billed_tokens,tokens_limit,tokens_mean,nano_dollars_used,nano_dollars_limit,fan_out_peak,output_bytes_peak,descendants,model_turns,largest_context_tokens,started_ms,ended_ms,${server}`,
    `${run},agent,turn,closing,call_id,context_tokens,tool_calls,started_ms,ended_ms,${server}`,
  ]);
});

test('whatever a model or a tool is called and says comes back, and is no formula', async () => {
  const view = await realRun();
  const [call] = view.calls;
  if (call === undefined) throw new Error('there is a call');
  const hostile = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom(
      '=cmd|x',
      '+1',
      '-1',
      '@a',
      '\t=1',
      '"a,b"',
      'a\r\nb',
      '＝1',
      ' =1',
      "'=1",
      ';;',
      '\u0000',
      '\ud800',
    ),
  );
  fc.assert(
    fc.property(hostile, hostile, (tool, argumentsHead) => {
      const changed: AgentRunView = { ...view, calls: [{ ...call, tool, argumentsHead } satisfies GatewayCall] };
      const [row] = rowsOf(textOf(changed, 'calls', machine));
      expect(row?.['tool']).toBe(neutralText(tool.toWellFormed()));
      expect(row?.['arguments']).toBe(neutralText(argumentsHead.toWellFormed()));
      const [json] = JSON.parse(textOf(changed, 'calls', { ...machine, format: 'json' })) as Record<string, unknown>[];
      expect([json?.['tool'], json?.['arguments']]).toEqual([tool, argumentsHead]);
      const text = textOf(changed, 'calls', sheet);
      expect(text.startsWith(`\ufeff${agentCallColumns.map(({ name }) => name).join(';')}\r\n`)).toBe(true);
    }),
  );
});

test('secrets of servers are in no table', async () => {
  const view = await realRun();
  const task = {
    ...view.run.task,
    mcpServers: { a: { url: 'http://a', headers: { Authorization: 'Bearer s3cret' } } },
  };
  const changed = { ...view, run: { ...view.run, task } };
  const hashOf = (one: AgentRunView): string | undefined => rowsOf(textOf(one, 'calls', machine))[0]?.['options_hash'];
  const other = { a: { url: 'http://a', headers: { Authorization: 'Bearer other' } } };
  expect(hashOf(changed)).toBe(hashOf({ ...view, run: { ...view.run, task: { ...task, mcpServers: other } } }));
  expect(hashOf(changed)).not.toBe(hashOf(view));
  for (const what of ['calls', 'nodes', 'turns'] as const)
    expect(textOf(changed, what, machine)).not.toContain('s3cret');
});
