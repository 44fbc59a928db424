/** The Plans tab of the Ledger page over a fake line, with the real directory behind it. */
import { fireEvent, screen, within } from '@testing-library/react';
import { expect } from 'vitest';
import type { Directory } from '../../../shared/contract/plans.ts';
import { createDirectory } from '../../../shared/node/ledger/directory.ts';
import type { DirectoryKeeper } from '../../../shared/node/ledger/directory.ts';
import { directoryHandlers } from '../../../shared/node/ledger/directory-handlers.ts';
import { firstPlansState, usePlans } from '../../../renderer/pages/ledger/plans-store.ts';
import { drawApp } from '../support/screen.tsx';
import type { Screen } from '../support/screen.tsx';
import type { Script } from '../support/fake-transport.ts';

export interface PlansScreen extends Screen {
  readonly keeper: DirectoryKeeper;
}

export async function drawPlans(directory: Directory | null = null, script: Script = {}): Promise<PlansScreen> {
  const drawn = await openPlans(directory, script);
  await screen.findByRole('navigation', { name: 'Plans' });
  return drawn;
}

/** Without waiting for the plans to be there. */
export async function openPlans(directory: Directory | null, script: Script): Promise<PlansScreen> {
  usePlans.setState(firstPlansState, true);
  const keeper = createDirectory();
  if (directory !== null) expect(keeper.set({ directory, revision: 0 }).ok).toBe(true);
  const handlers = directoryHandlers({
    directory: keeper,
    subjects: { defaultWindow: () => null },
    store: { priceSets: () => [] },
    clock: { now: () => '2026-11-30T00:00:00.000Z' },
  });
  const app = drawApp(
    {},
    {
      'directory.get': handlers['directory.get'],
      'directory.set': handlers['directory.set'],
      'directory.import': handlers['directory.import'],
      'directory.export': handlers['directory.export'],
      ...script,
    },
  );
  await screen.findByLabelText('Message');
  location.hash = 'ledger/plans';
  fireEvent(window, new HashChangeEvent('hashchange'));
  return { ...app, keeper };
}

export const pickPlan = (name: RegExp): void => {
  fireEvent.click(within(screen.getByRole('navigation', { name: 'Plans' })).getByRole('button', { name }));
};

export const type = (label: string | RegExp, value: string): void => {
  fireEvent.change(screen.getByLabelText(label, { selector: 'input,select,textarea' }), { target: { value } });
};

export const press = (name: string | RegExp): void => {
  fireEvent.click(screen.getByRole('button', { name }));
};
