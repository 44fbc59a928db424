/** Pairs of calls that people ask about, one press each. */
import type { CallDraft } from './guard-store.ts';

export interface GuardExample {
  readonly name: string;
  readonly first: CallDraft;
  readonly second: CallDraft;
  readonly ignored: string;
}

const page = (number: number): string =>
  `Review 0${number} of the X-200, rating 4 of 5. The case is light and the hinge is firm. The battery lasted a working day with the screen at half. The keys are quiet, the fan is not. I would buy it again at this price, and I have told my friends to wait for the next sale before they do the same.`;

const pair = (name: string, tool: string, first: string, second: string, more: Partial<Extra> = {}): GuardExample => ({
  name,
  first: { tool, args: first, result: more.results?.[0] ?? '' },
  second: { tool, args: second, result: more.results?.[1] ?? '' },
  ignored: more.ignored ?? '',
});

interface Extra {
  readonly results: readonly [string, string];
  readonly ignored: string;
}

export const guardExamples: readonly GuardExample[] = [
  pair(
    'Key order',
    'search',
    '{"city": "Oslo", "options": {"limit": 10, "sort": "price"}}',
    '{"options": {"sort": "price", "limit": 10}, "city": "Oslo"}',
  ),
  pair('Number forms', 'read_file', '{"path": "notes.txt", "end": 1.0}', '{"path": "notes.txt", "end": 1}'),
  pair(
    'Cursor',
    'list_orders',
    '{"status": "open", "cursor": "eyJwIjoxfQ"}',
    '{"status": "open", "cursor": "eyJwIjoyfQ"}',
    { ignored: 'cursor' },
  ),
  pair('Accents', 'search', '{"q": "café"}', '{"q": "cafe\u0301"}'),
  pair('Big ids', 'get_order', '{"id": 9007199254740993}', '{"id": 9007199254740992}'),
  pair('Duplicate key', 'get_order', '{"id": 7, "id": 8}', '{"id": 8}'),
  pair('Polling', 'get_job', '{"job": "build-41"}', '{"job": "build-41"}', {
    results: ['{"state": "running", "done": 10}', '{"state": "running", "done": 20}'],
  }),
  pair(
    'Near-duplicate pages',
    'fetch',
    '{"url": "https://shop.example/r/011"}',
    '{"url": "https://shop.example/r/012"}',
    {
      results: [page(11), page(12)],
    },
  ),
];
