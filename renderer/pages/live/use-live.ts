/** The Live page's ties to the engine: model facts, preflight while typing, calls on screen. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { CallRecord, CallRequest, CallSummary } from '../../../shared/contract/calls.ts';
import type { Denial } from '../../../shared/contract/denials.ts';
import type { Preflight } from '../../../shared/contract/estimates.ts';
import type { CallId } from '../../../shared/contract/ids.ts';
import type { ModelFacts } from '../../../shared/contract/server.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import type { EngineClient } from '../../stores/engine-store.ts';
import { viewOfLive, viewOfRecord } from './call-view.ts';
import type { CallView } from './call-view.ts';
import { draft, useDraft } from './draft-store.ts';

/** What the server says of a model; null until it answered. Asked once per model and server. */
export function useModelFacts(model: string): ModelFacts | null {
  const client = useClient();
  const server = useEngine((state) => (state.server?.state === 'up' ? state.server.url : ''));
  const key = `${server} ${model}`;
  const [known, setKnown] = useState<ReadonlyMap<string, ModelFacts>>(new Map());
  const has = known.has(key);
  useEffect(() => {
    if (model === '' || server === '' || has) return;
    let current = true;
    void client.request('model.show', { model }).then((answer) => {
      if (current && answer.ok) setKnown((before) => new Map([...before].slice(-50)).set(key, answer.value));
    });
    return () => {
      current = false;
    };
  }, [client, model, server, key, has]);
  return known.get(key) ?? null;
}

const PAST_CALLS_MAX = 100;

/** Closed calls of a model, oldest first: stored ones of earlier days, then those of this screen. For speeds. */
export function usePastCalls(model: string): readonly CallSummary[] {
  const client = useClient();
  const loaded = useEngine((state) => state.loaded);
  const recent = useEngine((state) => state.recentCalls);
  const [stored, setStored] = useState<readonly CallSummary[]>([]);
  useEffect(() => {
    if (!loaded) return;
    let current = true;
    void client.request('call.list', { limit: PAST_CALLS_MAX }).then((answer) => {
      if (current && answer.ok) setStored([...answer.value].reverse());
    });
    return () => {
      current = false;
    };
  }, [client, loaded]);
  return useMemo(() => [...stored, ...recent].filter((call) => call.model === model), [stored, recent, model]);
}

export interface PreflightState {
  readonly preflight: Preflight | null;
  /** The text or a setting has changed since. */
  readonly stale: boolean;
  readonly denial: Denial | null;
  /** Asks once more, where the server was asked something in between that can have changed the answer. */
  readonly again: () => void;
}

const SMALL_DELAY_MS = 150;
const LARGE_DELAY_MS = 500;
const LARGE_CHARACTERS = 200_000;

/** Asks for a preflight after typing paused; estimating happens in the engine. An older answer never replaces a newer one. */
export function usePreflight(request: CallRequest | null): PreflightState {
  const client = useClient();
  const [answered, setAnswered] = useState<{
    request: CallRequest;
    preflight: Preflight | null;
    denial: Denial | null;
  } | null>(null);
  const up = useEngine((state) => state.server?.state === 'up');
  // A call that ended, or a model that was loaded, can teach the window or the count that was missing before.
  const ended = useEngine((state) => state.callsEnded);
  const loaded = useEngine((state) => state.server?.running);
  const [asks, setAsks] = useState(0);
  const again = useCallback(() => {
    setAsks((before) => before + 1);
  }, []);
  useEffect(() => {
    if (request === null || !up) return;
    let current = true;
    const characters = request.messages.reduce((sum, message) => sum + message.content.length, 0);
    const timer = setTimeout(
      () => {
        void client.request('call.preflight', request).then((answer) => {
          if (!current) return;
          setAnswered({
            request,
            preflight: answer.ok ? answer.value : null,
            denial: answer.ok ? null : answer.denial,
          });
        });
      },
      characters > LARGE_CHARACTERS ? LARGE_DELAY_MS : SMALL_DELAY_MS,
    );
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [client, request, up, ended, loaded, asks]);
  if (request === null || answered === null) return { preflight: null, stale: request !== null, denial: null, again };
  return { preflight: answered.preflight, denial: answered.denial, stale: answered.request !== request, again };
}

export interface ShownCalls {
  readonly current: CallView | null;
  readonly last: CallView | null;
  /** The stored record of the current call, when it has been read. */
  readonly record: CallRecord | null;
  /** Reads it. With a document of megabytes a record is large, so it comes only when somebody wants it. */
  readonly loadRecord: () => Promise<CallRecord | null>;
}

/** The call on screen and the one before it. After a reload they come from the store. */
export function useShownCalls(): ShownCalls {
  const client = useClient();
  const shown = useDraft((state) => state.shown);
  const [records, setRecords] = useState<ReadonlyMap<CallId, CallRecord>>(new Map());
  const loaded = useEngine((state) => state.loaded);
  useRecovery(client, loaded && shown.length === 0);
  const first = useShown(shown[0], records, setRecords);
  const second = useShown(shown[1], records, setRecords);
  const id = shown[0];
  const record = (id === undefined ? undefined : records.get(id)) ?? null;
  const loadRecord = useCallback(async () => {
    if (record !== null || id === undefined) return record;
    const answer = await client.request('call.get', { callId: id });
    if (answer.ok) setRecords((before) => withRecord(before, answer.value));
    else client.raiseNotice({ level: 'warning', text: answer.denial.message, next: answer.denial.next ?? null });
    return answer.ok ? answer.value : null;
  }, [client, id, record]);
  // Until the first frame of a new call is here, the one before stays where it was.
  return first === null
    ? { current: second, last: null, record: null, loadRecord }
    : { current: first, last: second, record, loadRecord };
}

const RECORDS_MAX = 4;
/** The answer to call.start overtakes the first frame of the call; this long it is waited for before the store is asked. */
const EVENTS_WAIT_MS = 3_000;

function withRecord(records: ReadonlyMap<CallId, CallRecord>, record: CallRecord): ReadonlyMap<CallId, CallRecord> {
  return new Map([...records].slice(-(RECORDS_MAX - 1))).set(record.id, record);
}

function useShown(
  id: CallId | undefined,
  records: ReadonlyMap<CallId, CallRecord>,
  setRecords: (change: (before: ReadonlyMap<CallId, CallRecord>) => ReadonlyMap<CallId, CallRecord>) => void,
): CallView | null {
  const client = useClient();
  const live = useEngine((state) => (id === undefined ? undefined : state.calls.get(id)));
  const simulating = useEngine((state) => state.server?.kind === 'simulator');
  const record = id === undefined ? undefined : records.get(id);
  // What streamed here is whole; only a call that this page saw in part, or not at all, is read back.
  const missing =
    live === undefined || live.vanished || (live.closed !== null && (live.incomplete || live.clippedCharacters > 0));
  useEffect(() => {
    if (id === undefined || !missing || record !== undefined) return;
    let current = true;
    const read = (): void => {
      void client.request('call.get', { callId: id }).then((answer) => {
        if (current && answer.ok) setRecords((before) => withRecord(before, answer.value));
      });
    };
    const timer = setTimeout(read, id === useDraft.getState().started ? EVENTS_WAIT_MS : 0);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [client, id, missing, record, setRecords]);
  return useMemo(() => {
    if (record !== undefined && missing) return viewOfRecord(record);
    return live === undefined ? null : viewOfLive(live, simulating);
  }, [record, live, missing, simulating]);
}

function useRecovery(client: EngineClient, wanted: boolean): void {
  const asked = useRef(false);
  useEffect(() => {
    if (!wanted || asked.current) return;
    asked.current = true;
    void client.request('call.list', { runId: null, limit: 2 }).then((answer) => {
      if (answer.ok && useDraft.getState().shown.length === 0)
        draft.set({ shown: answer.value.map((call) => call.id).slice(0, 2) });
    });
  }, [client, wanted]);
}

/** Starts a call, shows it and answers its id; a refusal becomes a notice and null. */
export function useSend(): (request: CallRequest) => Promise<CallId | null> {
  const client = useClient();
  return useCallback(
    async (request) => {
      const started = await client.request('call.start', request);
      if (started.ok) {
        draft.set({ started: started.value.callId });
        draft.show(started.value.callId);
      }
      if (!started.ok)
        client.raiseNotice({ level: 'error', text: started.denial.message, next: started.denial.next ?? null });
      return started.ok ? started.value.callId : null;
    },
    [client],
  );
}

/** The wall clock, moving while `on`. */
export function useNow(on: boolean, everyMs = 250): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    if (!on) return;
    const timer = setInterval(() => {
      setNowMs(Date.now());
    }, everyMs);
    return () => {
      clearInterval(timer);
    };
  }, [on, everyMs]);
  return nowMs;
}
