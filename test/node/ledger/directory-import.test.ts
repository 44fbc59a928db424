import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_DIRECTORY, type Directory, directorySchema } from '../../../shared/contract/plans.ts';
import { type RequestParsed, requests } from '../../../shared/contract/requests.ts';
import { csvLines } from '../../../shared/node/csv/csv.ts';
import { directoryColumns, directoryRows } from '../../../shared/node/csv/directory-columns.ts';
import { createDirectory } from '../../../shared/node/ledger/directory.ts';
import { directoryHandlers } from '../../../shared/node/ledger/directory-handlers.ts';
import { importDirectory } from '../../../shared/node/ledger/import-directory.ts';
import { clock, value } from '../storage/samples.ts';

const machine: RequestParsed<'directory.export'> = {
  format: 'csv',
  profile: 'machine',
  separator: ',',
  decimalMark: '.',
};
const imported = (text: string, directory = DEFAULT_DIRECTORY) => importDirectory(directory, text);
const messageOf = (text: string, directory = DEFAULT_DIRECTORY): string => {
  const read = imported(text, directory);
  if (read.ok) throw new Error('it was taken');
  expect(read.denial).toMatchObject({ code: 'bad-input', field: 'text', next: expect.any(String) as string });
  return read.denial.message;
};

function handlers(directory = createDirectory(), window: number | null = null) {
  return directoryHandlers({
    directory,
    subjects: { defaultWindow: () => window as never },
    store: { priceSets: () => [] },
    clock,
  });
}

describe('import', () => {
  test('adds and changes, removes nobody, and adds tenants that only users name', () => {
    const read = value(
      imported('tenant,user,plan\nacme,ada,lab\nacme,mary,\nglobex,hank,assistant\nacme,,lab\nacme,grace,\n'),
    );
    expect([read.added, read.changed]).toEqual([2, 2]);
    expect(read.directory.tenants).toEqual([
      { id: 'local', plan: 'lab' },
      { id: 'acme', plan: 'lab' },
      { id: 'globex', plan: null },
    ]);
    expect(read.directory.users).toEqual([
      { tenant: 'acme', id: 'ada', plan: 'lab' },
      { tenant: 'acme', id: 'grace', plan: null },
      { tenant: 'acme', id: 'linus', plan: null },
      { tenant: 'acme', id: 'mary', plan: null },
      { tenant: 'globex', id: 'hank', plan: 'assistant' },
    ]);
  });

  test.each([
    ['a BOM and CRLF', '\ufefftenant,user,plan\r\nacme,mary,lab\r\n'],
    ['semicolons', 'tenant;user;plan\nacme;mary;lab'],
    ['tabs', 'tenant\tuser\tplan\nacme\tmary\tlab'],
    ['quotes', '"tenant","user","plan"\n"acme","mary","lab"'],
    ['another order and case', 'Plan, User ,TENANT\nlab, mary ,acme'],
    ['empty lines', '\n\ntenant,user,plan\n\nacme,mary,lab\n,,\n\n'],
  ])('%s', (_what, text) => {
    expect(value(imported(text)).directory.users.at(-1)).toEqual({ tenant: 'acme', id: 'mary', plan: 'lab' });
  });

  test('names hold separators and quotes where they are quoted', () => {
    const text = 'tenant;user;plan\nacme;Smith, Jo;\nacme;"a;b ""c""";\n';
    expect(
      value(imported(text))
        .directory.users.slice(3)
        .map((user) => user.id),
    ).toEqual(['Smith, Jo', 'a;b "c"']);
  });

  test('the plan may be left out', () => {
    expect(value(imported('tenant,user\nacme,mary')).added).toBe(1);
  });

  test.each([
    ['', 'The file is empty.'],
    ['tenant,plan\nacme,lab', 'Line 1: the column user is missing.'],
    ['tenant,user,plan,colour\n', 'Line 1: there is no column colour.'],
    ['tenant,user,user\n', 'Line 1: the column user is there twice.'],
    ['tenant,user,plan\nacme,mary\n', 'Line 2 has 2 columns, the header has 3.'],
    ['tenant,user,plan\nacme,mary,\nacme,joan,gold\n', 'Line 3, column plan: there is no plan gold.'],
    ['tenant,user,plan\n\n,mary,lab\n', 'Line 3, column tenant: must not be empty.'],
    ['tenant,user,plan\nacme,ma\u0007ry,lab\n', 'Line 2, column user: must not hold control characters.'],
    [`tenant,user,plan\nacme,${'x'.repeat(201)},lab\n`, 'Line 2, column user: must be at most 200 characters.'],
    ['tenant,user,plan\nacme,mary,\nacme,joan,\nacme,mary,lab\n', 'Line 4, column user: the same as in line 2.'],
    ['tenant,user,plan\nacme,"mary,lab\nacme,joan,lab\n', 'Line 3: the file ends inside a quoted cell.'],
    ['tenant,user,plan\nacme,ma"ry,lab\n', 'Line 2, column 2: a quote stands inside a cell.'],
    [`tenant,user,plan\nacme,"${'x\n'.repeat(6_000)}`, 'Line 5000 is over 10,000 characters.'],
  ])('is refused: %#', (text, message) => {
    expect(messageOf(text)).toBe(message);
  });

  test('20,000 rows are taken, one more is not', () => {
    const rows = (count: number): string =>
      `tenant,user,plan\n${Array.from({ length: count }, (_, index) => `globex,u${index},lab`).join('\n')}`;
    const none = directorySchema.parse({ ...DEFAULT_DIRECTORY, users: [] });
    expect(value(imported(rows(20_000), none)).added).toBe(20_000);
    expect(messageOf(rows(20_001), none)).toBe('The file has more than 20,000 rows.');
    expect(messageOf(rows(20_000))).toBe(
      'With these there would be 3 tenants and 20,003 users, more than 2,000 and 20,000.',
    );
  });

  test('whatever comes, it is taken or refused with a line, and never throws', () => {
    const piece = fc.oneof(
      fc.constantFrom('acme', 'lab', ',', ';', '"', '""', '\n', '\r\n', ' ', '\ufeff', '=1'),
      fc.string({ maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const read = imported(`tenant,user,plan\n${pieces.join('')}`);
        if (read.ok) expect(directorySchema.parse(read.value.directory)).toEqual(read.value.directory);
        else expect(read.denial.message).toMatch(/^(Line \d+|The file|With these)/);
      }),
    );
  });
});

const name = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 12 }),
    fc.constantFrom('=1+1', "'=x", '+a', '-', 'a,b;c\t"d"', '@x', '"', "'"),
  )
  .map((text) =>
    text
      .toWellFormed()
      .replace(/[\u0000-\u001f\u007f]/g, '')
      .trim(),
  )
  .filter((text) => text !== '' && !text.includes('\ufeff'));

test('what is exported comes back by an import, in both profiles', () => {
  const people = fc.uniqueArray(fc.tuple(name, name), { maxLength: 8, selector: ([a, b]) => JSON.stringify([a, b]) });
  const profiles = fc.constantFrom(
    machine,
    { ...machine, profile: 'spreadsheet', separator: ';', decimalMark: ',' } as const,
    { ...machine, profile: 'spreadsheet', separator: '\t' } as const,
  );
  fc.assert(
    fc.property(people, profiles, (pairs, options) => {
      const directory: Directory = directorySchema.parse({
        ...DEFAULT_DIRECTORY,
        tenants: [...new Set(pairs.map(([tenant]) => tenant))].map((id) => ({ id, plan: 'assistant' })),
        users: pairs.map(([tenant, id], index) => ({ tenant, id, plan: index % 2 === 0 ? null : 'lab' })),
      });
      const text = [...csvLines(directoryRows(directory), options, directoryColumns)].join('');
      const read = value(imported(text, { ...directory, tenants: [], users: [] }));
      expect(read.directory).toEqual(directory);
    }),
  );
});

describe('requests', () => {
  test('directory.get: warnings for the window that is known, and every time zone', () => {
    const view = value(handlers()['directory.get']({}));
    expect(requests['directory.get'].result.parse(view)).toEqual(view);
    expect([view.revision, view.warnings[0]?.safe]).toEqual([0, 3_696]);
    expect(view.timeZones[0]).toBe('UTC');
    expect(view.timeZones).toEqual(expect.arrayContaining(['America/St_Johns', 'Europe/Berlin']));
    expect(new Set(view.timeZones).size).toBe(view.timeZones.length);
    expect(value(handlers(createDirectory(), 8_192)['directory.get']({})).warnings).toEqual([]);
  });

  test('directory.import changes the directory once, and not at all where one row is wrong', () => {
    const directory = createDirectory();
    const { 'directory.import': run } = handlers(directory);
    expect(run({ text: 'tenant,user,plan\nacme,mary,\nacme,joan,gold' })).toMatchObject({ ok: false });
    expect([directory.current(), directory.revision()]).toEqual([DEFAULT_DIRECTORY, 0]);
    expect(value(run({ text: 'tenant,user,plan\nacme,mary,\nacme,joan,lab' }))).toMatchObject({
      added: 2,
      changed: 0,
      view: { revision: 1 },
    });
    expect(value(run({ text: 'tenant,user,plan\nacme,mary,' }))).toMatchObject({
      added: 0,
      changed: 0,
      view: { revision: 1 },
    });
  });

  test('directory.export: CSV in both profiles, and JSON', () => {
    const { 'directory.export': run } = handlers();
    expect(value(run(machine))).toEqual({
      name: 'spillway-users-2026-11-14.csv',
      mime: 'text/csv; charset=utf-8',
      rows: 5,
      text: 'tenant,user,plan\r\nlocal,,lab\r\nacme,,assistant\r\nacme,ada,\r\nacme,grace,\r\nacme,linus,\r\n',
    });
    const { text } = value(run({ ...machine, profile: 'spreadsheet', separator: ';' }));
    expect(text.startsWith('\ufefftenant;user;plan\r\n')).toBe(true);
    expect(parse(text, { bom: true, delimiter: ';' })).toHaveLength(6);
    const json = value(run({ ...machine, format: 'json' }));
    expect([json.mime, JSON.parse(json.text)]).toEqual(['application/json', directoryRows(DEFAULT_DIRECTORY)]);
  });
});
