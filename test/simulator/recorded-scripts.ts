/** Model text and token counts of a recording: what the model said there, in pieces, and how long its prompt was. */
import type { Recording } from './recordings.ts';

/** Prompt tokens of a recording as its server counted them (BOS with them): from the log where it was cut, else from the reply. */
export function promptTokensOf(recording: Recording): number | null {
  const cut = recording.log
    .map((line) => /msg="truncating input prompt" .*\bprompt=(\d+)/.exec(line)?.[1])
    .find((found) => found !== undefined);
  if (cut !== undefined) return Number(cut);
  const { body } = recording.response;
  const refused = /n_prompt_tokens\\?\\?":(\d+)/.exec(body)?.[1];
  if (refused !== undefined) return Number(refused);
  const counts = [...body.matchAll(/"(?:prompt_eval_count|prompt_tokens|input_tokens)":(\d+)/g)];
  const last = counts.at(-1)?.[1];
  return last === undefined ? null : Number(last);
}

/** Output tokens, the end token among them; null where the reply does not say. */
export function outputTokensOf({ response }: Recording): number | null {
  const last = [...response.body.matchAll(/"(?:eval_count|completion_tokens|output_tokens)":(\d+)/g)].at(-1)?.[1];
  return last === undefined ? null : Number(last);
}

/** Pieces the model wrote: the chunks of a stream, or the text in as many parts as tokens were counted. More follows where a bound ended it. */
export function piecesOf(recording: Recording): string[] {
  const { body } = recording.response;
  const ended = /"(?:done_reason|finish_reason|stop_reason)":"(?:stop|end_turn)"/.test(body);
  const more = ended ? [] : [' and', ' so', ' on'];
  const streamed = textsOf(body, /"(?:content|text|response)":("(?:[^"\\]|\\.)*")/g).filter((text) => text !== '');
  if (streamed.length > 1) return [...streamed, ...more];
  const tokens = Math.max(1, (outputTokensOf(recording) ?? 1) - (ended ? 1 : 0));
  return [...inParts([...(streamed[0] ?? '')], tokens), ...more];
}

function textsOf(body: string, pattern: RegExp): string[] {
  return [...body.matchAll(pattern)].map((match) => JSON.parse(match[1] ?? '""') as string);
}

function inParts(points: readonly string[], count: number): string[] {
  return Array.from({ length: count }, (_, index) =>
    points
      .slice(Math.floor((index * points.length) / count), Math.floor(((index + 1) * points.length) / count))
      .join(''),
  );
}
