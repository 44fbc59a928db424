/** A simulator for one test, stopped whatever happens, and the calls tests make most. */
import { startSimulator, type Simulator, type SimulatorOptions } from '../../shared/node/simulator/index.ts';

export async function withSimulator<Result>(
  options: SimulatorOptions,
  run: (simulator: Simulator) => Promise<Result>,
): Promise<Result> {
  const simulator = await startSimulator({ port: 0, timeScale: 0, ...options });
  try {
    return await run(simulator);
  } finally {
    await simulator.stop();
  }
}

export interface JsonReply {
  readonly status: number;
  readonly text: string;
  /** One object a line. */
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  readonly last: Readonly<Record<string, unknown>>;
}

export async function post(
  simulator: Simulator,
  path: string,
  body: unknown,
  signal?: AbortSignal,
): Promise<JsonReply> {
  const reply = await fetch(simulator.url + path, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await reply.text();
  const lines = text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { status: reply.status, text, lines, last: lines.at(-1) ?? {} };
}

/** A chat with one user message; not streamed unless the body says so. */
export function chat(
  simulator: Simulator,
  content: string,
  body: Readonly<Record<string, unknown>> = {},
): Promise<JsonReply> {
  return post(simulator, '/api/chat', {
    model: 'sim-reader',
    messages: [{ role: 'user', content }],
    stream: false,
    ...body,
  });
}

export function contentOf(reply: JsonReply): string {
  return reply.lines
    .map(
      (line) =>
        (line['message'] as { content?: string } | undefined)?.content ??
        (line['response'] as string | undefined) ??
        '',
    )
    .join('');
}

/** Plain sentences, about `characters` long, without any code. */
export function filler(characters: number): string {
  const sentence = 'Every department answers its own requests within three days and the front desk keeps a list. ';
  return sentence.repeat(Math.ceil(characters / sentence.length)).slice(0, characters);
}

/** Log lines since `from` that hold the text. */
export function logged(simulator: Simulator, text: string, from = 0): string[] {
  return simulator
    .logLines()
    .slice(from)
    .filter((line) => line.includes(text));
}
