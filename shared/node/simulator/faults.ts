/** Fault switches: what goes wrong on purpose, for people who want to see how a client takes it. */
import { faultNames, type FaultName } from './options.ts';

/** One line a fault, for help texts. */
export const faultTexts: Readonly<Record<FaultName, string>> = {
  'error-line': 'after three chunks an {"error"} line ends a stream that began with 200',
  'plain-text-error': 'after three chunks a line that is not JSON ends the stream',
  'cut-stream': 'the stream ends after three chunks without a done line',
  'drop-connection': 'the connection is dropped after three chunks',
  'torn-bytes': 'every chunk arrives in pieces of three bytes, also inside a letter',
  'glued-lines': 'lines arrive several at a time',
  'no-last-newline': 'the done line has no newline',
  'slow-headers': 'the first chunk waits 400 ms longer (times the time scale)',
  busy: 'every call is refused with 503, as by a full queue',
  'client-closed': 'every call ends with 499',
  'server-error': 'every call ends with 500: the runner died while loading',
  'missing-metrics': 'the done line has no counts and no durations',
  'invalid-json-line': 'one line in the stream is cut in half',
  'huge-line': 'one line carries a megabyte of text',
};

/** Refusal a fault asks for before anything runs, or null. */
export function faultRefusal(faults: ReadonlySet<FaultName>): { status: number; error: string } | null {
  if (faults.has('busy')) return { status: 503, error: busyText };
  if (faults.has('client-closed')) return { status: 499, error: 'request canceled' };
  if (faults.has('server-error')) {
    return { status: 500, error: 'llama-server process has terminated: signal: killed' };
  }
  return null;
}

export const busyText = 'server busy, please try again.  maximum pending requests exceeded';

/** Null when the text is no fault. */
export function faultNamed(text: string): FaultName | null {
  return faultNames.find((name) => name === text) ?? null;
}

/** After this many chunks the faults that end a stream strike. */
export const chunksBeforeFault = 3;
