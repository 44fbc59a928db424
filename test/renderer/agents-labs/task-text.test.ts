import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { DEFAULT_GUARDS, DEFAULT_LIMITS, agentTaskSchema, toolSets } from '../../../shared/contract/agents.ts';
import type { AgentTask, ClassBudget } from '../../../shared/contract/agents.ts';
import { readTask, textOfTask } from '../../../renderer/pages/agents/task-text.ts';
import type { TaskText } from '../../../renderer/pages/agents/task-text.ts';
import { budgetWords, costWords, limitWord, withBudget } from '../../../renderer/pages/agents/task-words.ts';
import { taskYaml } from '../../../renderer/pages/agents/task-yaml.ts';
import { makeTask } from './draw.tsx';

const text = textOfTask(makeTask());
const taskOf = (typed: TaskText): AgentTask => {
  const read = readTask(typed);
  if (!('task' in read)) throw new Error(JSON.stringify(read.problems));
  return read.task;
};
const problemsOf = (typed: TaskText): Readonly<Record<string, string>> => {
  const read = readTask(typed);
  return 'problems' in read ? read.problems : {};
};

const amount = fc.option(fc.integer({ min: 0, max: 1_000_000_000_000_000 }));
const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((word) => /^[^\s,:]+$/u.test(word));
const anyText = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
    fc.array(fc.string({ maxLength: 12 }), { maxLength: 4 }).map((lines) => lines.join('\n')),
    fc.constantFrom(
      'a\n  b\n\nc',
      'a: b\n# no comment',
      '- x\n---\ny',
      'null',
      'true',
      '12',
      '0x1f',
      'a\u2028b',
      'tab\there',
      'x\n',
      '\ufeffx',
    ),
  )
  .filter((words) => words.trim() !== '');
const anyTask: fc.Arbitrary<AgentTask> = fc
  .record({
    prompt: anyText,
    name: fc
      .oneof(anyText, fc.constantFrom('a:b', 'a: b', 'a b:', 'x #y', 'x:1 2:3', 'Off', 'a:'))
      .map((words) => words.trim().slice(0, 150).trim() || 'x'),
    model: fc.constantFrom('script:carrier', 'llama3.2:3b', 'hf.co/a/b:Q4_K_M', 'no', '~'),
    tools: fc.uniqueArray(fc.constantFrom(...toolSets)),
    numCtx: fc.option(fc.integer({ min: 1, max: 10_000_000 })),
    temperature: fc.integer({ min: 0, max: 50 }).map((tenths) => tenths / 10),
    seed: fc.integer(),
    rounds: fc.integer({ min: 1, max: 10_000 }),
    limits: fc.record(
      {
        calls: amount,
        tokens: amount,
        nanoDollars: amount,
        wallClockMs: amount,
        depth: fc.integer({ min: 0, max: 16 }),
        fanOut: fc.integer({ min: 1, max: 256 }),
        descendants: amount,
        outputBytes: amount,
        tokensMean: fc.constantFrom('context' as const, 'billed' as const),
      },
      { requiredKeys: [] },
    ),
    guards: fc.record(
      {
        stateHash: fc.option(fc.record({ maxRepeats: fc.integer({ min: 0, max: 1_000 }) })),
        noProgress: fc.option(
          fc.record({
            steps: fc.integer({ min: 1, max: 100 }),
            shinglesMin: fc.integer({ min: 1, max: 1_000_000 }),
            sharePercentMin: fc.option(fc.integer({ min: 1, max: 100 })),
            scope: fc.constantFrom('agent' as const, 'tree' as const),
          }),
        ),
        cycles: fc.constant(null),
        exempt: fc.uniqueArray(name, { maxLength: 3 }),
        ignoredFields: fc
          .uniqueArray(fc.tuple(name, fc.uniqueArray(name, { minLength: 1, maxLength: 2 })), {
            maxLength: 2,
            selector: ([tool]) => tool,
          })
          .map((entries) => Object.fromEntries(entries)),
      },
      { requiredKeys: [] },
    ),
    spawnsPerMinute: fc.option(fc.integer({ min: 0, max: 10_000 })),
    approvalAboveNanoDollars: amount,
    raiseOncePercent: fc.option(fc.integer({ min: 1, max: 1_000 })),
    closingCall: fc.boolean(),
    governed: fc.boolean(),
    cacheFetches: fc.boolean(),
    taskClass: fc.constantFrom('', 'orders', 'on'),
    mcpServers: fc.constantFrom(
      {},
      { files: { command: 'npx', args: ['-y', 'a b'], env: { A: '1', on: 'yes' } } },
      { 'a b': { url: 'https://mcp.example/x', headers: { Accept: '*/*' } } },
    ),
    toolRules: fc.constantFrom({}, { 'files/read': { nanoDollarsWorst: 5, polls: true } }),
  })
  .map((input) => agentTaskSchema.parse(input));

/** What a task says once every default is written out. */
const full = (task: AgentTask): AgentTask => ({
  ...task,
  limits: { ...DEFAULT_LIMITS, ...task.limits },
  guards: { ...DEFAULT_GUARDS, ...task.guards },
});

describe('any task', () => {
  test('comes back from its boxes as it went in, with the defaults written out', () => {
    fc.assert(
      fc.property(anyTask, (task) => {
        expect(taskOf(textOfTask(task))).toEqual(full(task));
      }),
    );
  });

  test('comes back from its YAML as it went in', () => {
    fc.assert(
      fc.property(anyTask, (task) => {
        const read = agentTaskSchema.parse(parse(taskYaml(task)));
        expect(full(read)).toEqual(full(task));
        expect(read.limits).toEqual(task.limits);
      }),
      { numRuns: 500 },
    );
  });
});

test('money is typed in dollars and kept in nano-dollars, time is typed in seconds', () => {
  expect(text.limits).toMatchObject({ nanoDollars: '2', wallClockMs: '300' });
  const { limits } = taskOf({ ...text, limits: { ...text.limits, nanoDollars: '$0.000000001', wallClockMs: '0.5' } });
  expect(limits).toMatchObject({ nanoDollars: 1, wallClockMs: 500 });
});

test('empty is unlimited and 0 is nothing, and the words say so', () => {
  const { limits } = taskOf({ ...text, limits: { ...text.limits, calls: '', tokens: '0' } });
  expect(limits).toMatchObject({ calls: null, tokens: 0 });
  expect(limitWord('calls', '')).toBe('unlimited');
  expect(limitWord('tokens', '0')).toBe('nothing is allowed');
  expect(limitWord('nanoDollars', '2')).toBe('$2.00');
  expect(limitWord('wallClockMs', '300')).toBe('300 s');
  expect(limitWord('outputBytes', '16000')).toBe('16,000 bytes');
  expect(limitWord('calls', 'many')).toBe('');
});

test.each<[string, (typed: TaskText) => TaskText, string, string]>([
  [
    'a word',
    (t) => ({ ...t, limits: { ...t.limits, calls: 'many' } }),
    'limits.calls',
    'Calls must be a whole number, or empty.',
  ],
  ['below zero', (t) => ({ ...t, limits: { ...t.limits, calls: '-1' } }), 'limits.calls', 'Calls must be at least 0.'],
  ['too deep', (t) => ({ ...t, limits: { ...t.limits, depth: '17' } }), 'limits.depth', 'Depth must be at most 16.'],
  [
    'no fan-out',
    (t) => ({ ...t, limits: { ...t.limits, fanOut: '' } }),
    'limits.fanOut',
    'Calls at once must be a whole number.',
  ],
  [
    'finer than money',
    (t) => ({ ...t, limits: { ...t.limits, nanoDollars: '0.0000000001' } }),
    'limits.nanoDollars',
    'Money must be dollars from 0 to 1,000,000, such as 2.50, or empty.',
  ],
  [
    'time in words',
    (t) => ({ ...t, limits: { ...t.limits, wallClockMs: '5 min' } }),
    'limits.wallClockMs',
    'Time must be seconds, such as 300 or 0.5, or empty.',
  ],
  ['rounds', (t) => ({ ...t, numbers: { ...t.numbers, rounds: '0' } }), 'rounds', 'Rounds must be at least 1.'],
  [
    'hot',
    (t) => ({ ...t, numbers: { ...t.numbers, temperature: 'hot' } }),
    'temperature',
    'Temperature must be a number from 0 to 5.',
  ],
  [
    'a guard',
    (t) => ({ ...t, guardNumbers: { ...t.guardNumbers, 'cycles.periodMax': '9' } }),
    'guards.cycles.periodMax',
    'Period must be at most 8.',
  ],
  [
    'no fields',
    (t) => ({ ...t, ignoredFields: 'cursor' }),
    'guards.ignoredFields',
    'Ignored fields must be a tool, a colon and its fields on each line.',
  ],
  ['no prompt', (t) => ({ ...t, prompt: ' ' }), 'prompt', 'Write what the agent should do.'],
  ['no model', (t) => ({ ...t, model: '' }), 'model', 'Choose a model.'],
])('%s is said at its field', (_, change, field, words) => {
  expect(problemsOf(change(text))).toEqual({ [field]: words });
});

test('a guard that is off is null, whatever stands in its boxes, and its numbers stay for later', () => {
  const off = {
    ...text,
    guardsOn: { ...text.guardsOn, cycles: false },
    guardNumbers: { ...text.guardNumbers, 'cycles.periodMax': 'x' },
  };
  expect(taskOf(off).guards.cycles).toBeNull();
  expect(textOfTask(makeTask({ guards: { cycles: null } })).guardNumbers['cycles.periodMax']).toBe('4');
});

test('tools of any name can have ignored fields, also names with a colon and of every object', () => {
  const { guards } = taskOf({ ...text, ignoredFields: 'files:list: cursor, cursor\n\nconstructor: a' });
  expect(Object.entries(guards.ignoredFields ?? {})).toEqual([
    ['files:list', ['cursor']],
    ['constructor', ['a']],
  ]);
});

test('what it may take at most', () => {
  const words = (patch: Parameters<typeof makeTask>[0]): string =>
    costWords(taskOf(textOfTask(makeTask(patch))), 'llama3.2:3b');
  expect(words({})).toBe('At most 60 calls, 400,000 context tokens, $2.00, 300 s.');
  expect(words({ limits: { tokens: null, wallClockMs: null, calls: 1 } })).toBe(
    'At most 1 call, $2.00, and no limit on tokens or time.',
  );
  expect(words({ limits: { calls: null, tokens: null, nanoDollars: null, wallClockMs: null } })).toBe(
    'No limit on calls, tokens, money or time.',
  );
  expect(words({ governed: false })).toBe(
    'No limits: everything is let through and only counted, up to 40 rounds of an agent.',
  );
  expect(costWords(taskOf(text), 'script:carrier')).toContain('Scripted model: no tokens of a real one.');
});

test('a proposal is told with what it is made from, and taken into the boxes', () => {
  const budget: ClassBudget = {
    taskClass: 'orders',
    runs: 16,
    runsDone: 14,
    proposed: { calls: 22, tokens: 81_000, nanoDollars: 40_000_000, wallClockMs: null },
    headroomPercent: 25,
    enough: true,
  };
  expect(budgetWords(budget)).toBe('p99 of 14 good runs + 25 %: 22 calls, 81,000 tokens, $0.04');
  expect(budgetWords({ ...budget, runsDone: 3, enough: false })).toBe('3 good runs so far: too few to propose limits.');
  expect(withBudget(text, budget).limits).toEqual({
    ...text.limits,
    calls: '22',
    tokens: '81000',
    nanoDollars: '0.04',
  });
});

test('the YAML says what is special and leaves the usual out', () => {
  expect(
    taskYaml(
      makeTask({
        prompt: 'Read the list.\nThen stop.',
        limits: { calls: 9 },
        guards: { ladder: 'warn-block-stop', cycles: null },
      }),
    ),
  ).toBe(
    [
      'kind: agent',
      'name: agent run',
      'prompt: |-',
      '  Read the list.',
      '  Then stop.',
      'model: script:carrier',
      'tools: ["carrier"]',
      'limits:',
      '  calls: 9',
      'guards:',
      '  cycles: null',
      '',
    ].join('\n'),
  );
});
