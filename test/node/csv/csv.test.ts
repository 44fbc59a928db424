import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Column, Row } from '../../../shared/node/csv/columns.ts';
import { contextColumns, contextRow, optionsHash } from '../../../shared/node/csv/context-columns.ts';
import type { CsvOptions } from '../../../shared/node/csv/csv.ts';
import {
  csvHeader,
  csvLines,
  csvRow,
  jsonLines,
  machineCsv,
  neutralText,
  restoreText,
} from '../../../shared/node/csv/csv.ts';
import { samplePlan, sampleRecord, sampleRun } from '../storage/samples.ts';

const columns = [
  { name: 'words', type: 'text' },
  { name: 'count_tokens', type: 'number' },
  { name: 'simulated', type: 'boolean' },
] as const satisfies readonly Column[];

const spreadsheet: CsvOptions = { profile: 'spreadsheet', separator: ';', decimalMark: ',' };
const csv = (rows: Row[], options: CsvOptions = machineCsv): string => [...csvLines(rows, options, columns)].join('');
const one = (words: string | null): string =>
  csv([{ words, count_tokens: 1, simulated: true }]).split('simulated\r\n')[1]!;

describe('the two profiles', () => {
  const row = { words: 'naïve, 漢字 😀', count_tokens: -1.5, simulated: false };

  test('machine: comma, dot, no BOM, CRLF, whatever else was chosen', () => {
    const expected = 'words,count_tokens,simulated\r\n"naïve, 漢字 😀",-1.5,false\r\n';
    expect(csv([row])).toBe(expected);
    expect(csv([row], { profile: 'machine', separator: ';', decimalMark: ',' })).toBe(expected);
  });

  test('spreadsheet: BOM, chosen separator and decimal mark', () => {
    expect(csv([row], spreadsheet)).toBe(
      '\ufeffwords;count_tokens;simulated\r\n"naïve, 漢字 😀";-1,5;false\r\n'.replace('-1,5', '"-1,5"'),
    );
    expect(csv([row], { profile: 'spreadsheet', separator: '\t', decimalMark: '.' })).toBe(
      '\ufeffwords\tcount_tokens\tsimulated\r\n"naïve, 漢字 😀"\t-1.5\tfalse\r\n',
    );
  });

  test('header and rows written one by one are the same bytes', () => {
    for (const options of [machineCsv, spreadsheet]) {
      expect(csvHeader(options, columns) + csvRow(row, options, columns)).toBe(csv([row], options));
    }
  });
});

describe('cells', () => {
  test('unknown is empty, an empty text is quoted, 0 is 0', () => {
    expect(csv([{ words: null, count_tokens: null, simulated: null }])).toMatch(/\r\n,,\r\n$/);
    expect(csv([{ words: '', count_tokens: 0, simulated: false }])).toMatch(/\r\n"",0,false\r\n$/);
    expect(csv([{ words: 'x', count_tokens: -0, simulated: false }])).toMatch(/\r\nx,0,false\r\n$/);
  });

  test.each([
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\tx', '"\'\tx"'],
    ['\rx', '"\'\rx"'],
    ['\n x', '"\'\n x"'],
    ['  =1+1', "'  =1+1"],
    ['\u00a0=1', "'\u00a0=1"],
    ['\u200b\ufeff=1', "'\u200b\ufeff=1"],
    ['\u0000=1', "'\u0000=1"],
    ['＝1+1', "'＝1+1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠x', "'＠x"],
    ['−1', "'−1"],
    ['"=1+1"', '"\'""=1+1"""'],
    ["'=1+1", "''=1+1"],
    ['=HYPERLINK("http://x","y, z")', '"\'=HYPERLINK(""http://x"",""y, z"")"'],
    ["=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"],
  ])('%j looks like a formula and is neutralised', (text, cell) => {
    expect(one(text)).toBe(`${cell},1,true\r\n`);
  });

  test.each(['KIWI-1201', '1-1', 'a=b', '3.5', '2026-11-14T09:00:00.000Z', "it's", '(x)', '漢=字', '...-'])(
    '%j stays as it is',
    (text) => {
      expect(one(text)).toBe(`${text},1,true\r\n`);
    },
  );

  test('numbers are never neutralised', () => {
    const numbers = [-5, -1e-7, 1e21, 0.1, Number.MAX_SAFE_INTEGER];
    const lines = csv(numbers.map((count_tokens) => ({ words: null, count_tokens, simulated: null })))
      .split('\r\n')
      .slice(1, -1);
    expect(lines).toEqual([',-5,', ',-1e-7,', ',1e+21,', ',0.1,', ',9007199254740991,']);
  });

  test('half a surrogate pair becomes the replacement mark', () => {
    expect(one('a\ud800b')).toBe('a\ufffdb,1,true\r\n');
  });

  test('a value that does not fit its column, or is missing, is a bug and not a cell', () => {
    expect(() => csv([{ words: 1, count_tokens: 1, simulated: true }])).toThrow('the column words holds no text');
    expect(() => csv([{ words: 'x', count_tokens: Number.NaN, simulated: true }])).toThrow(
      'the column count_tokens holds NaN',
    );
    expect(() => csv([{ words: 'x', count_tokens: 1 }])).toThrow('no value for the column simulated');
  });
});

describe('properties', () => {
  const hostile = fc.string({
    unit: fc.constantFrom(
      '=',
      '+',
      '-',
      '@',
      "'",
      '"',
      ',',
      ';',
      '\t',
      '\r',
      '\n',
      ' ',
      '＝',
      'a',
      '1',
      '\ufeff',
      '😀',
      '\0',
    ),
    maxLength: 8,
  });
  const text = fc.oneof(
    hostile,
    fc.string({ unit: 'binary', maxLength: 30 }).map((value) => value.toWellFormed()),
  );
  const row = fc.record({
    words: fc.option(text),
    count_tokens: fc.option(fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))),
    simulated: fc.option(fc.boolean()),
  });
  const options = fc.constantFrom<CsvOptions>(
    machineCsv,
    spreadsheet,
    { profile: 'spreadsheet', separator: ',', decimalMark: ',' },
    { profile: 'spreadsheet', separator: '\t', decimalMark: '.' },
  );

  test('a reader of RFC 4180 gets back exactly what went in', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 6 }), options, (rows, chosen) => {
        const { separator, decimalMark } = chosen;
        const bytes = Buffer.from(csv(rows, chosen), 'utf8');
        const read: string[][] = parse(bytes, {
          delimiter: separator,
          bom: chosen.profile === 'spreadsheet',
          record_delimiter: '\r\n',
        });
        const cell = (value: Row[string]): string =>
          typeof value === 'number' ? String(value === 0 ? 0 : value).replace('.', decimalMark) : String(value ?? '');
        expect(read.slice(1).map(([words, ...rest]) => [restoreText(words!), ...rest])).toEqual(
          rows.map((each) => columns.map(({ name }) => cell(each[name]))),
        );
      }),
    );
  });

  test('no text cell begins like a formula, and the apostrophe can be taken away again', () => {
    fc.assert(
      fc.property(text, (value) => {
        expect(neutralText(value)).not.toMatch(/^(?:[\t\r\n]|[\s\u0000\ufeff"]*[=+\-@＝])/);
        expect(restoreText(neutralText(value))).toBe(value);
      }),
    );
  });

  test('JSON holds the same rows, unchanged', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 5 }), (rows) => {
        expect(JSON.parse([...jsonLines(rows, columns)].join(''))).toEqual(JSON.parse(JSON.stringify(rows)));
      }),
    );
  });
});

test('a million rows are written one by one: the source is never read ahead', () => {
  let read = 0;
  function* source(): Generator<Row> {
    for (; read < 1_000_000; read += 1) yield { words: 'x', count_tokens: read, simulated: true };
  }
  let written = 0;
  let aheadMost = 0;
  for (const _line of csvLines(source(), machineCsv, columns)) {
    aheadMost = Math.max(aheadMost, read - written);
    written += 1;
  }
  expect(written).toBe(1_000_001);
  expect(aheadMost).toBeLessThanOrEqual(1);
});

describe('context rows', () => {
  test('the columns of the contract come first, in its order', () => {
    const contract =
      'run_id,cell,repeat,model,model_digest,ollama_version,simulated,route,num_ctx_requested,num_ctx_running,num_predict,' +
      'think,temperature,seed,document_chars,prompt_chars,needle_depth_percent,prompt_tokens_estimated,' +
      'prompt_tokens_evaluated,prompt_tokens_lost,truncation,truncation_confidence,truncation_evidence,needle,answer,' +
      'done_reason,eval_tokens,time_to_first_token_ms,load_duration_ms,prompt_eval_duration_ms,eval_duration_ms,' +
      'total_duration_ms,started_at,error';
    expect(csvHeader(machineCsv).startsWith(`${contract},options_hash,`)).toBe(true);
    expect(new Set(contextColumns.map((column) => column.name)).size).toBe(contextColumns.length);
  });

  test('a row says what the record says', () => {
    const cell = {
      plan: samplePlan(3, { depths: [0, 62.5], repeat: 2, warmUp: true }),
      state: 'done',
      documentCharacters: 40_000,
    } as const;
    const record = sampleRecord({
      request: { think: false, seed: 9 },
      reply: { answer: '=1+1', promptEvalCount: 2_051, evalCount: null, thinking: 'hm' },
      truncation: {
        kinds: ['halved', 'window-full'],
        lost: 4_818,
        kept: 2_051,
        evidence: [
          { confidence: 'certain', source: 'cut-size', text: 'First.' },
          { confidence: 'possible', source: 'window-arithmetic', text: 'Second.' },
        ],
      },
      needle: 'invented',
      needles: [
        { token: 'KIWI-1', depthPercent: 0, outcome: 'invented', said: 'KIWI-9' },
        { token: 'KIWI-2', depthPercent: 62.5, outcome: 'found', said: null },
      ],
    });
    const row = contextRow(cell, record, sampleRun());
    expect(row).toMatchObject({
      run_id: 'run-1',
      cell: 'cell-3',
      repeat: 2,
      simulated: true,
      think: 'false',
      seed: 9,
      document_chars: 40_000,
      needle_depth_percent: '0+62.5',
      prompt_tokens_estimated: 5,
      prompt_tokens_evaluated: 2_051,
      prompt_tokens_lost: 4_818,
      truncation: 'halved+window-full',
      truncation_evidence: 'First. | Second.',
      needle: 'invented',
      answer: '=1+1',
      eval_tokens: null,
      warm_up: true,
      thinking_chars: 2,
      needle_details: 'KIWI-1=invented | KIWI-2=found',
      vram_bytes: null,
      document_id: null,
    });
    const [read]: Record<string, string>[] = parse([...csvLines([row], machineCsv)].join(''), { columns: true });
    expect(read).toMatchObject({
      simulated: 'true',
      answer: "'=1+1",
      eval_tokens: '',
      prompt_tokens_lost: '4818',
      vram_bytes: '',
    });
  });

  test('an estimated loss stands only where something was lost and nothing proves how much', () => {
    const cell = { plan: samplePlan(3), state: 'done', documentCharacters: 40_000 } as const;
    const lost = (truncation: object, promptEvalCount: number | null): (number | null)[] => {
      const estimate = {
        low: 7_000,
        likely: 9_000,
        high: 11_000,
        characters: 40_000,
        charactersPerToken: 4,
        source: 'learned',
      };
      const record = sampleRecord({ estimate, reply: { promptEvalCount }, truncation } as never);
      const row = contextRow(cell, record, sampleRun());
      return [row.prompt_tokens_lost, row.prompt_tokens_lost_estimated];
    };
    expect(lost({ kinds: ['halved'], lost: null }, 2_051)).toEqual([null, 6_949]);
    expect(lost({ kinds: ['messages-dropped'], lost: null }, 9_500)).toEqual([null, 0]);
    expect(lost({ kinds: ['halved'], lost: 4_818 }, 2_051)).toEqual([4_818, null]);
    expect(lost({ kinds: ['halved'], lost: null }, null)).toEqual([null, null]);
    expect(lost({ kinds: ['intact'], lost: 0 }, 2_051)).toEqual([0, null]);
    expect(lost({ kinds: ['unknown'], lost: null }, 2_051)).toEqual([null, null]);
  });

  test('the options hash follows the settings and nothing else', () => {
    const hash = (request: Parameters<typeof sampleRecord>[0]): string => optionsHash(sampleRecord(request).request);
    const base = hash({});
    expect(base).toMatch(/^[0-9a-f]{16}$/);
    expect(hash({ request: { seed: 8, model: 'other', messages: [{ role: 'user', content: 'x' }] } })).toBe(base);
    const changes = [
      { numCtx: null },
      { numCtx: 8_192 },
      { numPredict: 61 },
      { numKeep: 4 },
      { temperature: 0.1 },
      { think: true },
      { think: 'high' },
      { policy: 'refuse' },
      { route: 'generate' },
      { stream: false },
    ];
    const hashes = changes.map((request) => hash({ request }));
    expect(new Set([base, ...hashes]).size).toBe(changes.length + 1);
  });
});
