/** Requests and their answers over any carrier of texts: numbers them, keeps what is open, hands frames on. */
import { denied } from '../../shared/contract/denials.ts';
import type { Denial, Result } from '../../shared/contract/denials.ts';
import { MESSAGE_BYTES_MAX } from '../../shared/contract/frames.ts';
import type { ToEngine, ToScreen } from '../../shared/contract/frames.ts';
import type { RequestName, RequestParams, RequestResult } from '../../shared/contract/requests.ts';
import type { Frame, Transport, TransportState } from './transport.ts';

/** Requests without an answer yet; more than a page ever has open at once. */
const OPEN_REQUESTS_MAX = 256;

export interface Correspondence extends Transport {
  /** The carrier's side: a text came in. Anything that is no message of the contract is left out. */
  received(text: string): void;
  changeState(state: TransportState): void;
}

/** `send` is called only in state `connected`; `end` closes the carrier. */
export function createCorrespondence(carrier: { send(text: string): void; end(): void }): Correspondence {
  let state: TransportState = 'connecting';
  let nextId = 1;
  const open = new Map<number, (result: Result<unknown>) => void>();
  /** Texts asked for before the first connection, sent when it stands. */
  let early: string[] = [];
  const frameListeners = new Set<(frame: Frame) => void>();
  const stateListeners = new Set<(state: TransportState) => void>();

  const denyOpen = (denial: Denial): void => {
    const answers = [...open.values()];
    open.clear();
    early = [];
    for (const answer of answers) answer({ ok: false, denial });
  };

  const changeState = (to: TransportState): void => {
    if (state === to || state === 'closed') return;
    state = to;
    if (to === 'connected') {
      const texts = early;
      early = [];
      for (const text of texts) carrier.send(text);
    } else if (to !== 'connecting') {
      denyOpen(lost(to));
    }
    for (const listener of stateListeners) listener(to);
  };

  return {
    state: () => state,
    request<Name extends RequestName>(name: Name, params: RequestParams<Name>) {
      type Answer = Result<RequestResult<Name>>;
      if (state !== 'connected' && state !== 'connecting')
        return Promise.resolve<Answer>({ ok: false, denial: lost(state) });
      if (open.size >= OPEN_REQUESTS_MAX) {
        return Promise.resolve<Answer>(
          denied('busy', 'Too many requests wait for an answer.', { next: 'Try again in a moment.' }),
        );
      }
      const id = nextId;
      nextId += 1;
      const message: ToEngine = { kind: 'request', id, name, params };
      const text = JSON.stringify(message);
      if (isTooLarge(text)) {
        return Promise.resolve<Answer>(
          denied('bad-input', `This is more than the ${MESSAGE_BYTES_MAX / 1024 / 1024} MB one request can carry.`, {
            next: 'Shorten it and send it again.',
          }),
        );
      }
      return new Promise<Answer>((resolve) => {
        open.set(id, resolve as (result: Result<unknown>) => void);
        if (state === 'connected') carrier.send(text);
        else early.push(text);
      });
    },
    received(text) {
      const message = readMessage(text);
      if (message === null) return;
      if (message.kind === 'frame') {
        for (const listener of frameListeners) listener(message);
        return;
      }
      const answer = open.get(message.id);
      open.delete(message.id);
      answer?.(message.ok ? { ok: true, value: message.value } : { ok: false, denial: message.denial });
    },
    changeState,
    onFrame: (listener) => subscribe(frameListeners, listener),
    onStateChange: (listener) => subscribe(stateListeners, listener),
    close() {
      if (state === 'closed') return;
      changeState('closed');
      carrier.end();
    },
  };
}

function subscribe<Listener>(listeners: Set<Listener>, listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function lost(state: TransportState): Denial {
  if (state === 'refused') {
    return {
      code: 'cancelled',
      message: 'Spillway was started again and does not know this page.',
      next: 'Open the link that it printed.',
    };
  }
  if (state === 'closed')
    return { code: 'cancelled', message: 'The connection to Spillway was closed.', next: 'Reload the page.' };
  return {
    code: 'cancelled',
    message: 'The connection to Spillway was lost.',
    next: 'It reconnects by itself; then try again.',
  };
}

/**
 * Only the envelope is looked at: host and page are built from one contract, and frames come twenty times a second.
 * null for anything else.
 */
function readMessage(text: string): ToScreen | null {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof message !== 'object' || message === null || !('kind' in message)) return null;
  if (message.kind === 'frame') {
    return 'seq' in message && typeof message.seq === 'number' && 'events' in message && Array.isArray(message.events)
      ? (message as ToScreen)
      : null;
  }
  return message.kind === 'response' && 'id' in message && typeof message.id === 'number'
    ? (message as ToScreen)
    : null;
}

function isTooLarge(text: string): boolean {
  // A UTF-16 unit is at most three bytes of UTF-8: short texts need no counting.
  if (text.length * 3 <= MESSAGE_BYTES_MAX) return false;
  return new TextEncoder().encode(text).byteLength > MESSAGE_BYTES_MAX;
}
