/** The sources that are exact: the server log, the `context` field of /api/generate, a render with and without truncation. */
import type { LogFacts } from './log-lines.ts';
import { type CutSize, countsWholePrompt, kindOfCut } from './cut-size.ts';
import { type PromptReading, evidence, intact, nothingKnown } from './prompt-reading.ts';
import { type Situation, strangeRole } from './situation.ts';
import type { TruncationInput } from './types.ts';
import { count, number } from './wording.ts';

export function readLogFacts(situation: Situation, facts: LogFacts): PromptReading | null {
  const { input } = situation;
  const gone = facts.dropped === null ? 0 : droppedMessages(input, facts.dropped);
  const droppedWhy =
    facts.dropped === null || gone === 0
      ? []
      : [
          evidence(
            'exact',
            'server-log',
            `${count(gone, 'message')} dropped, as the server log says.`,
            facts.dropped.raw,
          ),
        ];
  if (facts.cut !== null) return logCut(situation, facts.cut, droppedWhy);
  if (droppedWhy.length > 0) {
    return {
      ...nothingKnown,
      kinds: ['messages-dropped'],
      confidence: 'exact',
      kept: input.reply.promptEvalCount,
      evidence: droppedWhy,
    };
  }
  const counted = input.reply.promptEvalCount;
  // Dropped messages are logged at debug level only: below it, silence proves something only where nothing could be dropped.
  const wouldTell = situation.droppable === 0 || facts.debug;
  if (counted === null || !wouldTell || facts.promptTokens !== counted) return null;
  // Nothing was cut, and yet a message may have vanished with a role that no template knows.
  if (strangeRole(input) !== null) return null;
  return intact(
    counted,
    'exact',
    evidence(
      'exact',
      'server-log',
      `The server log has no cut for this call: ${count(counted, 'token')} went in.`,
      facts.promptRaw,
    ),
  );
}

function logCut(
  situation: Situation,
  cut: NonNullable<LogFacts['cut']>,
  droppedWhy: PromptReading['evidence'],
): PromptReading {
  const why = evidence(
    'exact',
    'server-log',
    `Cut from ${number(cut.prompt)} to ${number(cut.kept)} tokens, as the server log says.`,
    cut.raw,
  );
  // What was cut is what was left after dropping: over the window, so nothing that could go was left.
  const implied =
    droppedWhy.length === 0 &&
    situation.droppable > 0 &&
    situation.window !== null &&
    cut.prompt > situation.window + 1;
  const certain = implied
    ? [
        evidence(
          'certain',
          'window-arithmetic',
          `${number(cut.prompt)} tokens were still over ${number(situation.window ?? 0)}, so every message that could go had gone before.`,
        ),
      ]
    : [];
  const dropped = droppedWhy.length > 0 || implied;
  const kind = situation.window === null ? kindWithoutWindow(situation, cut) : kindOfCut(situation.window, cut.kept);
  return {
    kinds: dropped ? ['messages-dropped', kind] : [kind],
    confidence: implied ? 'certain' : 'exact',
    sent: dropped ? null : cut.prompt,
    kept: cut.kept,
    lost: Math.max(0, cut.prompt - cut.kept),
    lostAtLeast: dropped,
    headKept: Math.min(cut.keep, cut.kept),
    tailKept: Math.max(0, cut.kept - cut.keep),
    evidence: [why, ...droppedWhy, ...certain],
  };
}

/** Windows are round numbers, and half of one with a head kept is not. */
function kindWithoutWindow({ era }: Situation, cut: NonNullable<LogFacts['cut']>): 'halved' | 'cut-to-window' {
  if (era === 'keeps-window' || era === 'keeps-all-but-one' || cut.keep >= cut.kept) return 'cut-to-window';
  return era === null && cut.kept % 256 === 0 ? 'cut-to-window' : 'halved';
}

/** System messages before the cut point stay, so the line alone does not mean that anything went. */
function droppedMessages(input: TruncationInput, dropped: NonNullable<LogFacts['dropped']>): number {
  if (input.messages.length === 0) return 1;
  const from = dropped.path === 'native' ? dropped.messages : input.messages.length - dropped.messages;
  return input.messages
    .slice(0, Math.max(0, Math.min(from, input.messages.length - 1)))
    .filter((message) => message.role !== 'system').length;
}

/** Up to this many tokens of output, made tokens again from its text, come back as many as they were, give or take a few. */
const OUTPUT_SURE_MAX = 200;

/** `context` holds the uncut prompt without its begin token, and the output. */
export function readContextField(situation: Situation, byCount: PromptReading): PromptReading | null {
  const { input } = situation;
  const { contextLength, promptEvalCount: counted, evalCount: output, doneReason } = input.reply;
  // Where the count leaves cached tokens out there is nothing to compare the prompt with.
  if (input.route !== 'generate' || input.raw || !countsWholePrompt(input.serverVersion)) return null;
  if (contextLength === null || counted === null || output === null) return null;
  // The end token is counted as output and is no text.
  const ended = doneReason === 'stop' && output > 0 ? 1 : 0;
  const prompt = contextLength - output + ended + beginToken(situation, counted);
  const cut = situation.cuts.find((one) => one.size === counted) ?? null;
  const tolerance = 2 + Math.ceil(output * 0.05);
  const sum = `context has ${number(contextLength)} tokens: ${number(output)} of output, so the prompt had ${number(prompt)}`;
  const raw = `context.length = ${contextLength}`;
  // A count that may be a cut needs more than a near miss to be called whole.
  if (Math.abs(prompt - counted) <= (cut === null ? tolerance : 2)) {
    const why = evidence('exact', 'context-field', `${sum}, and ${number(counted)} were evaluated.`, raw);
    return intact(counted, 'exact', why);
  }
  const lostMin = cut === null ? Math.max(64, output * 0.25) : tolerance;
  return prompt - counted < lostMin ? null : contextLoss(situation, byCount, { cut, counted, prompt, sum, raw });
}

interface ContextSum {
  readonly cut: CutSize | null;
  readonly counted: number;
  readonly prompt: number;
  readonly sum: string;
  readonly raw: string;
}

/** Long outputs leave the loss proven and its size open. */
function contextLoss(situation: Situation, byCount: PromptReading, found: ContextSum): PromptReading {
  const { cut, counted, prompt, sum, raw } = found;
  const { evalCount, thinking = '' } = situation.input.reply;
  // Markers around thinking come back as other tokens than they were sampled as.
  const isSure = (evalCount ?? 0) <= OUTPUT_SURE_MAX && thinking === '';
  const isCutByCount = byCount.kinds.some((kind) => kind === 'halved' || kind === 'cut-to-window');
  const confidence = isSure ? 'exact' : 'certain';
  const text = `${sum}: ${isSure ? '' : 'about '}${number(prompt - counted)} were lost.`;
  const head = byCount.headKept ?? cut?.headTokens ?? null;
  return {
    ...byCount,
    kinds: isCutByCount ? byCount.kinds : [cut?.kind ?? 'halved'],
    confidence,
    sent: isSure ? prompt : null,
    kept: counted,
    lost: isSure ? prompt - counted : null,
    headKept: head,
    tailKept: head === null ? null : counted - head,
    evidence: [evidence(confidence, 'context-field', text, raw)],
  };
}

/** The cut size itself tells whether a begin token was kept, where the model was not asked. */
function beginToken(situation: Situation, counted: number): number {
  const { input } = situation;
  if (input.addsBos !== null) return input.addsBos ? 1 : 0;
  const cut = situation.cuts.find((one) => one.era === 'keeps-half' && one.size === counted);
  const keep = input.numKeep ?? 4;
  return cut !== undefined && cut.headTokens === keep ? 0 : 1;
}
