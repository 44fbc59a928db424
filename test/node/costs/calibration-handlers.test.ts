import { expect, test } from 'vitest';
import { type LearnedRatio, learnRatio } from '../../../shared/engine/estimate/estimate.ts';
import { calibrationHandlers } from '../../../shared/node/costs/calibration-handlers.ts';
import { requests } from '../../../shared/contract/requests.ts';
import { ok } from '../../../shared/contract/denials.ts';

const taught = (...counts: readonly number[]): LearnedRatio =>
  counts.reduce<LearnedRatio>(
    (before, countedTokens, index) =>
      learnRatio(before, {
        script: 'latin',
        tableTokens: 200 + index,
        countedTokens,
        messages: 1,
        characters: 1_000,
      }),
    { scripts: {} },
  );

function handlers(models: readonly { model: string; simulated: boolean; learned: LearnedRatio }[]) {
  return calibrationHandlers({
    subjects: { learned: () => [...models], forget: () => ok(0) } as never,
    clock: { now: () => '2026-11-14T09:00:00.000Z', monotonicMs: () => 0 },
  });
}

const exported = (text: string, options: object = {}): string => {
  const answer = handlers([{ model: text, simulated: false, learned: taught(210) }])['calibration.export'](
    requests['calibration.export'].params.parse({ format: 'csv', ...options }),
  );
  if (!answer.ok) throw new Error(answer.denial.message);
  return answer.value.text;
};

test('the table as CSV: a header, a row for each model and script, names that are formulas made harmless', () => {
  expect(exported('gemma3:270m')).toMatch(
    /^model,simulated,script,samples,samples_seen,characters_per_token,characters_per_token_low,characters_per_token_high,tokens_per_table_token\r\ngemma3:270m,false,latin,1,1,[\d.]+,[\d.]+,[\d.]+,[\d.]+\r\n$/,
  );
  const [low, median, high] = [6, 5, 7].map((at) => Number(exported('m:1b').split('\r\n')[1]?.split(',')[at]));
  expect([(low ?? 0) < (median ?? 0), (median ?? 0) < (high ?? 0)]).toEqual([true, true]);
  expect(exported('=1+1:latest')).toContain("\r\n'=1+1:latest,false,");
  expect(exported('m:1b', { profile: 'spreadsheet', separator: ';', decimalMark: ',' })).toMatch(
    /^\ufeffmodel;simulated;[^\r]+\r\nm:1b;false;latin;1;1;"\d,\d+";/,
  );
});

test('real models come first, and bands shrink with samples that agree', () => {
  const list = handlers([
    { model: 'b:1b', simulated: true, learned: taught(210) },
    { model: 'b:1b', simulated: false, learned: taught(210) },
    { model: 'a:1b', simulated: false, learned: taught(210, 211, 212, 213, 214) },
  ])['calibration.list']({});
  if (!list.ok) throw new Error(list.denial.message);
  const { rows } = list.value;
  expect(rows.map(({ model, simulated, samples }) => [model, simulated, samples])).toEqual([
    ['a:1b', false, 5],
    ['b:1b', false, 1],
    ['b:1b', true, 1],
  ]);
  const width = (index: number): number => (rows[index]?.high ?? 0) - (rows[index]?.low ?? 0);
  expect(width(0)).toBeLessThan(width(1));
});
