/** What waits for a person: calls above a price, budgets that are used up. Whoever asks gets one answer; no is the answer at every end. */
import type { AgentRunId, Approval } from '../../contract/agents.ts';
import type { EngineEvent } from '../../contract/events.ts';

export interface Approvals {
  /** Resolves with the person's answer, or with no when the question is taken back. */
  ask(approval: Pick<Approval, 'id' | 'runId' | 'nodeId'> & Partial<Approval>): Promise<boolean>;
  /** false: nobody waits for that answer. */
  answer(id: string, allow: boolean): boolean;
  /** Questions that nobody has to answer any more. nodeId null = all of the run. */
  takeBack(runId: AgentRunId, nodeId: string | null): void;
  list(): Approval[];
}

export function createApprovals(emit: (event: EngineEvent) => void): Approvals {
  const open = new Map<string, { readonly approval: Approval; resolve(allow: boolean): void }>();

  function answer(id: string, allow: boolean): boolean {
    const entry = open.get(id);
    if (entry === undefined) return false;
    open.delete(id);
    emit({ type: 'approval-ended', id, allowed: allow });
    entry.resolve(allow);
    return true;
  }

  return {
    ask: (about) =>
      new Promise((resolve) => {
        const approval: Approval = { ...EMPTY, ...about };
        open.set(approval.id, { approval, resolve });
        emit({ type: 'approval-asked', approval });
      }),
    answer,
    takeBack(runId, nodeId) {
      for (const { approval } of [...open.values()]) {
        if (approval.runId === runId && (nodeId === null || approval.nodeId === nodeId)) answer(approval.id, false);
      }
    },
    list: () => [...open.values()].map(({ approval }) => approval),
  };
}

const EMPTY = { kind: 'call', call: null, nanoDollarsWorst: null, exhaustion: null, limitAsked: null } as const;
