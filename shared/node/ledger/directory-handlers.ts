/** Requests about plans, tenants and users. */
import { type Result, ok } from '../../contract/denials.ts';
import type { RequestName, RequestParsed, RequestResult } from '../../contract/requests.ts';
import { WINDOW_DEFAULT, planWarnings } from '../../engine/ledger/plan-warnings.ts';
import { allPriceSets } from '../costs/price-sets.ts';
import { csvLines, jsonLines } from '../csv/csv.ts';
import { directoryColumns, directoryRows } from '../csv/directory-columns.ts';
import type { Parts } from '../parts.ts';
import { importDirectory } from './import-directory.ts';

type DirectoryRequest = Extract<RequestName, `directory.${string}`>;
type DirectoryHandlers = {
  readonly [Name in DirectoryRequest]: (params: RequestParsed<Name>) => Result<RequestResult<Name>>;
};

export function directoryHandlers({
  directory,
  subjects,
  store,
  clock,
}: {
  readonly directory: Parts['directory'];
  readonly subjects: Pick<Parts['subjects'], 'defaultWindow'>;
  readonly store: Pick<Parts['store'], 'priceSets'>;
  readonly clock: Pick<Parts['clock'], 'now'>;
}): DirectoryHandlers {
  const view = (): RequestResult<'directory.get'> => ({
    directory: directory.current(),
    revision: directory.revision(),
    warnings: planWarnings(directory.current(), {
      window: subjects.defaultWindow() ?? WINDOW_DEFAULT,
      priceSets: allPriceSets(store),
    }),
    timeZones: timeZonesWith(directory.current().plans.map((plan) => plan.timeZone)),
  });
  return {
    'directory.get': () => ok(view()),
    'directory.set': (change) => {
      const set = directory.set(change);
      return set.ok ? ok(view()) : set;
    },
    'directory.import': ({ text }) => {
      const read = importDirectory(directory.current(), text);
      if (!read.ok) return read;
      const { added, changed } = read.value;
      const isSame =
        added === 0 && changed === 0 && read.value.directory.tenants.length === directory.current().tenants.length;
      if (isSame) return ok({ view: view(), added, changed });
      const set = directory.set({ directory: read.value.directory, revision: directory.revision() });
      return set.ok ? ok({ view: view(), added, changed }) : set;
    },
    'directory.export': (options) => {
      const rows = directoryRows(directory.current());
      const lines =
        options.format === 'csv' ? csvLines(rows, options, directoryColumns) : jsonLines(rows, directoryColumns);
      return ok({
        name: `spillway-users-${clock.now().slice(0, 10)}.${options.format}`,
        mime: options.format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json',
        rows: rows.length,
        text: [...lines].join(''),
      });
    },
  };
}

/** UTC first; zones that are in use and have another name in the platform's list are there too. */
function timeZonesWith(used: readonly string[]): string[] {
  return [...new Set(['UTC', ...[...Intl.supportedValuesOf('timeZone'), ...used].sort()])];
}
