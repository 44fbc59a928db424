/**
 * What a server of a given version does with prompts that are too long. One row a generation of servers; the numbers come
 * from the release history and from recordings of 0.24.0 and 0.33.0-rc2.
 */
export interface ServerBehaviour {
  readonly version: string;
  /** runner = Ollama's own runner (before 0.30); llama-server = the runner process of llama.cpp. */
  readonly engine: 'runner' | 'llama-server';
  /** Size of what the token cut keeps: the whole window, one less, or about half. */
  readonly cut: 'window' | 'window-minus-one' | 'half';
  /** True where the WARN line's `limit` is the cut size, false where it is num_ctx. */
  readonly limitIsCutSize: boolean;
  /** The kept head counts BOS on top of num_keep. */
  readonly keepCountsBos: boolean;
  /** prompt_eval_count leaves cached tokens out (0.30.0 only). */
  readonly countsUncachedOnly: boolean;
  /** Context shift when the request does not say. */
  readonly shiftByDefault: (numCtx: number, architecture: string) => boolean;
  /** A prompt that needs a cut is refused where shift is off. */
  readonly refusesCutWithoutShift: boolean;
  /** Rendered and native chat differ; before, everything was rendered. */
  readonly hasNativePath: boolean;
  /** llama-server pads the window up to a multiple of 256. */
  readonly padsWindow: boolean;
  /** `shift` belongs to the launch of the runner: flipping it reloads. */
  readonly shiftReloads: boolean;
  readonly sourceOf: { readonly messagesDropped: string; readonly promptCut: string };
}

export const newestVersion = '0.33.0-rc2';

/** Throws on a version that has no number in front. */
export function behaviourOf(version: string): ServerBehaviour {
  const number = parseVersion(version);
  if (number === null) throw new Error(`version "${version}" is not a version: give one such as ${newestVersion}`);
  if (isBefore(number, [0, 30, 0])) return runnerBehaviour(version);
  return llamaServerBehaviour(version, number);
}

type VersionNumber = readonly [number, number, number];

function runnerBehaviour(version: string): ServerBehaviour {
  return {
    version,
    engine: 'runner',
    cut: 'window',
    limitIsCutSize: true,
    keepCountsBos: false,
    countsUncachedOnly: false,
    shiftByDefault: () => true,
    refusesCutWithoutShift: false,
    hasNativePath: false,
    padsWindow: false,
    shiftReloads: false,
    sourceOf: { messagesDropped: 'prompt.go:75', promptCut: 'runner.go:187' },
  };
}

function llamaServerBehaviour(version: string, number: VersionNumber): ServerBehaviour {
  const shiftsOnlySmall = isBefore(number, [0, 30, 9]);
  const cutsToHalf = !isBefore(number, [0, 30, 11]);
  return {
    version,
    engine: 'llama-server',
    cut: cutsToHalf ? 'half' : 'window-minus-one',
    limitIsCutSize: !shiftsOnlySmall,
    keepCountsBos: cutsToHalf,
    countsUncachedOnly: isBefore(number, [0, 30, 1]),
    shiftByDefault: (numCtx, architecture) => (shiftsOnlySmall ? numCtx < 8192 : architecture !== 'deepseek2'),
    refusesCutWithoutShift: !shiftsOnlySmall,
    hasNativePath: true,
    padsWindow: true,
    shiftReloads: true,
    sourceOf: { messagesDropped: 'prompt.go:77', promptCut: 'llama_server.go:317' },
  };
}

function parseVersion(version: string): VersionNumber | null {
  const match = /^v?(\d+)\.(\d+)(?:\.(\d+))?/.exec(version.trim());
  if (match === null) return null;
  return [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
}

function isBefore(a: VersionNumber, b: VersionNumber): boolean {
  for (let index = 0; index < 3; index += 1) {
    const left = a[index] ?? 0;
    const right = b[index] ?? 0;
    if (left !== right) return left < right;
  }
  return false;
}
