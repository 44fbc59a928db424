/** Where the simulator may differ from a recording, and why. Everything else must be equal. */
export interface MeantDifference {
  readonly recording: string;
  /** Which difference texts are meant. */
  readonly difference: RegExp;
  readonly reason: string;
}

export const meantDifferences: readonly MeantDifference[] = [
  {
    recording: 'old/show-rendered',
    difference: /parent_model/,
    reason: 'the recorded model was created from a path of that machine; the simulator has no such path to tell',
  },
  {
    recording: 'real/num-predict-zero',
    difference: /cached n_tokens|release/,
    reason:
      'a call that was not recorded ran before it; and how many tokens are sampled until a hang-up is noticed is a matter of time',
  },
  {
    recording: 'real/cancel-mid-stream',
    difference: /release/,
    reason:
      'how many tokens are sampled until a hang-up is noticed is a matter of time (its own test runs at real pace)',
  },
  ...['rendered-edge-1780', 'rendered-edge-1800', 'rendered-num-keep-huge'].map((name) => ({
    recording: `real/${name}`,
    difference: /cached n_tokens/,
    reason: 'the runner keeps several marks to go back to in a sliding window, the simulator one',
  })),
  ...['cancel-before-headers', 'parallel-four'].map((name) => ({
    recording: `real/${name}`,
    difference: /log line/,
    reason:
      'the recorded call is a look afterwards, its log belongs to calls that are not in it; pace.test.ts makes such calls',
  })),
];
