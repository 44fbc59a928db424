/** The resend calculator: what one tool output costs when every later turn sends it again. */
import {
  type NanoDollars,
  type PriceSet,
  RESEND_LINES_MAX,
  RESEND_POINTS_MAX,
  type ResendQuestion,
  type ResendSeries,
  TOKENS_INPUT_MAX,
  TURNS_MAX,
} from '../../contract/costs.ts';
import { type Denial, type Result, denied, ok } from '../../contract/denials.ts';
import type { Tokens } from '../../contract/units.ts';
import { inputCost } from './call-cost.ts';
import { resent } from './conversation-cost.ts';
import { exactNanoDollars, exactTokens, outOfRange } from './exact.ts';

/** Input tokens of all turns together: turns x base + output x turns(turns-1)/2. */
export function resendTokens(turns: number, toolOutputTokens: number, basePromptTokens = 3_000): Result<Tokens> {
  const fault =
    outOfRange('turns', turns, 0, TURNS_MAX) ??
    outOfRange('toolOutputTokens', toolOutputTokens, 0, TOKENS_INPUT_MAX) ??
    outOfRange('basePromptTokens', basePromptTokens, 0, TOKENS_INPUT_MAX);
  return fault ?? exactTokens(resent(BigInt(turns), BigInt(basePromptTokens), BigInt(toolOutputTokens)));
}

/** A line for each size of tool output, for a chart: at most `pointsMax` turns, evenly spread, the first and the last among them. */
export function resendSeries(question: ResendQuestion, prices: PriceSet): Result<ResendSeries> {
  const fault = faultOf(question);
  if (fault !== null) return fault;
  const turns = spread(question.turns, question.pointsMax);
  const lines: ResendSeries['lines'] = [];
  for (const toolOutputTokens of question.toolOutputTokens) {
    const line = lineOf(turns, toolOutputTokens, question.basePromptTokens, prices);
    if (!line.ok) return line;
    const first = lines[0]?.totalTokens ?? line.value.totalTokens;
    lines.push({ ...line.value, timesFirst: first === 0 ? null : line.value.totalTokens / first });
  }
  return ok({ turns: [...turns], lines });
}

type Line = Omit<ResendSeries['lines'][number], 'timesFirst'>;

function lineOf(turns: readonly number[], output: number, base: number, prices: PriceSet): Result<Line> {
  const inputTokens: Tokens[] = [];
  const costs: NanoDollars[] = [];
  for (const turn of turns) {
    const sum = resent(BigInt(turn), BigInt(base), BigInt(output));
    const count = exactTokens(sum);
    if (!count.ok) return count;
    const cost = exactNanoDollars(inputCost(sum, 0, prices));
    if (!cost.ok) return cost;
    inputTokens.push(count.value);
    costs.push(cost.value);
  }
  return ok({
    toolOutputTokens: output as Tokens,
    inputTokens,
    costs,
    totalTokens: inputTokens.at(-1) ?? (0 as Tokens),
    totalCost: costs.at(-1) ?? (0 as NanoDollars),
  });
}

function spread(turns: number, pointsMax: number): readonly number[] {
  if (turns <= pointsMax) return Array.from({ length: turns }, (_, index) => index + 1);
  return Array.from({ length: pointsMax }, (_, index) => 1 + Math.floor((index * (turns - 1)) / (pointsMax - 1)));
}

function faultOf(question: ResendQuestion): { ok: false; denial: Denial } | null {
  const { toolOutputTokens } = question;
  if (toolOutputTokens.length < 1 || toolOutputTokens.length > RESEND_LINES_MAX) {
    return denied('bad-input', `toolOutputTokens has ${toolOutputTokens.length} sizes.`, {
      field: 'toolOutputTokens',
      next: `Give 1 to ${RESEND_LINES_MAX} sizes.`,
    });
  }
  for (const [index, size] of toolOutputTokens.entries()) {
    const fault = outOfRange(`toolOutputTokens[${index}]`, size, 0, TOKENS_INPUT_MAX);
    if (fault !== null) return fault;
  }
  return (
    outOfRange('turns', question.turns, 1, TURNS_MAX) ??
    outOfRange('basePromptTokens', question.basePromptTokens, 0, TOKENS_INPUT_MAX) ??
    outOfRange('pointsMax', question.pointsMax, 2, RESEND_POINTS_MAX)
  );
}
