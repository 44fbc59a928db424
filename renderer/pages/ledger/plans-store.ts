/** The directory as it was last read, and what was typed over it. It stays while other pages and tabs are open. */
import { useCallback, useEffect } from 'react';
import { create } from 'zustand';
import type { Denial, Result } from '../../../shared/contract/denials.ts';
import type { Directory, Plan } from '../../../shared/contract/plans.ts';
import type { RequestResult } from '../../../shared/contract/requests.ts';
import { useClient } from '../../stores/engine-context.ts';
import { textOfPlan } from './plans-text.ts';
import type { PlanText } from './plans-text.ts';

export type DirectoryView = RequestResult<'directory.get'>;

export interface PlanDraft {
  /** The plan it was typed over; null for a new one. */
  readonly base: Plan | null;
  readonly text: PlanText;
}

export interface PlansState {
  readonly view: DirectoryView | null;
  /** Why it could not be read. */
  readonly denial: Denial | null;
  /** Another screen or program changed the directory; a change made here was refused for it. */
  readonly isStale: boolean;
  readonly picked: string | null;
  /** By the name of the plan as stored; a new one by a name that no plan can have. */
  readonly drafts: ReadonlyMap<string, PlanDraft>;
}

/** No stored plan has this name: names hold no control characters. */
export const NEW_PLAN = '\n';

export const firstPlansState: PlansState = {
  view: null,
  denial: null,
  isStale: false,
  picked: null,
  drafts: new Map(),
};
export const usePlans = create<PlansState>(() => firstPlansState);

export const plans = {
  pick: (name: string | null): void => usePlans.setState({ picked: name }),
  type: (name: string, base: Plan | null, text: PlanText): void => {
    usePlans.setState({ drafts: new Map(usePlans.getState().drafts).set(name, { base, text }) });
  },
  drop: (name: string): void => {
    const drafts = new Map(usePlans.getState().drafts);
    drafts.delete(name);
    usePlans.setState({ drafts });
  },
  startNew: (from: Plan, name: string): void => {
    plans.type(NEW_PLAN, null, { ...textOfPlan(from), name });
    plans.pick(NEW_PLAN);
  },
};

/** A refusal because of the revision, and nothing else, is answered by reading again. */
export const isStaleDenial = ({ field, message }: Denial): boolean =>
  field === 'revision' || /meanwhile/iu.test(message);

export interface DirectoryActions {
  readonly load: () => Promise<void>;
  /** Sends the directory as it was read with one thing changed. Answers the refusal, or null. */
  readonly change: (how: (directory: Directory) => Directory) => Promise<Denial | null>;
  readonly importCsv: (text: string) => Promise<Result<RequestResult<'directory.import'>>>;
}

export function useDirectoryActions(): DirectoryActions {
  const client = useClient();
  const load = useCallback(async () => {
    const answer = await client.request('directory.get', {});
    usePlans.setState(answer.ok ? { view: answer.value, denial: null, isStale: false } : { denial: answer.denial });
  }, [client]);
  const change = useCallback(
    async (how: (directory: Directory) => Directory) => {
      const { view } = usePlans.getState();
      if (view === null) return { code: 'not-found', message: 'The directory was not read yet.' } as const;
      const answer = await client.request('directory.set', {
        directory: how(view.directory),
        revision: view.revision,
      });
      if (answer.ok) usePlans.setState({ view: answer.value, isStale: false });
      else if (isStaleDenial(answer.denial)) usePlans.setState({ isStale: true });
      return answer.ok ? null : answer.denial;
    },
    [client],
  );
  const importCsv = useCallback(
    async (text: string) => {
      const answer = await client.request('directory.import', { text });
      if (answer.ok) usePlans.setState({ view: answer.value.view, isStale: false });
      return answer;
    },
    [client],
  );
  return { load, change, importCsv };
}

/** Reads the directory when the view is opened, so that what others changed is there. */
export function useDirectory(): DirectoryView | null {
  const { load } = useDirectoryActions();
  useEffect(() => {
    void load();
  }, [load]);
  return usePlans((state) => state.view);
}

/** A stored plan replaced, or added; who named it by its old name names it by the new one. */
export function withPlan(directory: Directory, before: string | null, plan: Plan): Directory {
  const renamed = (name: string | null): string | null => (name === before && before !== null ? plan.name : name);
  return {
    plans:
      before === null
        ? [...directory.plans, plan]
        : directory.plans.map((each) => (each.name === before ? plan : each)),
    tenants: directory.tenants.map((tenant) => ({ ...tenant, plan: renamed(tenant.plan) })),
    users: directory.users.map((user) => ({ ...user, plan: renamed(user.plan) })),
    defaultPlan: renamed(directory.defaultPlan) ?? directory.defaultPlan,
  };
}

/** Who named it goes to the plan of the tenant, and that to the default one. */
export function withoutPlan(directory: Directory, name: string): Directory {
  const kept = (plan: string | null): string | null => (plan === name ? null : plan);
  return {
    plans: directory.plans.filter((plan) => plan.name !== name),
    tenants: directory.tenants.map((tenant) => ({ ...tenant, plan: kept(tenant.plan) })),
    users: directory.users.map((user) => ({ ...user, plan: kept(user.plan) })),
    defaultPlan: directory.defaultPlan,
  };
}
