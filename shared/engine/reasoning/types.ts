/** What the reasoning readings are made from: the settings of a call, the texts that came back, and how it ended. */

/** think: what was asked; null = the field was left out. numPredict: null = left out. window: where generation ends, if known. */
export interface ReasoningSettings {
  readonly think: boolean | string | null;
  readonly numPredict: number | null;
  /** The running window, and the one that was asked for: either can be the one that ended the reply. */
  readonly window: number | null;
  readonly numCtx: number | null;
  readonly shift: boolean | null;
  /** A grammar was asked for: thinking models then answer in a second pass, and only that one is counted. */
  readonly structured: boolean;
}

/** One sampled token as the server lists it. bytes: UTF-8, since a token may end in mid-letter. */
export interface LogprobEntry {
  readonly token: string;
  readonly bytes: readonly number[] | null;
}

/** What one chunk of a stream brings. toolCalls: calls in it; toolCharacters: the length of their names and arguments. */
export interface ReasoningPiece {
  readonly thinking?: string;
  readonly content?: string;
  readonly toolCalls?: number;
  readonly toolCharacters?: number;
  readonly logprobs?: readonly LogprobEntry[];
}

export interface ReasoningEnd {
  readonly status: number | null;
  readonly ending: 'done' | 'error-line' | 'cut' | 'aborted' | 'refused' | 'unreachable' | 'not-sent';
  readonly doneReason: string | null;
  readonly promptEvalCount: number | null;
  readonly evalCount: number | null;
  readonly error: string | null;
  /** From a refusal that names sizes: what the prompt needs, in tokens. */
  readonly needs: number | null;
}

/** Chunks that carried thinking, and where each chunk of content began (UTF-16 units). null: it came whole. */
export interface ChunkTrace {
  readonly thinkingChunks: number;
  readonly contentStarts: readonly number[];
}

export interface ReasoningInput {
  readonly settings: ReasoningSettings;
  readonly thinking: string;
  readonly content: string;
  readonly toolCalls: number;
  readonly toolCharacters: number;
  readonly chunks: ChunkTrace | null;
  readonly logprobs: readonly LogprobEntry[] | null;
  /** Context shifts that are known from elsewhere, such as the server log; left out or null = not known. */
  readonly shifts?: number | null;
  readonly end: ReasoningEnd;
}
