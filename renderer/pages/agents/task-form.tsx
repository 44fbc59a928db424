import type { ReactElement } from 'react';
import type { AgentTaskInput } from '../../../shared/contract/agents.ts';

type Props = { onStart(task: AgentTaskInput): void; start?: AgentTaskInput; busy: boolean };

/** A task as a form; onStart gets a task that the contract takes. */
export function TaskForm({ busy }: Props): ReactElement {
  return <form aria-label="Task" aria-busy={busy} />;
}
