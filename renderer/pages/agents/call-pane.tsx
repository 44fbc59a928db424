/** One call as it went through the gateway: what was asked, what the model read of the answer, and what the guards know of it. */
import { useEffect, useState } from 'react';
import type { AgentRun, GatewayCall, GuardTrip } from '../../../shared/contract/agents.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Facts } from '../../components/detail-pane.tsx';
import { LongText } from '../../components/long-text.tsx';
import { count, DASH } from '../../format/numbers.ts';
import { withSigns } from '../../format/signs.ts';
import { useClient } from '../../stores/engine-context.ts';
import { Pane, PaneHead } from './pane.tsx';
import { cutText, refusedText, tripSentence } from './transcript-rows.ts';
import { callName, exhaustionText, inSeconds, isRefused, wholeMoney } from './words.ts';

export interface CallPaneProps {
  readonly run: AgentRun;
  readonly call: GatewayCall;
  /** Trips that name it. */
  readonly trips: readonly GuardTrip[];
  /** How many calls of the run have the same fingerprint, and the same result besides. */
  readonly sameCalls: number;
  readonly sameStates: number;
  readonly onBlob: (handle: string) => void;
  readonly onClose: () => void;
  readonly onMove: (step: 1 | -1) => void;
}

export function CallPane(props: CallPaneProps) {
  const { run, call, trips, onBlob, onClose, onMove } = props;
  const cut = cutText(call);
  return (
    <Pane
      title={callName(call)}
      note={`${call.nodeId}, step ${call.step}`}
      simulated={run.simulated}
      onClose={onClose}
      onMove={onMove}
      footer={
        <>
          {call.handle === null ? null : (
            <Button onClick={() => onBlob(call.handle ?? '')}>Read the whole output</Button>
          )}
          <CopyButton label="Copy as JSON" look="plain" text={() => JSON.stringify(call, null, 2)} />
        </>
      }
    >
      <Outcome call={call} />
      {trips.map((trip, index) => (
        <p key={index} className="flex items-start gap-2 px-4 pb-1 text-ink">
          <Badge meaning="loops" severity={trip.stage === 'stop' ? 'stopped' : 'happened'} size="small" />
          <span className="wrap-anywhere">{tripSentence(trip)}</span>
        </p>
      ))}
      <Facts
        facts={[
          ['tool', withSigns(call.tool)],
          [
            'ran',
            call.endedMs === null
              ? `since ${inSeconds(call.startedMs)}`
              : `${inSeconds(call.startedMs)} to ${inSeconds(call.endedMs)}`,
          ],
          ['attempts', count(call.attempts)],
          ['tokens', count(call.tokens)],
          ['cost', wholeMoney(call.nanoDollars)],
          ['output', cut ?? `${count(call.outputBytes)} bytes, all of it in the context`],
          [
            'new text',
            call.newShingles === null
              ? 'counted with the last call of its step'
              : `${count(call.newShingles)} new phrases in this step`,
          ],
          ['call hash', hashText(call.fingerprint, props.sameCalls)],
          ['state hash', hashText(call.stateHash, props.sameStates)],
          ['id', call.id],
        ]}
      />
      <PaneHead
        text="Arguments"
        aside={<CopyButton look="icon" label="Copy the arguments" text={() => call.argumentsHead} />}
      />
      <pre className="max-h-40 flex-none overflow-auto px-4 pb-2 wrap-anywhere whitespace-pre-wrap text-ink">
        {withSigns(pretty(call.argumentsHead))}
      </pre>
      <WhatTheModelRead run={run} call={call} />
    </Pane>
  );
}

function hashText(hash: string | null, times: number): string {
  if (hash === null) return DASH;
  return times > 1
    ? `${hash.slice(0, 16)}, ${count(times)} times in this run`
    : `${hash.slice(0, 16)}, once in this run`;
}

function Outcome({ call }: { call: GatewayCall }) {
  if (isRefused(call))
    return (
      <div className="flex items-start gap-2 px-4 pt-1 pb-2">
        <Badge meaning="budget" severity="stopped" />
        <div className="min-w-0">
          <b>{refusedText(call)}</b>
          {call.exhaustion === null ? null : (
            <p className="wrap-anywhere">
              {exhaustionText(call.exhaustion)} {call.exhaustion.evidence}
            </p>
          )}
        </div>
      </div>
    );
  const words = {
    done: 'done',
    failed: 'failed',
    cached: 'from the cache, at no cost',
    running: 'running',
    'waiting-approval': 'waits for a person',
  };
  const { outcome } = call;
  if (outcome === 'refused' || outcome === 'not-run') return null;
  return (
    <p className="px-4 pb-1 text-ink">
      <b>{words[outcome]}</b>
    </p>
  );
}

/** The entry of the transcript that answers this call; what is in the store is only its beginning. */
function WhatTheModelRead({ run, call }: { run: AgentRun; call: GatewayCall }) {
  const text = useResult(run, call);
  return (
    <>
      <PaneHead
        text="What the model read"
        aside={<CopyButton look="icon" label="Copy what the model read" text={() => text ?? call.resultHead} />}
      />
      <LongText key={call.id} text={text ?? call.resultHead} label="What the model read" className="min-h-40" />
    </>
  );
}

const PAGE = 500;
const PAGES_MAX = 20;

function useResult(run: AgentRun, call: GatewayCall): string | null {
  const client = useClient();
  const [held, setHeld] = useState<{ id: string; text: string } | null>(null);
  const { id: callId, nodeId, endedMs } = call;
  useEffect(() => {
    if (endedMs === null) return;
    let current = true;
    void (async () => {
      for (let page = 0; page < PAGES_MAX && current; page += 1) {
        const answer = await client.request('agent.transcript', {
          runId: run.id,
          nodeId,
          from: page * PAGE,
          limit: PAGE,
        });
        if (!answer.ok) return;
        const entry = answer.value.entries.find((one) => one.role === 'tool' && one.callId === callId);
        if (entry !== undefined) {
          if (current) setHeld({ id: callId, text: entry.content });
          return;
        }
        if ((page + 1) * PAGE >= answer.value.total) return;
      }
    })();
    return () => {
      current = false;
    };
  }, [client, run.id, nodeId, callId, endedMs]);
  return held?.id === call.id ? held.text : null;
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
