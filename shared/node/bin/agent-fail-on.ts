/** The reasons that --fail-on of `spillway agent run` takes. */
import { type AgentRunView, endReasons } from '../../contract/agents.ts';

/** What has an exit code of its own is left out. */
const OWN_CODE = ['done', 'cancelled', 'interrupted', 'model-failed'];

export const agentFailOnNames: readonly string[] = [
  ...endReasons.filter((reason) => !OWN_CODE.includes(reason)),
  'not-done',
  'open-leases',
];

/** All that --fail-on can name of a run that has ended. */
export function failuresOf({ run }: AgentRunView): string[] {
  return [
    ...(run.reason === null ? [] : [run.reason]),
    ...(run.reason === 'done' ? [] : ['not-done']),
    ...(run.openLeases > 0 ? ['open-leases'] : []),
  ];
}
