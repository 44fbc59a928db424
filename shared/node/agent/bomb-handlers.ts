/** Requests about the tool-bomb lab. */
import { type Result, ok } from '../../contract/denials.ts';
import type { RequestName, RequestParsed, RequestResult } from '../../contract/requests.ts';
import type { Bombs } from './bombs.ts';

type BombRequest = Extract<RequestName, `bomb.${string}`>;
type BombHandlers = {
  readonly [Name in BombRequest]: (
    params: RequestParsed<Name>,
  ) => Promise<Result<RequestResult<Name>>> | Result<RequestResult<Name>>;
};

export function bombHandlers({ bombs }: { readonly bombs: Bombs }): BombHandlers {
  return {
    'bomb.start': ({ shape }) => bombs.start(shape),
    'bomb.cancel': ({ id }) => bombs.cancel(id),
    'bomb.list': () => ok(bombs.list()),
  };
}
