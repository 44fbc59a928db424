/** The runtime with the types of the contract: what a screen has over its carrier, a command has in place. */
import type { Result } from '../../contract/denials.ts';
import { denialOfIssues } from '../../contract/denials.ts';
import { type RequestName, type RequestParams, type RequestResult, requests } from '../../contract/requests.ts';
import type { EngineDoor } from '../rpc/dispatcher.ts';

export type Ask = <Name extends RequestName>(
  name: Name,
  params: RequestParams<Name>,
) => Promise<Result<RequestResult<Name>>>;

export function askOf(door: EngineDoor): Ask {
  const context = { screenId: 'command-line', signal: new AbortController().signal };
  return async (name, params) => {
    const parsed = requests[name].params.safeParse(params);
    if (!parsed.success) return { ok: false, denial: denialOfIssues(parsed.error) };
    return (await door.handle(name, parsed.data, context)) as never;
  };
}
