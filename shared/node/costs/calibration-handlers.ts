/** Requests about what was learned of characters per token. */
import type { CalibrationListRow } from '../../contract/estimates.ts';
import { type Result, ok } from '../../contract/denials.ts';
import type { RequestName, RequestParsed, RequestResult } from '../../contract/requests.ts';
import { calibrationRows } from '../../engine/estimate/estimate.ts';
import { startValues } from '../../engine/estimate/start-values.ts';
import { calibrationColumns, calibrationRow } from '../csv/calibration-columns.ts';
import { csvLines, jsonLines } from '../csv/csv.ts';
import type { Parts } from '../parts.ts';

export type CalibrationRequest = Extract<RequestName, `calibration.${string}`>;

type CalibrationHandlers = {
  readonly [Name in CalibrationRequest]: (params: RequestParsed<Name>) => Result<RequestResult<Name>>;
};

export function calibrationHandlers({ subjects, clock }: Pick<Parts, 'subjects' | 'clock'>): CalibrationHandlers {
  /** Real models first; the rows of each kind by model and script. */
  const rows = (): CalibrationListRow[] =>
    [false, true].flatMap((simulated) =>
      calibrationRows(subjects.learned().filter((one) => one.simulated === simulated)).map((row) => ({
        ...row,
        simulated,
      })),
    );
  return {
    'calibration.list': () => ok({ rows: rows(), startValues: startValues() }),
    'calibration.forget': ({ model, simulated }) => {
      const forgotten = subjects.forget(model === null ? null : { name: model, simulated });
      return forgotten.ok ? ok({ models: forgotten.value }) : forgotten;
    },
    'calibration.export': (options) => {
      const all = rows();
      const lines =
        options.format === 'csv'
          ? csvLines(all.map(calibrationRow), options, calibrationColumns)
          : jsonLines(all.map(calibrationRow), calibrationColumns);
      return ok({
        name: `spillway-calibration-${clock.now().slice(0, 10)}.${options.format}`,
        mime: options.format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json',
        rows: all.length,
        text: [...lines].join(''),
      });
    },
  };
}
