import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { explain } from '../../../shared/engine/explain/explain.ts';
import type { Explanation } from '../../../shared/contract/explain.ts';

const root = new URL('../../fixtures/', import.meta.url);

interface Read {
  readonly name: string;
  readonly reasoning: NonNullable<Explanation['reasoning']>;
}

/** The recorded calls of a model that cannot think: whatever it wrote, in whatever script, no thinking must be seen in it. */
function readAll(folder: string): readonly Read[] {
  return readdirSync(new URL(`${folder}/`, root)).flatMap((file) => {
    const result = explain({ text: readFileSync(new URL(`${folder}/${file}`, root), 'utf8') });
    if (!result.ok || result.value.reasoning === null) return [];
    return [{ name: file.slice(0, -'.json'.length), reasoning: result.value.reasoning }];
  });
}

describe.each(['real', 'old'])('recorded calls without thinking: %s', (folder) => {
  const all = readAll(folder);

  test('there are some', () => {
    expect(all.filter(({ reasoning }) => reasoning.outcome === 'answered').length).toBeGreaterThan(20);
  });

  test('no thinking is seen, hidden or suspected', () => {
    const seen = all.filter(
      ({ reasoning: { places, suspected, outcome } }) =>
        places.some((place) => place !== 'none') || suspected !== null || outcome === 'starved',
    );
    expect(seen.map(({ name }) => name)).toEqual([]);
  });

  test('off was obeyed where it was asked', () => {
    const asked = all.filter(({ reasoning }) => reasoning.obedience !== 'not-asked');
    expect(asked.map(({ name, reasoning }) => [name, reasoning.obedience])).toEqual(
      ['native-chat-think-false', 'rendered-chat-think-false'].map((name) => [name, 'obeyed']),
    );
  });

  test('a model that cannot think refuses think', () => {
    const refused = all.filter(({ name }) => name.endsWith('think-unsupported'));
    expect(refused.map(({ reasoning }) => [reasoning.outcome, reasoning.cause])).toEqual([
      ['refused', 'capability'],
      ['refused', 'capability'],
    ]);
  });

  test('what writes no text has no reading', () => {
    const names = all.map(({ name }) => name);
    for (const other of ['version', 'ps-empty', 'show-rendered', 'rendered-chat-render-only'])
      expect(names).not.toContain(other);
  });
});
