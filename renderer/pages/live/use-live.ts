/** The Live page's ties to the engine: model facts, preflight while typing, calls on screen. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { CallRecord, CallRequest } from '../../../shared/contract/calls.ts';
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

export interface PreflightState {
  readonly preflight: Preflight | null;
  /** The text or a setting has changed since. */
  readonly stale: boolean;
  readonly denial: Denial | null;
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
  }, [client, request, up]);
  if (request === null || answered === null) return { preflight: null, stale: request !== null, denial: null };
  return { preflight: answered.preflight, denial: answered.denial, stale: answered.request !== request };
}

export interface ShownCalls {
  readonly current: CallView | null;
  readonly last: CallView | null;
  /** The stored record of the current call, once it is closed and read. */
  readonly record: CallRecord | null;
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
  return { current: first, last: second, record: records.get(shown[0] ?? ('' as CallId)) ?? null };
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
  const ended = live === undefined || live.closed !== null || live.vanished;
  useEffect(() => {
    if (id === undefined || !ended || record !== undefined) return;
    let current = true;
    void client.request('call.get', { callId: id }).then((answer) => {
      if (current && answer.ok) setRecords((before) => new Map([...before].slice(-10)).set(id, answer.value));
    });
    return () => {
      current = false;
    };
  }, [client, id, ended, record, setRecords]);
  return useMemo(() => {
    // The record has the whole texts, also those this screen missed.
    if (record !== undefined && (live === undefined || live.vanished || live.incomplete || live.clippedCharacters > 0))
      return viewOfRecord(record);
    return live === undefined ? null : viewOfLive(live, simulating);
  }, [record, live, simulating]);
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

/** Starts a call and shows it; a refusal becomes a notice. */
export function useSend(): (request: CallRequest) => Promise<void> {
  const client = useClient();
  return useCallback(
    async (request) => {
      const started = await client.request('call.start', request);
      if (started.ok) draft.show(started.value.callId);
      else client.raiseNotice({ level: 'error', text: started.denial.message, next: started.denial.next ?? null });
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
