/** What `spillway explain` does: reads each file, prints its verdict, goes on after a file that cannot be read. */
import { open } from 'node:fs/promises';
import type { Explanation } from '../../contract/explain.ts';
import { type Result, denied, ok } from '../../contract/denials.ts';
import { type TruncationKind, truncationKinds } from '../../contract/verdicts.ts';
import { explain } from '../../engine/explain/explain.ts';
import { EXIT, type ExitCode, complain, writeOut } from './exit.ts';

export interface ExplainOptions {
  readonly json?: boolean;
  readonly version?: string;
  readonly window?: number;
  readonly log?: string;
  readonly failOn?: string;
}

const FILE_BYTES_MAX = 64 * 1_024 * 1_024;

export async function explainFiles(files: readonly string[], options: ExplainOptions): Promise<ExitCode> {
  const failOn = readFailOn(options.failOn);
  if (!failOn.ok) return bad(failOn.denial.message, failOn.denial.next);
  const log = options.log === undefined ? ok(undefined) : await readText(options.log);
  if (!log.ok) return bad(log.denial.message, log.denial.next);

  let exit: ExitCode = EXIT.done;
  const occurred = new Set<TruncationKind>();
  for (const file of files) {
    const read = await readText(file);
    const result = read.ok ? explain({ text: read.value, ...given(options, log.value) }) : read;
    if (!result.ok) {
      exit = bad(read.ok ? `${nameOf(file)}: ${result.denial.message}` : result.denial.message, result.denial.next);
      continue;
    }
    const { truncation, reasoning } = result.value;
    for (const kind of truncation.kinds) if (failOn.value.has(kind)) occurred.add(kind);
    await writeOut(
      options.json === true ? `${JSON.stringify({ file, truncation, reasoning })}\n` : asText(file, result.value),
    );
  }
  if (exit === EXIT.done && occurred.size > 0) {
    complain(`--fail-on: ${[...occurred].join(', ')} occurred.`);
    return EXIT.failOn;
  }
  return exit;
}

function bad(message: string, next?: string): ExitCode {
  complain(message, next);
  return EXIT.badInput;
}

function given(options: ExplainOptions, log: string | undefined): { version?: string; window?: number; log?: string } {
  return {
    ...(options.version === undefined ? {} : { version: options.version }),
    ...(options.window === undefined ? {} : { window: options.window }),
    ...(log === undefined ? {} : { log }),
  };
}

function readFailOn(text: string | undefined): Result<ReadonlySet<TruncationKind>> {
  const names = (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const unknown = names.find((name) => !truncationKinds.includes(name as TruncationKind));
  if (unknown !== undefined || (text !== undefined && names.length === 0)) {
    return denied('bad-input', `--fail-on: there is no verdict "${unknown ?? ''}".`, {
      field: 'fail-on',
      next: `Use ${truncationKinds.join(', ')}.`,
    });
  }
  return ok(new Set(names as TruncationKind[]));
}

/** Stops reading at the limit, so that a wrong file cannot fill the memory. */
async function readText(file: string): Promise<Result<string>> {
  try {
    return file === '-' ? await readStdin() : await readFile(file);
  } catch (error) {
    return denied('bad-input', `${file} cannot be read: ${reasonOf(error)}.`, {
      next: 'Check the name and that it may be read.',
    });
  }
}

async function readFile(file: string): Promise<Result<string>> {
  const handle = await open(file, 'r');
  try {
    const status = await handle.stat();
    if (status.isDirectory()) return denied('bad-input', `${file} is a folder.`, { next: 'Name the files in it.' });
    if (status.size > FILE_BYTES_MAX) return tooBig(file);
    return await collect(file, handle.createReadStream({ autoClose: false }));
  } finally {
    await handle.close();
  }
}

function readStdin(): Promise<Result<string>> {
  return collect('stdin', process.stdin);
}

async function collect(file: string, stream: AsyncIterable<Buffer | string>): Promise<Result<string>> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of stream) {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part;
    size += bytes.length;
    if (size > FILE_BYTES_MAX) return tooBig(file);
    parts.push(bytes);
  }
  return ok(decode(Buffer.concat(parts)));
}

/** PowerShell redirects write UTF-16; everything else is UTF-8. */
function decode(bytes: Buffer): string {
  const isUtf16 = bytes.length >= 2 && bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes);
}

function tooBig(file: string): Result<string> {
  return denied('bad-input', `${file} is over 64 MB.`, { next: 'Give the recording of one call.' });
}

function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT') return 'it does not exist';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  return error instanceof Error ? error.message : String(error);
}

function asText(file: string, { truncation, reasoning, read }: Explanation): string {
  const figures = [
    ['model', printable(read.model)],
    ['server', printable(read.version)],
    ['window', figure(read.window)],
    ['sent', figure(truncation.sent)],
    ['evaluated', figure(read.promptEvalCount)],
    [
      'lost',
      truncation.lost === null ? null : `${figure(truncation.lost)}${truncation.lostAtLeast ? ' at least' : ''}`,
    ],
    ['needs', figure(truncation.needs)],
    ['output', figure(read.evalCount)],
  ].filter((pair): pair is [string, string] => pair[1] !== null);
  const evidence = truncation.evidence.map((one) => `  ${one.confidence.padEnd(9)} ${printable(one.text)}`);
  const lines = [
    `${nameOf(file)}: ${truncation.kinds.join(' + ')} (${truncation.confidence})`,
    ...figures.map(([name, value]) => `  ${name.padEnd(9)} ${value}`),
    ...evidence,
    ...(truncation.next === null ? [] : [`  next      ${truncation.next}`]),
    ...reasoningLines(reasoning),
  ];
  return `${lines.join('\n')}\n`;
}

/** Three readings in two lines: how it ended, and where the thinking was. */
function reasoningLines(reasoning: Explanation['reasoning']): string[] {
  if (reasoning === null) return [];
  const { outcome, cause, complete, places, suspected, obedience } = reasoning;
  const ended = [outcome, ...(cause === null ? [] : [`cause ${cause}`]), ...(complete === false ? ['cut off'] : [])];
  const where = places.length === 0 ? 'none seen' : places.join(' + ');
  return [
    `  answer    ${ended.join(', ')}`,
    `  thinking  ${where}${suspected === null ? '' : `, suspected: ${suspected}`}${obedience === null || obedience === 'not-asked' ? '' : `; think off ${obedience}`}`,
  ];
}

function figure(value: number | null): string | null {
  return value === null ? null : value.toLocaleString('en-US');
}

function nameOf(file: string): string {
  return file === '-' ? 'stdin' : file;
}

/** Names and errors are hostile text: no control characters reach the terminal. */
function printable(text: string | null): string | null {
  return text === null ? null : text.replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ').slice(0, 500);
}
