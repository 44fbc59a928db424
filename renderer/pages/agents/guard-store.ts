/** What is typed in the guard lab, kept while other pages are open, and the comparison that follows it. */
import { useEffect, useState } from 'react';
import { create } from 'zustand';
import type { GuardComparison } from '../../../shared/contract/agents.ts';
import type { Denial } from '../../../shared/contract/denials.ts';
import { requests } from '../../../shared/contract/requests.ts';
import type { RequestParams } from '../../../shared/contract/requests.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';

export interface CallDraft {
  readonly tool: string;
  readonly args: string;
  /** Empty = no result. */
  readonly result: string;
}

export interface GuardDraft {
  readonly first: CallDraft;
  readonly second: CallDraft;
  /** Names, separated by commas. */
  readonly ignored: string;
}

export const emptyGuardDraft: GuardDraft = {
  first: { tool: 'search', args: '{"city": "Oslo", "options": {"limit": 10, "sort": "price"}}', result: '' },
  second: { tool: 'search', args: '{"options": {"sort": "price", "limit": 10}, "city": "Oslo"}', result: '' },
  ignored: '',
};

export const useGuardDraft = create<GuardDraft>(() => emptyGuardDraft);

/** What is asked, or what is wrong with it in words. */
export function readGuardDraft({
  first,
  second,
  ignored,
}: GuardDraft): { readonly ask: RequestParams<'guard.compare'> } | { readonly problem: string } {
  const call = ({ tool, args, result }: CallDraft) => ({ tool, args, result: result === '' ? null : result });
  const ask = { first: call(first), second: call(second), ignoredFields: namesOf(ignored) };
  const read = requests['guard.compare'].params.safeParse(ask);
  if (read.success) return { ask };
  const field = read.error.issues[0]?.path.join('.') ?? '';
  if (field.startsWith('ignoredFields'))
    return { problem: 'Ignored fields must be at most 50 names of 200 characters.' };
  if (field.endsWith('tool')) return { problem: 'A tool name must be at most 300 characters.' };
  return { problem: 'Arguments and results must be at most 1,000,000 characters each.' };
}

export function namesOf(typed: string): string[] {
  const names = typed.split(/[,\n]/u).map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ''))];
}

export type Compared =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'compared'; readonly comparison: GuardComparison; readonly isOld: boolean }
  | { readonly kind: 'refused'; readonly text: string };

const QUIET_MS = 200;

/** Asked for once the typing pauses; an answer to what is no longer typed is not shown as new. */
export function useComparison(draft: GuardDraft): Compared {
  const client = useClient();
  const ready = useEngine((state) => state.loaded && state.connection === 'connected');
  const [answer, setAnswer] = useState<{
    readonly of: GuardDraft;
    readonly value: GuardComparison | Denial | null;
  } | null>(null);
  const read = readGuardDraft(draft);
  const problem = 'problem' in read ? read.problem : null;
  useEffect(() => {
    const now = readGuardDraft(draft);
    if (!ready || 'problem' in now) return;
    let isOver = false;
    const timer = setTimeout(() => {
      void client.request('guard.compare', now.ask).then((result) => {
        if (!isOver) setAnswer({ of: draft, value: result.ok ? result.value : result.denial });
      });
    }, QUIET_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [client, ready, draft]);
  if (problem !== null) return { kind: 'refused', text: problem };
  if (answer?.value === undefined || answer.value === null) return { kind: 'waiting' };
  if ('code' in answer.value)
    return { kind: 'refused', text: [answer.value.message, answer.value.next].filter(Boolean).join(' ') };
  return { kind: 'compared', comparison: answer.value, isOld: answer.of !== draft };
}
