/** Counts the thinking of a reply while it streams, for a cap that is kept on this side. */
import type { ModelEvent } from './ports.ts';
import type { ReasoningReader } from './reasoning/reader.ts';

export interface ThinkingMeter {
  /** Tokens of thinking so far: entries of logprobs where they come, else chunks, which are tokens on most models. */
  readonly tokens: number;
  /** Counts a chunk that the reader has taken already; true when the cap is reached and the reply is still thinking. */
  isOver(chunk: Extract<ModelEvent, { kind: 'chunk' }>): boolean;
}

/**
 * Thinking in its own field is counted as it comes. In the answer, where tags set it off, the text is looked at only when there is
 * enough of it to be over the cap, and then ever more seldom: a look costs a pass over the text.
 */
export function createThinkingMeter(tokensMax: number, reader: Pick<ReasoningReader, 'look'>): ThinkingMeter {
  let field = 0;
  let content = 0;
  let tagged = 0;
  let nextLook = 0;
  return {
    get tokens() {
      return field + tagged;
    },
    isOver({ thinking, answer, logprobEntries }) {
      const tokens = Math.max(1, logprobEntries ?? 1);
      if (thinking !== '') {
        field += tokens;
        return field + tagged >= tokensMax;
      }
      if (answer === '') return false;
      content += tokens;
      if (field + content < tokensMax || content < nextLook) return false;
      nextLook = content + Math.max(LOOK_EVERY, Math.floor(content / LOOK_EVERY));
      const { thinking: thought, answer: answered, isThinking } = reader.look();
      tagged = field > 0 ? 0 : Math.round((content * thought.length) / Math.max(1, thought.length + answered.length));
      return isThinking && field + tagged >= tokensMax;
    },
  };
}

const LOOK_EVERY = 16;
