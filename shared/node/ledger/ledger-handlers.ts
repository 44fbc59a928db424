/** Requests about the ledger: what stands, the journal, the audit, grants and the clock of the simulated book. */
import { denied, ok } from '../../contract/denials.ts';
import type { Result } from '../../contract/denials.ts';
import type { RequestParsed, RequestResult } from '../../contract/requests.ts';
import type { Parts } from '../parts.ts';

type LedgerRequest = 'ledger.get' | 'ledger.journal' | 'ledger.audit' | 'ledger.grant' | 'ledger.clock';
type LedgerHandlers = {
  readonly [Name in LedgerRequest]: (
    params: RequestParsed<Name>,
  ) => Promise<Result<RequestResult<Name>>> | Result<RequestResult<Name>>;
};

export function ledgerHandlers({ budgets }: Pick<Parts, 'budgets'>): LedgerHandlers {
  const { ledger } = budgets;
  return {
    'ledger.get': async ({ book = budgets.book(), search = '' }) => {
      const view = await ledger.view(book, search);
      return view.ok ? ok({ state: budgets.state(book), ...view.value }) : view;
    },
    'ledger.journal': async ({ book = budgets.book(), limit, ...filters }) => {
      // One more than asked for tells whether there are more.
      const found = await ledger.store.entries({ book, ...filters, limit: limit + 1 });
      if (!found.ok) return found;
      return ok({ entries: found.value.slice(0, limit), hasMore: found.value.length > limit });
    },
    'ledger.audit': () => ledger.audit(),
    'ledger.grant': async ({ book = budgets.book(), ...grant }) => {
      const granted = await ledger.grant({ book, ...grant });
      if (granted.ok) budgets.changed();
      return granted;
    },
    'ledger.clock': (params) => {
      if (budgets.book() === 'real') {
        return denied('not-allowed', 'Only the clock of the simulated book can be moved.', {
          next: 'Use the simulator.',
        });
      }
      return ok(budgets.moveClock('reset' in params ? null : params));
    },
  };
}
