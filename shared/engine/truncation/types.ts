/** What the truncation classifier reads. Everything optional may be missing: then less is said, never something wrong. */
import type { Estimate } from '../../contract/estimates.ts';

export interface SentMessage {
  readonly role: string;
  /** UTF-16 units of the content. */
  readonly characters: number;
  /** Estimate of this message alone, template not counted. */
  readonly estimate: Estimate;
}

export interface TruncationInput {
  readonly route: 'chat' | 'generate' | 'v1-chat' | 'v1-other' | 'embed' | 'unknown';
  /** How the server builds the prompt for this model on this route, when known. */
  readonly promptPath: 'rendered' | 'native' | 'unknown';
  /** Version text of /api/version such as `0.33.0-rc2`, or null. */
  readonly serverVersion: string | null;
  /** generate with raw:true: no template, no `context` in the reply. */
  readonly raw: boolean;
  readonly messages: readonly SentMessage[];
  /** The whole prompt: messages plus about 8 tokens of template each. */
  readonly estimate: Estimate;
  /** True where images, tools or a schema add tokens that the estimate cannot see. */
  readonly hasUncountedParts: boolean;
  /** A prompt with images is never cut by tokens: it is refused. Left out = no images. */
  readonly hasImages?: boolean;
  /** What the client asked for (null = not set), and the window that ran (from ps, or assumed; null = not known). */
  readonly numCtxRequested: number | null;
  readonly windowRunning: number | null;
  readonly trainedContext: number | null;
  readonly numKeep: number | null;
  readonly numPredict: number | null;
  /** null = not sent (both default to true on the server). */
  readonly truncate: boolean | null;
  readonly shift: boolean | null;
  readonly addsBos: boolean | null;
  readonly reply: {
    readonly status: number | null;
    readonly ending: 'done' | 'error-line' | 'cut' | 'aborted' | 'refused' | 'unreachable' | 'not-sent';
    readonly promptEvalCount: number | null;
    readonly evalCount: number | null;
    readonly doneReason: string | null;
    /** Length of `context`, generate only. */
    readonly contextLength: number | null;
    readonly error: string | null;
    readonly needs: number | null;
    readonly has: number | null;
    /** Text of the thinking, left out = none known. It makes the arithmetic of `context` a few tokens less sure. */
    readonly thinking?: string;
    /** Who stopped it; null = nobody here, the connection broke. Left out = not known. */
    readonly abortedBy?: string | null;
  };
  /** The server's log lines of this call; null = the log was not open, empty = it has none that are this call's for sure. */
  readonly log: readonly string[] | null;
  /** The log is known to have debug lines, also where none is this call's. Left out = only as `log` shows. */
  readonly logDebug?: boolean;
  /** Lines fit this call and another one alike. */
  readonly logShared?: boolean;
  /** Message counts of a render with truncation on and off; null = not asked. */
  readonly render: { readonly keptCharacters: number; readonly uncutCharacters: number } | null;
  /** The turn before in the same conversation, when there is one. */
  readonly previous: { readonly promptEvalCount: number; readonly characters: number } | null;
}
