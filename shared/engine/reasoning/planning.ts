/**
 * Planning prose: text in which somebody talks to himself about what to answer. An estimate from the words at the head of a text,
 * so it only ever raises a suspicion. The signs are data, by language; a language that is not listed raises none.
 */

interface Sign {
  readonly points: number;
  readonly times: number;
  readonly pattern: RegExp;
}

const sign = (points: number, pattern: RegExp): Sign => ({ points, times: 2, pattern });
/** A word that answers use too: it counts a single time. */
const once = (pattern: RegExp): Sign => ({ points: 1, times: 1, pattern });

/** Work done in the head, and work that is also done in front of a reader. */
const INNER =
  'think|consider|check|recheck|double[- ]?check|verify|test|see if|see whether|recall|remember|figure|reconsider|re-?read|re-?think|re-?examine|re-?check|re-?compute|re-?calculate|re-?evaluate|try|determine|decide|make sure|be careful|parse|understand|review|confirm|clarify|identify|ensure|reason|examine';
const OUTER =
  'compute|calculate|work|break|look|start|go|divide|count|find|solve|evaluate|analy[sz]e|factor|focus|respond|answer|provide|say|write|give|produce|output|outline|plan|do|keep';
/** Words that make "the user asks" a condition in somebody's manual. */
const CLAUSE = '(?:when|whenever|if|whether|that|after|before|once|unless|until|because|while|what|how|where|as|which)';
const SOFTENED = '(?: just| also| probably| first| now| really| still| quickly| carefully)?';

const SIGNS: readonly Sign[] = [
  // English: about the one who asks.
  sign(
    2,
    new RegExp(
      `(?<!\\b${CLAUSE} )\\b(?:the|this) user(?:(?:'s|’s| is| was)? (?:just |probably |clearly |basically |now )?(?:asks?|asked|asking|wants?|wanted|said|seems|wondering|expects|provided|mentioned|wrote|typed|looking))\\b`,
      'gi',
    ),
  ),
  sign(
    1,
    new RegExp(
      `(?<!\\b${CLAUSE} )\\b(?:the|this) user (?:is|has|needs?|says?|gave|did|would|might|may|probably)\\b`,
      'gi',
    ),
  ),
  sign(2, /\b(?:let me|let us|let's|let’s) see\s*[.,:…\n]/gi),
  sign(2, /(?:^|[.!?\n]\s*)user (?:asks?|wants?|says?|is asking|needs?)\b/gi),
  sign(
    2,
    /\b(?:they(?:'re| are)|i(?:'m| am)|we(?:'re| are)) (?:being )?(?:asked|asking|supposed|required|expected) (?:to|about|for|whether|if|me)\b/gi,
  ),
  sign(
    1,
    /\bthe (?:question|problem|prompt|request|task|instructions?) (?:is asking|asks|wants|says|requires|is about|seems)\b/gi,
  ),
  // About one's own next step.
  sign(2, new RegExp(`\\b(?:let me|let us|let's|let’s|lemme)${SOFTENED} (?:${INNER})\\b`, 'gi')),
  sign(1, new RegExp(`\\b(?:let me|let us|let's|let’s|lemme)${SOFTENED} (?:${OUTER})\\b`, 'gi')),
  sign(
    2,
    new RegExp(
      `\\bi (?:should|need to|must|have to|ought to|had better|'d better)${SOFTENED} (?:${INNER}|${OUTER})\\b`,
      'gi',
    ),
  ),
  sign(1, new RegExp(`\\bwe (?:should|need to|must|have to|ought to)${SOFTENED} (?:${INNER}|${OUTER})\\b`, 'gi')),
  sign(1, new RegExp(`\\b(?:i|we)(?: can| could| will|'ll|’ll| might| want to|'d)${SOFTENED} (?:${INNER})\\b`, 'gi')),
  sign(2, new RegExp(`^(?:we|i) (?:need|have) to${SOFTENED} (?:${INNER}|${OUTER})\\b`, 'gi')),
  sign(1, /\b(?:maybe|perhaps|possibly) (?:i|we|they|it|that|the|there|this|just|try|another|check|double|start)\b/gi),
  once(
    /\bi(?:'m| am|’m)? (?:not (?:entirely |quite |completely )?(?:sure|certain)|think|guess|believe|wonder|suppose|recall|remember)\b/gi,
  ),
  sign(1, /\b(?:double|triple)[- ]check/gi),
  // Turns of somebody who thinks aloud.
  sign(2, /(?:^|[.!?…\n]\s*)(?:wait|hmm+|hm|hold on|oh wait|no wait|uh|um)\b[,.:!…-]/gi),
  sign(2, /(?:^|[.!?…\n]\s*)(?:hmm+)\b/gi),
  sign(
    1,
    /(?:^|[.!?…\n]\s*)(?:okay|ok|alright|all right|right|well|now|actually|so|good|got it)[,.:…]\s+(?:so|let|the user|i|first|now|maybe|wait)\b/gi,
  ),
  sign(1, /(?:^|[.!?…\n]\s*)(?:but|so|and) (?:wait|maybe|how|what|is that|let)\b/gi),
  sign(1, /(?:^|[.!?…\n]\s*)(?:first|next|then|now|so),? (?:i|let me)\b/gi),
  sign(
    2,
    /^\s*(?:thinking process|thought process|thoughts?|thinking|reasoning|analysis|plan|scratchpad)\s*(?::|\n)/gi,
  ),
  // German.
  sign(
    2,
    /\b(?:der|die) (?:nutzer|benutzer|anwender|fragesteller)(?:in)? (?:fragt|will|möchte|hat|braucht|sagt|bittet)\b/gi,
  ),
  sign(
    2,
    /\b(?:lass mich|lasst uns|lass uns|ich (?:muss|sollte|werde|soll|könnte)|wir (?:müssen|sollten)) (?:\p{L}+ ){0,4}(?:überlegen|nachdenken|prüfen|überprüfen|testen|nachsehen|rechnen|berechnen|herausfinden|schauen|antworten|überdenken|betrachten)\b/giu,
  ),
  sign(
    1,
    /(?:^|[.!?…\n]\s*)(?:moment|warte|hm+|also|okay|gut|vielleicht|zuerst)[,.…]?\s+(?:\p{L}+\s+){0,2}(?:ich|wir|der nutzer|lass|muss|sollte|nochmal)\b/giu,
  ),
  // French, Spanish, Italian, Portuguese.
  sign(
    2,
    /\b(?:l['’]utilisat(?:eur|rice)|el usuario|la usuaria|l['’]utente|o usuário|o utilizador) (?:\p{L}+ )?(?:demande|veut|souhaite|pregunta|quiere|pide|chiede|vuole|pergunta|quer|pede)/giu,
  ),
  sign(
    2,
    /\b(?:je dois|il faut que je|laissez-moi|voyons|déjame|debo|tengo que|necesito|vamos a|fammi|devo|dovrei|deixe-me|preciso) (?:\p{L}+ ){0,2}(?:vérifier|réfléchir|considérer|calculer|voir|pensar|verificar|comprobar|calcular|ver|considerar|pensare|verificare|controllare|calcolare|vedere|répondre|responder|rispondere)/giu,
  ),
  // Chinese, Japanese, Korean, Russian.
  sign(2, /用户(?:想|问|在问|要求|希望|需要|提到|可能)/gu),
  sign(1, /问题(?:要求|问)|首先，?我/gu),
  sign(
    2,
    /让我(?:想|先|来|再|看|检查|考虑|仔细|们)|我(?:需要|应该|得|要|先)(?:\p{L}{0,4})(?:想|检查|确认|考虑|计算|回答|分析|验证)|(?:等一下|等等，|嗯[，。…])/gu,
  ),
  sign(
    2,
    /ユーザー(?:は|が|の)|(?:考えて|確認して|確かめて|検討して|計算して)(?:みよう|みます|みる|みましょう)|(?:待って|うーん|ええと|まず、)/gu,
  ),
  sign(2, /사용자(?:가|는|의)|(?:생각해|확인해|검토해|계산해) ?(?:보자|봐야|보겠)|(?:잠깐|음,)/gu),
  sign(
    2,
    /пользователь (?:спрашивает|хочет|просит|спросил)|(?:давай(?:те)?|мне (?:нужно|надо|следует)|надо|нужно) (?:\p{L}+ ){0,2}(?:подума|провер|рассмотр|вычисл|посмотр|разобра|ответ)/giu,
  ),
];

/** How much of the head is read, UTF-16 units: thinking shows itself where it begins. */
const HEAD_MAX = 600;
const POINTS_MIN = 2;

export function isPlanning(text: string): boolean {
  return planningPoints(text) >= POINTS_MIN;
}

/** Points of all signs at the head; each sign counts twice at most. Code and data give none. */
export function planningPoints(text: string): number {
  const head = withoutCode(text.trimStart()).slice(0, HEAD_MAX);
  if (/^[[{<]/.test(head)) return 0;
  let points = 0;
  for (const { points: each, times, pattern } of SIGNS) {
    points += each * Math.min(times, head.match(pattern)?.length ?? 0);
  }
  return points;
}

/**
 * A thought that goes round in circles: one passage at least four times at the end, with a word of doubt or of checking in it. A
 * song repeats itself too, so the word is needed.
 */
export function isCircling(text: string): boolean {
  const passage = CIRCLE.exec(text.slice(-CIRCLE_TAIL).trimEnd())?.groups?.['passage'] ?? '';
  return DOUBT.test(passage);
}

const CIRCLE_TAIL = 1_600;
const CIRCLE = /(?<passage>[^]{8,300}?)\k<passage>{3,}[^]{0,300}$/;
const DOUBT =
  /\b(?:again|check(?:s|ed|ing)?|sure|certain|maybe|perhaps|wait|verif\p{L}+|hmm+|re(?:check|count|comput|calculat|consider|think|test)\p{L}*|think(?:ing)?|try(?:ing)?|test(?:ing)?|consider(?:ing)?|comput\p{L}+|doubt|wrong|once more|nochmal|vielleicht|sicher|prüfen|encore|vérifier|otra vez|quizás)\b|再|也许|检查|もう一度|確認|다시|снова|провер/iu;

/** Quoted speech and code are somebody else's words. */
function withoutCode(text: string): string {
  return text
    .slice(0, HEAD_MAX * 4)
    .replace(/```[\s\S]*?(?:```|$)|`[^`\n]*`/g, ' ')
    .replace(/"[^"\n]{0,300}"|“[^”\n]{0,300}”|«[^»\n]{0,300}»|「[^」\n]{0,300}」/g, ' ');
}

/** The last paragraph behind planning prose, where there is one: the place answers stand in. */
export function lastParagraph(text: string): string | null {
  const paragraphs = text.trim().split(/\n[ \t]*\n/);
  const last = paragraphs.at(-1)?.trim() ?? '';
  return paragraphs.length > 1 && last !== '' ? last : null;
}
