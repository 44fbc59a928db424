/** Requests about guards. */
import { createHash } from 'node:crypto';
import { type Result, ok } from '../../contract/denials.ts';
import type { RequestName, RequestParsed, RequestResult } from '../../contract/requests.ts';
import { compareCalls } from '../../engine/guards/compare.ts';

type GuardRequest = Extract<RequestName, `guard.${string}`>;
type GuardHandlers = {
  readonly [Name in GuardRequest]: (params: RequestParsed<Name>) => Result<RequestResult<Name>>;
};

export function guardHandlers(): GuardHandlers {
  return { 'guard.compare': (params) => ok(compareCalls(params, sha256)) };
}

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');
