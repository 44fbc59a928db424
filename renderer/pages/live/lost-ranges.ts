import type { Preflight } from '../../../shared/contract/estimates.ts';
import type { Range } from '../../components/text-rows.ts';

/** What would be lost of one message; `message` is its place in the list that is sent. */
export function lostIn(preflight: Preflight | null, message: number): readonly Range[] {
  return (preflight?.lostRanges ?? [])
    .filter((range) => range.message === message)
    .map(({ from, to }) => ({ from, to }));
}
