/** What would happen to the prompt, and the buttons that follow from it. */
import { Send, Square } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { CallRequest, CallSummary } from '../../../shared/contract/calls.ts';
import type { Preflight } from '../../../shared/contract/estimates.ts';
import { Button } from '../../components/button.tsx';
import { Gauge } from '../../components/gauge.tsx';
import { byteSize, count, aboutDuration } from '../../format/numbers.ts';
import { useClient } from '../../stores/engine-context.ts';
import { CountExactly } from './count-exactly.tsx';
import type { PreflightState } from './use-live.ts';

export interface PreflightGaugeProps {
  readonly state: PreflightState;
  readonly request: CallRequest | null;
  readonly problem: string | null;
  readonly running: boolean;
  /** No server: nothing can be read or sent, and `problem` says why. */
  readonly down: boolean;
  /** Who pays, and what is left. */
  readonly payer: ReactNode;
  /** Closed calls of this model, for the time it may take. */
  readonly past: readonly CallSummary[];
  readonly onUse: (numCtx: number) => void;
  readonly onSend: (policy?: CallRequest['policy']) => void;
  readonly onStop: () => void;
}

export function PreflightGauge(props: PreflightGaugeProps) {
  const { state, request, problem, down } = props;
  const { preflight } = state;
  return (
    <div
      className={`flex-none border-t px-6 pt-3 pb-4 ${state.stale && preflight !== null ? '[&_.lead]:text-ink-3!' : ''}`}
    >
      {preflight === null || down ? (
        <EmptyGauge
          text={problem ?? state.denial?.message ?? (request === null ? 'Write a message.' : 'Estimating')}
          next={state.denial?.next ?? ''}
        />
      ) : (
        <Reading
          preflight={preflight}
          count={
            <CountExactly
              preflight={preflight}
              request={state.stale ? null : request}
              running={props.running}
              onCounted={state.again}
            />
          }
        />
      )}
      {props.payer}
      <Buttons {...props} />
    </div>
  );
}

function EmptyGauge({ text, next }: { text: string; next: string }) {
  return (
    <>
      <div className="my-5 h-8 bg-sunk shadow-[inset_0_0_0_1px_var(--line-field)]" />
      <p className="lead mt-2 line-clamp-2 wrap-anywhere">{text}</p>
      <p className="lab mb-2.5 h-4 truncate">{next}</p>
    </>
  );
}

function Reading({ preflight, count: countButton }: { preflight: Preflight; count: ReactNode }) {
  const { window, kept, lost, parts, replyReserve } = preflight;
  const cut = kept !== null && lost !== null && lost > 0;
  const shown = cut ? { system: 0, history: 0, prompt: kept } : parts;
  const label = cut
    ? `Window ${count(window)}: ${count(kept)} prompt tokens stay, ${count(replyReserve)} are kept for the reply, ${count(lost)} do not fit`
    : `Window ${count(window)}: the prompt takes about ${count(preflight.estimate.likely)}, the reply up to ${count(replyReserve)}`;
  return (
    <>
      <Gauge
        windowTokens={window}
        parts={shown}
        replyReserve={replyReserve}
        lost={cut ? lost : 0}
        estimated={preflight.estimate.source !== 'counted'}
        label={label}
      />
      <p className="lead mt-2 line-clamp-2 wrap-anywhere">{preflight.sentence}</p>
      <div className="mb-2.5 flex items-start gap-3">
        <p className="lab line-clamp-2 min-w-0 flex-1">{basis(preflight)}</p>
        {countButton}
      </div>
    </>
  );
}

const sources = {
  requested: 'the window asked for',
  running: 'the window that runs now',
  'server-default': "the server's default window",
  unknown: 'window not known',
} as const;

function basis({
  estimate,
  window,
  windowSource,
  replyReserve,
  kept,
  lost,
  fitsNumCtx,
  fitsMemoryBytes,
  trained,
}: Preflight): string {
  const half =
    kept !== null && lost !== null && lost > 0 && window !== null && kept < window * 0.6
      ? 'Half of the window would stay empty. '
      : '';
  const prompt =
    estimate.source === 'counted'
      ? `Prompt ${count(estimate.likely)}, counted by the server.`
      : `Prompt ${count(estimate.low)} to ${count(estimate.high)}, ${estimate.source === 'learned' ? 'learned from this model' : 'estimated by script'}.`;
  const memory =
    fitsNumCtx === null || fitsMemoryBytes === null || window === fitsNumCtx
      ? ''
      : ` ${count(fitsNumCtx)} takes about ${byteSize(fitsMemoryBytes)}.`;
  const none =
    lost !== null && lost > 0 && fitsNumCtx === null && trained !== null
      ? ` No window up to ${count(trained)}, which this model was trained for, holds it.`
      : '';
  return `${half}${prompt} Reply up to ${count(replyReserve)}; ${sources[windowSource]}.${memory}${none}`;
}

function Buttons(props: PreflightGaugeProps) {
  const { state, request, running, down, onUse, onSend, onStop } = props;
  const preflight = state.preflight;
  const over =
    preflight?.outcome === 'does-not-fit' ||
    preflight?.outcome === 'may-not-fit' ||
    preflight?.outcome === 'reply-may-not-fit';
  const fits = preflight?.fitsNumCtx ?? null;
  const offer = over && fits !== null && fits !== preflight?.window ? fits : null;
  return (
    <div className="flex flex-wrap items-center gap-2">
      {running ? (
        <Button look="primary" icon={Square} onClick={onStop}>
          Stop
        </Button>
      ) : (
        <>
          {offer === null ? null : (
            <Button
              look="primary"
              title={`num_ctx ${count(offer)} holds the prompt and the reply`}
              onClick={() => {
                onUse(offer);
              }}
            >
              Use {count(offer)}
            </Button>
          )}
          <Button
            look={offer === null ? 'primary' : 'plain'}
            {...(over ? {} : { icon: Send })}
            disabled={request === null || down}
            onClick={() => {
              onSend(over && request?.policy === 'refuse' ? 'allow' : undefined);
            }}
          >
            {over ? 'Send anyway' : 'Send'}
          </Button>
          {over && request !== null && request.policy !== 'refuse' ? (
            <Button
              title="Sent with truncate and shift off: the server answers with what it needs and has."
              onClick={() => {
                onSend('refuse');
              }}
            >
              Refuse when over
            </Button>
          ) : null}
        </>
      )}
      {preflight?.window === null && request !== null && !running && !down ? (
        <LearnWindow key={request.model} model={request.model} />
      ) : null}
      <Cost {...props} offer={offer} />
    </div>
  );
}

/** Nobody says which window a server uses by itself, until a model is loaded. */
function LearnWindow({ model }: { model: string }) {
  const client = useClient();
  const [loading, setLoading] = useState(false);
  const load = (): void => {
    setLoading(true);
    void client.request('model.load', { model, numCtx: null }).then((answer) => {
      setLoading(false);
      if (answer.ok) return;
      client.raiseNotice({ level: 'warning', text: answer.denial.message, next: answer.denial.next ?? null });
    });
  };
  return (
    <Button
      disabled={loading}
      title="Loads the model into memory, without a call. Its window is known from there on."
      onClick={load}
    >
      {loading ? 'Loading the model' : 'Load it to see its window'}
    </Button>
  );
}

function Cost({ state, past, offer }: PreflightGaugeProps & { offer: number | null }) {
  const { preflight } = state;
  if (preflight === null) return null;
  const tokens = (preflight.kept ?? preflight.estimate.high) + preflight.replyReserve;
  const timeMs = timeOf(preflight, past);
  const memory =
    offer === null || preflight.fitsMemoryBytes === null
      ? ''
      : `${count(offer)} takes about ${byteSize(preflight.fitsMemoryBytes)}`;
  return (
    <span
      className="lab ml-auto text-right whitespace-nowrap"
      title={`1 call: at most ${count(tokens)} tokens, prompt and reply together${memory === '' ? '' : `. ${memory}`}`}
    >
      ≤ {count(tokens)} tokens
      <br />
      {timeMs === null ? 'time not known' : aboutDuration(timeMs)}
    </span>
  );
}

/** From the last call of this model that gave both speeds. */
function timeOf(preflight: Preflight, past: readonly CallSummary[]): number | null {
  const measured = past.findLast(
    (call) =>
      call.promptEvalCount !== null &&
      call.promptEvalDurationMs !== null &&
      call.evalCount !== null &&
      call.evalDurationMs !== null &&
      call.promptEvalCount > 0 &&
      call.evalCount > 0,
  );
  if (measured === undefined) return null;
  const promptMs = (measured.promptEvalDurationMs ?? 0) / (measured.promptEvalCount ?? 1);
  const outputMs = (measured.evalDurationMs ?? 0) / (measured.evalCount ?? 1);
  return (preflight.kept ?? preflight.estimate.likely) * promptMs + preflight.replyReserve * outputMs;
}
