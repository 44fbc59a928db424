/**
 * A scripted model that reads a link farm as it was told to: it searches, follows the list, hands a part to agents, and asks for
 * ten pages at once. Each turn is decided from the transcript alone, from what the gateway gave back and what it did not run.
 */
import type { AgentModel, TranscriptEntry, TurnAsk } from '../agent/model.ts';
import type { ToolAsk } from '../gateway/gateway.ts';
import { think } from './lab-tool.ts';

const TURN_MS = 3_000;
const PAGES_AT_ONCE = 10;
const SUMMARY_BYTES = 1_200;
/** Calls that the first agent, and every other, gives to each of its agents. */
const ROOT_SHARES = [25, 15, 15];
const SHARES = [15, 15, 15];

/** windowTokens: a window that a prompt is cut to before it is billed; null = none. */
export function farmReader(
  sleep: (durationMs: number) => Promise<void>,
  { windowTokens = null }: { readonly windowTokens?: number | null } = {},
): AgentModel {
  return {
    async turn(ask) {
      await think(sleep, TURN_MS, ask.signal);
      const toolCalls = ask.closing ? [] : decide(ask);
      const text = toolCalls.length === 0 ? summaryOf(ask) : '';
      const promptTokens = windowTokens === null ? null : Math.min(windowTokens, ask.contextTokens);
      return { text, toolCalls, promptTokens, outputTokens: 0, callId: null, failed: null };
    },
  };
}

function decide(ask: TurnAsk): ToolAsk[] {
  const seen = readTranscript(ask.transcript);
  if (!seen.searched) return [call('search', { query: `X-200 opinions ${ask.nodeId}` })];
  if (seen.unreadLists.length > 0 && seen.readLists === 0) return [fetchPage(seen.unreadLists[0] ?? '')];
  if (seen.readReviews === 0 && seen.unreadReviews.length > 0)
    return seen.unreadReviews.slice(0, PAGES_AT_ONCE).map(fetchPage);
  const canDelegate = ask.tools.some(({ name }) => name === 'delegate');
  if (canDelegate && !seen.askedToDelegate) {
    return (ask.depth === 0 ? ROOT_SHARES : SHARES).map((calls) =>
      call('delegate', { task: 'Read every review.', calls }),
    );
  }
  const want = seen.delegated ? Math.min(PAGES_AT_ONCE, Math.ceil((ask.callsLeft ?? Infinity) / 3)) : PAGES_AT_ONCE;
  return [...seen.unreadLists.slice(0, 1), ...seen.unreadReviews].slice(0, want).map(fetchPage);
}

interface Seen {
  readonly searched: boolean;
  readonly readLists: number;
  readonly readReviews: number;
  readonly unreadLists: readonly string[];
  readonly unreadReviews: readonly string[];
  readonly askedToDelegate: boolean;
  /** One of its own agents was started. */
  readonly delegated: boolean;
}

function readTranscript(transcript: readonly TranscriptEntry[]): Seen {
  const asked = new Map<string, ToolAsk>();
  const lists = new Set<string>();
  const reviews = new Set<string>();
  const read = new Set<string>();
  let searched = false;
  let delegated = false;
  let askedToDelegate = false;
  for (const entry of transcript) {
    if (entry.role === 'assistant') for (const one of entry.toolCalls) asked.set(one.id, one);
    if (entry.role !== 'tool') continue;
    if (entry.toolName === 'delegate') {
      askedToDelegate = true;
      delegated ||= entry.ran;
      continue;
    }
    if (!entry.ran) continue;
    if (entry.toolName === 'search') searched = true;
    const url = urlOf(asked.get(entry.toolCallId));
    if (url !== null) read.add(url);
    for (const link of linksOf(entry)) (link.includes('/list') ? lists : reviews).add(link);
  }
  const unread = (urls: ReadonlySet<string>): string[] => [...urls].filter((url) => !read.has(url));
  return {
    searched,
    readLists: lists.size - unread(lists).length,
    readReviews: reviews.size - unread(reviews).length,
    unreadLists: unread(lists),
    unreadReviews: unread(reviews),
    askedToDelegate,
    delegated,
  };
}

/** Read once: a transcript is looked at every turn, and grows to megabytes where nothing bounds it. */
const links = new WeakMap<TranscriptEntry, readonly string[]>();

function linksOf(entry: TranscriptEntry): readonly string[] {
  const known = links.get(entry);
  if (known !== undefined) return known;
  const found = entry.content.match(/https:\/\/farm\.example\/(?:list\?page=\d+|r\/\d{3})/g) ?? [];
  links.set(entry, found);
  return found;
}

function urlOf(ask: ToolAsk | undefined): string | null {
  if (ask?.name !== 'fetch') return null;
  const args = JSON.parse(ask.argumentsText) as { readonly url?: unknown };
  return typeof args.url === 'string' ? args.url : null;
}

const call = (name: string, args: Readonly<Record<string, unknown>>): ToolAsk => ({
  id: '',
  name,
  argumentsText: JSON.stringify(args),
});
const fetchPage = (url: string): ToolAsk => call('fetch', { url });

function summaryOf({ transcript, nodeId }: TurnAsk): string {
  const read = transcript.filter((entry) => entry.role === 'tool' && entry.toolName === 'fetch' && entry.ran).length;
  return `${nodeId} read ${read} pages of reviews of the X-200. Opinions repeat: most say the same in the same words. `.padEnd(
    SUMMARY_BYTES,
    '.',
  );
}
