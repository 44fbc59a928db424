/** The same first step for scripts and configs as for the hosts. */
export { requireNode } from '../shared/node/require-node.ts';
