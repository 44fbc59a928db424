/**
 * Reads two renderings of one conversation, as it would be sent and whole, and says which messages were dropped. This is what
 * happens to whole messages only: tokens that are cut afterwards leave no trace in a rendering.
 *
 * What is relied on: system messages stay, of the others the oldest go first, and a template renders the kept tail as it stands in
 * the whole prompt. What cannot be placed for certain is unknown.
 */
import type { MessagePicture } from '../../contract/renders.ts';
import { characters } from '../../contract/units.ts';

export interface RenderInput {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  /** Rendered as the call is sent. */
  readonly kept: string;
  /** Rendered with truncation off. */
  readonly uncut: string;
}

/** isWhole: every text but those of system messages, which some templates leave out, was found in the uncut rendering. */
export interface RenderReading {
  readonly messages: readonly MessagePicture[];
  readonly isWhole: boolean;
}

export function readRenderings(input: RenderInput): RenderReading {
  const { messages, kept, uncut } = input;
  const turns = messages.flatMap((message, index) =>
    message.role === 'system' ? [] : [{ index, forms: formsOf(message.content) }],
  );
  const places = placesOf(turns, uncut);
  const systems = messages.map((message) => (message.role === 'system' ? formsOf(message.content) : null));
  const isWhole = turns.every((turn, at) => turn.forms.length === 0 || places[at] !== null);
  const found = systems.flatMap((forms) => forms?.find((form) => uncut.includes(form)) ?? []);
  const states = turnStates(turns, places, found, input);
  const stateOf = new Map(turns.map((turn, at) => [turn.index, states[at] ?? 'unknown']));
  return {
    isWhole,
    messages: messages.map((message, index) => ({
      index,
      role: message.role,
      characters: characters(message.content.length),
      kept: stateOf.get(index) ?? systemState(systems[index] ?? [], kept, uncut),
    })),
  };
}

type State = MessagePicture['kept'];

interface Turn {
  readonly index: number;
  /** The ways a template may write the text; empty = there is no text to look for. */
  readonly forms: readonly string[];
}

/** first, last: where the text starts in the leftmost and in the rightmost way to place all texts in order. */
interface Place {
  readonly form: string;
  readonly first: number;
  readonly last: number;
}

/** After so many texts that are nowhere the template writes them in a way that is not known, and the search ends. */
const MISSING_MAX = 20;

/** Templates trim, and some write a text as a JSON string or as HTML. */
function formsOf(content: string): readonly string[] {
  const trimmed = content.trim();
  if (trimmed === '') return [];
  const json = JSON.stringify(trimmed).slice(1, -1);
  const html = trimmed.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
  return [...new Set([trimmed, json, html])];
}

/** Kept where its text is there as often as in the whole prompt: the same text may stand elsewhere too. */
function systemState(forms: readonly string[], kept: string, uncut: string): State {
  const form = forms.find((each) => uncut.includes(each));
  if (form === undefined) return 'unknown';
  if (kept === uncut) return 'kept';
  return kept.includes(form) ? 'kept' : 'dropped';
}

/** Both ends of where each text can be; null = not found, or without a text. */
function placesOf(turns: readonly Turn[], text: string): readonly (Place | null)[] {
  const found = turns.map((): { form: string; first: number } | null => null);
  let from = 0;
  let missing = 0;
  for (const [at, turn] of turns.entries()) {
    if (missing > MISSING_MAX) break;
    const [first, form] = firstOf(turn.forms, text, from);
    if (first < 0) {
      if (turn.forms.length > 0) missing += 1;
      continue;
    }
    found[at] = { form, first };
    from = first + form.length;
  }
  let until = text.length;
  const places: (Place | null)[] = [...turns].map(() => null);
  for (let at = turns.length - 1; at >= 0; at -= 1) {
    const one = found[at];
    if (one === null || one === undefined) continue;
    const last = text.lastIndexOf(one.form, until - one.form.length);
    places[at] = { ...one, last };
    until = last;
  }
  return places;
}

function firstOf(forms: readonly string[], text: string, from: number): readonly [number, string] {
  for (const form of forms) {
    const at = text.indexOf(form, from);
    if (at >= 0) return [at, form];
  }
  return [-1, ''];
}

function turnStates(
  turns: readonly Turn[],
  places: readonly (Place | null)[],
  systems: readonly string[],
  { messages, kept, uncut }: RenderInput,
): readonly State[] {
  // The same prompt both times: nothing was dropped, also where a template writes a text in an unknown way.
  if (kept === uncut) return turns.map((_, at) => (places[at] === null ? 'unknown' : 'kept'));
  const gone = uncut.length - kept.length;
  if (gone <= 0) return turns.map(() => 'unknown');
  const tail = commonTail(kept, uncut);
  const inTail = places.map((place) => place !== null && place.first >= uncut.length - tail);
  const maybe = places.map((place, at) => place !== null && !inTail[at] && place.last >= uncut.length - tail);
  const edges = edgesOf(places, inTail, maybe, {
    head: kept.slice(0, kept.length - tail),
    systems,
    uncut,
    // The last message always stays.
    most: messages.at(-1)?.role === 'system' ? places.length : places.length - 1,
  });
  // A system text between dropped messages stays, so that less is gone than stands before the edge.
  const firstTurn = messages.findIndex((message) => message.role !== 'system');
  const isPlain = !messages.some((message, index) => message.role === 'system' && index > firstTurn);
  const edge = edges.length === 1 ? edges[0] : isPlain ? byLength(edges, places, gone) : null;
  const low = edge ?? Math.min(...edges);
  const high = edge ?? Math.max(...edges);
  return filled(
    places.map((place, at): State => {
      if (place === null) return 'unknown';
      if (at < low) return 'dropped';
      return at >= high ? 'kept' : 'unknown';
    }),
  );
}

/**
 * The messages that can be the first one kept. The common tail holds most of them; but a template that writes the system text into
 * the first question puts it between kept ones. And a dropped text can stand in either by chance.
 */
function edgesOf(
  places: readonly (Place | null)[],
  inTail: readonly boolean[],
  maybe: readonly boolean[],
  { head, systems, uncut, most }: { head: string; systems: readonly string[]; uncut: string; most: number },
): readonly number[] {
  const first = inTail.indexOf(true);
  const edge = first < 0 ? places.length : first;
  const edges = [edge];
  let until = head.length;
  for (let at = edge - 1; at >= 0; at -= 1) {
    const place = places[at];
    if (place === null || place === undefined) continue;
    const found = maybe[at]
      ? until
      : until < place.form.length
        ? -1
        : head.lastIndexOf(place.form, until - place.form.length);
    if (found < 0) break;
    edges.push(at);
    until = found;
  }
  const start = places.find((place) => place !== null)?.first ?? 0;
  const front = `${uncut.slice(0, start)}\0${systems.join('\0')}`;
  for (let at = edge; at < places.length; at += 1) {
    const place = places[at];
    if (place !== null && place !== undefined && !front.includes(place.form)) break;
    edges.push(at + 1);
  }
  return [...new Set(edges)].filter((at) => at <= most || at === edge);
}

/** Template around one text is shorter than this, or the length says nothing. */
const MARGIN = 12;

/** The edge before which as much stands as is gone; null where two are too near, or a place is not sure. */
function byLength(edges: readonly number[], places: readonly (Place | null)[], gone: number): number | null {
  const opening = places[0];
  const isSure = (place: Place | null | undefined): boolean => place?.first === place?.last;
  if (opening === null || !isSure(opening) || !edges.every((at) => isSure(places[at]))) return null;
  const start = opening?.first ?? 0;
  const misses = edges
    .map((at) => ({ at, miss: Math.abs(gone - ((places[at]?.first ?? Number.POSITIVE_INFINITY) - start)) }))
    .sort((a, b) => a.miss - b.miss);
  const [best, next] = misses;
  if (best === undefined || next === undefined) return best?.at ?? null;
  return best.miss < MARGIN && next.miss - best.miss > MARGIN ? best.at : null;
}

function commonTail(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let length = 0;
  while (length < most && one.charCodeAt(one.length - 1 - length) === other.charCodeAt(other.length - 1 - length)) {
    length += 1;
  }
  return length;
}

/** The oldest go first: what is before a dropped message went too, what is behind a kept one stayed. */
function filled(states: readonly State[]): readonly State[] {
  const lastDropped = states.lastIndexOf('dropped');
  const firstKept = states.indexOf('kept');
  // Against the order nothing can be said.
  if (firstKept >= 0 && firstKept < lastDropped) return states.map(() => 'unknown');
  return states.map((state, at) => {
    if (at < lastDropped) return 'dropped';
    return firstKept >= 0 && at > firstKept ? 'kept' : state;
  });
}
