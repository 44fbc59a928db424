/** Tasks from files: names as people write them, units, places of what is wrong, and nothing that a file can break. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { taskYaml } from '../../../renderer/pages/agents/task-yaml.ts';
import { type AgentTask, agentTaskSchema } from '../../../shared/contract/agents.ts';
import { agentPresets } from '../../../shared/node/agent/presets.ts';
import { parseTaskYaml } from '../../../shared/node/agent/yaml.ts';

const read = (text: string): AgentTask => {
  const parsed = parseTaskYaml(text, 'task.yaml');
  if (!parsed.ok) throw new Error(parsed.denial.message);
  return parsed.value.task;
};
const wrong = (text: string): string => {
  const parsed = parseTaskYaml(text, 'task.yaml');
  return parsed.ok ? 'nothing' : [parsed.denial.message, parsed.denial.field].join(' | ');
};

describe('what is read', () => {
  test('names with underscores, as in the contract or in one word; dollars and seconds', () => {
    const text = `
prompt: Read it.
model: qwen3
num_ctx: 8192
numPredict: 300
approval_above_dollars: 0.01
limits: {calls: null, dollars: 1.5, seconds: 2.5, fan_out: 4, tokens_mean: billed}
guards:
  identical_calls: null
  no_progress: {steps: 2, shinglesMin: 4, share_percent_min: null, scope: tree}
  ignored_fields: {read_file: [request_id]}
tool_rules:
  fs.read_text_file: {dollars_worst: 0.002, calls_max: 3}
mcp_servers:
  my_files: {command: node, args: [a.js], env: {MY_KEY: v}}
`;
    expect(read(text)).toEqual(
      agentTaskSchema.parse({
        ...{ prompt: 'Read it.', model: 'qwen3', numCtx: 8_192, numPredict: 300, approvalAboveNanoDollars: 10_000_000 },
        limits: { calls: null, nanoDollars: 1_500_000_000, wallClockMs: 2_500, fanOut: 4, tokensMean: 'billed' },
        guards: {
          identicalCalls: null,
          noProgress: { steps: 2, shinglesMin: 4, sharePercentMin: null, scope: 'tree' },
          ignoredFields: { read_file: ['request_id'] },
        },
        toolRules: { 'fs.read_text_file': { nanoDollarsWorst: 2_000_000, callsMax: 3 } },
        mcpServers: { my_files: { command: 'node', args: ['a.js'], env: { MY_KEY: 'v' } } },
      }),
    );
  });

  test('every ready task, as JSON and as the page writes it', () => {
    for (const { task } of agentPresets('m')) {
      expect(read(JSON.stringify(task))).toEqual(task);
      expect(read(taskYaml(task))).toEqual(task);
    }
  });

  test('a file of servers, and a server that is called file', () => {
    const named = parseTaskYaml('prompt: a\nmodel: b\nmcp_servers: {file: mcp.json}', 'task.yaml');
    expect(named).toMatchObject({ ok: true, value: { serversFile: 'mcp.json', task: { mcpServers: {} } } });
    expect(read('prompt: a\nmodel: b\nmcp_servers: {file: {command: x}}').mcpServers).toHaveProperty(
      'file.command',
      'x',
    );
  });
});

describe('what is wrong stands with its place and its field', () => {
  test.each([
    ['model: m\n', 'task.yaml:1:1: prompt is missing. | prompt'],
    [
      'prompt: a\nmodel: m\nlimits:\n  depth: 99\n',
      'task.yaml:4:10: limits.depth: Too big: expected number to be <=16. | limits.depth',
    ],
    [
      'prompt: a\nmodel: m\nlimits:\n  dollars: lots\n',
      'task.yaml:4:12: limits.dollars: must be a number. | limits.nanoDollars',
    ],
    ['prompt: a\nmodel: m\nnum_ctx: 1\nnumCtx: 2\n', 'task.yaml:4:1: numCtx is given twice. | numCtx'],
    [
      'prompt: a\nmodel: m\nguards:\n  cycels: null\n',
      'task.yaml:4:3: there is no field guards.cycels. | guards.cycels',
    ],
    [
      'prompt: a\nmodel: m\ntool_rules:\n  a.b:\n    price: 1\n',
      'task.yaml:5:5: there is no field tool_rules.a.b.price. | tool_rules.a.b.price',
    ],
    ['- a\n', 'task.yaml:1:1: a task is a list of fields, such as `prompt: Find the bug.` | '],
    ['prompt: a\nprompt: b\n', 'task.yaml:2:1: Map keys must be unique. | '],
    ['? {a: 1}\n: b\n', 'task.yaml:1:3: a field name is a word. | '],
  ])('%j', (text, words) => expect(wrong(text)).toBe(words));
});

test('no file makes it throw, hang or forget to say where', () => {
  const bombs = [
    'a: &a [x,x,x]\nb: &b [*a,*a,*a]\nprompt: &c [*b,*b,*b]\nmodel: m',
    `prompt: a\nmodel: m\ntool_rules: &r {a: {calls_max: 1}, b: *r}`,
    '__proto__: 1\nprompt: a\nmodel: m',
    'prompt: a\nmodel: m\nlimits: {__proto__: 1}',
    'prompt: a\nmodel: m\ntool_rules: {__proto__: {calls_max: 1}}',
  ];
  for (const text of bombs) expect(typeof wrong(text)).toBe('string');
  const word = fc.constantFrom(
    'prompt',
    'model',
    'limits',
    'calls',
    'tool_rules',
    'guards',
    '*a',
    '&a',
    '{',
    '}',
    '[',
    ']',
    ':',
    '-',
    '1',
    'null',
    '"',
  );
  const glue = fc.constantFrom(' ', '\n', '\n  ', ': ', ', ');
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 200 }),
    fc.array(fc.tuple(word, glue), { maxLength: 40 }).map((parts) => parts.flat().join('')),
  );
  fc.assert(
    fc.property(text, (given) => {
      const parsed = parseTaskYaml(given, 'task.yaml');
      if (!parsed.ok) expect(parsed.denial.message.startsWith('task.yaml')).toBe(true);
    }),
    { numRuns: 500 },
  );
});
