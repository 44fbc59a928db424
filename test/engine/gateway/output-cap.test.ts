import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { capOutput, headBytes } from '../../../shared/engine/gateway/output-cap.ts';
import { type ToolText, textOf } from '../../../shared/engine/gateway/tool.ts';

const bytesOf = (text: string): number => Buffer.byteLength(text);
const handle = (): string => '0123456789abcdef';

/** Texts where a cut can go wrong: emoji of several code points, CJK, letters with accents, line ends. */
const text = fc
  .array(fc.constantFrom('a', 'é', '漢', '😀', '👩‍👩‍👧', '\n', ' word ', '\u{10ffff}', '"', 'ﬀ'), { maxLength: 400 })
  .map((parts) => parts.join(''));

test('any text under any cap: within it to the byte, whole characters, beginning and end as they were', () => {
  fc.assert(
    fc.property(text, fc.nat(2_000), fc.constantFrom('head' as const, 'head-and-tail' as const), (whole, cap, keep) => {
      const shown = capOutput(textOf(whole), cap, keep, handle);
      expect(bytesOf(shown.text)).toBe(shown.bytes);
      expect(shown.bytes).toBeLessThanOrEqual(Math.max(cap, 0));
      expect(shown.text.isWellFormed()).toBe(true);
      if (bytesOf(whole) <= cap) {
        expect(shown).toEqual({ text: whole, bytes: bytesOf(whole), wasCut: false, keptBytes: bytesOf(whole) });
        return;
      }
      expect(shown.wasCut).toBe(true);
      const head = headBytes(whole, shown.keptBytes);
      expect(bytesOf(head)).toBe(shown.keptBytes);
      const marker = `\n[truncated: ${bytesOf(whole)} bytes in all; read more with read_blob(handle='${handle()}', offset=${shown.keptBytes})]`;
      // A cap that is smaller than the marker cuts the marker.
      if (cap < bytesOf(marker) + 12) return;
      expect(shown.text.startsWith(`${head}${marker}`)).toBe(true);
      const rest = shown.text.slice(`${head}${marker}`.length);
      if (keep === 'head') expect(rest).toBe('');
      else expect(rest === '' || whole.endsWith(rest.slice('\n…\n'.length))).toBe(true);
      // Nothing is wasted: the longest character and the rounding of the offset's digits are all that is free.
      if (keep === 'head') expect(shown.bytes).toBeGreaterThan(cap - 8);
    }),
    { numRuns: 1_000 },
  );
});

describe('edges', () => {
  test('a cap of 0 shows nothing, one under the marker a part of it', () => {
    const output = textOf('x'.repeat(100));
    expect(capOutput(output, 0, 'head', handle)).toMatchObject({ text: '', bytes: 0, wasCut: true, keptBytes: 0 });
    expect(capOutput(output, 20, 'head', handle).text).toBe('\n[truncated: 100 byt');
  });

  test('the handle is asked for only when something is cut', () => {
    const never = (): string => {
      throw new Error('asked');
    };
    expect(capOutput(textOf('short'), 5, 'head', never).text).toBe('short');
    expect(capOutput(textOf('short'), null, 'head', never).text).toBe('short');
  });

  test('more behind the head than is in memory is cut, also without a cap', () => {
    const expanded: ToolText = {
      bytes: 2_000_000_000,
      head: 'h'.repeat(1_000),
      tail: 't'.repeat(1_000),
      handle: 'big',
    };
    const capped = capOutput(expanded, 500, 'head-and-tail', () => 'big');
    expect(bytesOf(capped.text)).toBeLessThanOrEqual(500);
    expect(capped.text).toContain('[truncated: 2000000000 bytes in all');
    expect(capped.text.endsWith('ttt')).toBe(true);
    const open = capOutput(expanded, null, 'head', () => 'big');
    expect(open).toMatchObject({ wasCut: true });
    expect(open.bytes).toBeLessThanOrEqual(1_000);
  });
});
