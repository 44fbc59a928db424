/** The two fields of a reply, cut into thinking and answer. */
import { type Segmented, segmentText, textOf } from './segments.ts';

/**
 * fieldThinking, taggedThinking: thinking by the place it was found in. answer: as it stands, untrimmed. fieldAnswer: what stands
 * behind a closing tag inside the thinking field, null without one.
 */
export interface ReplyParts {
  readonly field: Segmented;
  readonly content: Segmented;
  readonly fieldThinking: string;
  readonly taggedThinking: string;
  readonly answer: string;
  readonly fieldAnswer: string | null;
}

export function partsOf(thinking: string, content: string): ReplyParts {
  const field = segmentText(thinking, { startsInThinking: true, followsThinking: false });
  const cut = segmentText(content, { startsInThinking: false, followsThinking: thinking.trim() !== '' });
  const fieldAnswer = field.closedAt === null ? null : textOf(thinking, field.segments, 'answer');
  const answer = textOf(content, cut.segments, 'answer');
  // With an answer in its own place, a closing tag in the thinking is only a part of the thinking.
  const isAnsweredInField = answer.trim() === '' && fieldAnswer !== null && fieldAnswer.trim() !== '';
  return {
    field,
    content: cut,
    fieldThinking: isAnsweredInField ? textOf(thinking, field.segments, 'thinking') : withoutMarks(thinking, field),
    taggedThinking: textOf(content, cut.segments, 'thinking'),
    answer,
    fieldAnswer: isAnsweredInField ? fieldAnswer : null,
  };
}

function withoutMarks(text: string, { segments }: Segmented): string {
  return segments
    .filter((segment) => segment.kind !== 'mark')
    .map((segment) => text.slice(segment.start, segment.end))
    .join('');
}
