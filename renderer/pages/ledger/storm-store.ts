/** A storm that a request answered, laid under what events have told meanwhile. */
import type { Storm } from '../../../shared/contract/ledger.ts';
import type { EngineClient } from '../../stores/engine-store.ts';

/** Of one storm the events are younger than any answer; of two, the one that began later counts. */
export function takeStorm(client: EngineClient, storm: Storm): void {
  const here = client.store.getState().storm;
  if (here !== null && (here.id === storm.id || here.startedAt > storm.startedAt)) return;
  client.store.setState({ storm });
}
