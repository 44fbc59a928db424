/** Requests about storms. */
import { type Result, ok } from '../../contract/denials.ts';
import type { RequestName, RequestParsed, RequestResult } from '../../contract/requests.ts';
import type { Storms } from './storm.ts';

type StormRequest = Extract<RequestName, `storm.${string}`>;
type StormHandlers = {
  readonly [Name in StormRequest]: (
    params: RequestParsed<Name>,
  ) => Promise<Result<RequestResult<Name>>> | Result<RequestResult<Name>>;
};

export function stormHandlers({ storms }: { readonly storms: Storms }): StormHandlers {
  return {
    'storm.start': (ask) => storms.start(ask),
    'storm.cancel': ({ stormId }) => storms.cancel(stormId),
    'storm.get': () => ok({ storm: storms.last() }),
  };
}
