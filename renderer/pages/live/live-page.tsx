/** Live: what the model sees of what you send. */
import { Download, MessageSquareQuote } from 'lucide-react';
import { useCallback, useEffect, useState } from 'react';
import type { CallRecord, CallRequest } from '../../../shared/contract/calls.ts';
import type { Denial } from '../../../shared/contract/denials.ts';
import type { CallId } from '../../../shared/contract/ids.ts';
import { Button } from '../../components/button.tsx';
import { saveFile } from '../../components/clipboard.ts';
import { DetailPane } from '../../components/detail-pane.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Page } from '../../frame/page.tsx';
import { useAction } from '../../frame/shortcuts.ts';
import { isLedgerDenial } from '../../format/budgets.ts';
import { timeOfDay } from '../../format/numbers.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import { screen, useScreen } from '../../stores/screen-store.ts';
import type { CallView } from './call-view.ts';
import { Composer } from './composer.tsx';
import { draft } from './draft-store.ts';
import { FirstStart } from './first-start.tsx';
import { GuidedProbe } from './guided-probe.tsx';
import { NoModels } from './no-models.tsx';
import { PresentedCall } from './presented-call.tsx';
import { RefusedCall } from './refused-call.tsx';
import { ReplyColumns } from './reply-columns.tsx';
import { useModelFacts, useSend, useShownCalls } from './use-live.ts';
import { VerdictStrip } from './verdict-strip.tsx';

export function LivePage() {
  const server = useEngine((state) => state.server);
  const hasCalls = useEngine((state) => state.recentCalls.length > 0);
  useShowFromAddress();
  if (server === null)
    return (
      <Page title="Live" note="looking for Ollama">
        {null}
      </Page>
    );
  // Once something was sent, a server that goes away does not take the page with it.
  if (server.state !== 'up' && !hasCalls) return <FirstStart server={server} />;
  if (server.state === 'up' && server.models.length === 0) return <NoModels server={server} />;
  return <Workbench />;
}

function Workbench() {
  const client = useClient();
  const { current, last, record, loadRecord } = useShownCalls();
  const facts = useModelFacts(current?.model ?? '');
  const sendRequest = useSend();
  const [paneOpen, setPaneOpen] = useState(false);
  const presenter = useScreen((state) => state.presenter);
  const running = current?.open === true;
  const currentId = current?.id ?? null;
  const refusal = current === null ? null : refusedOf(current);
  const [sent, setSent] = useState<{ id: CallId; request: CallRequest } | null>(null);

  const send = useCallback(
    (next: CallRequest) => {
      draft.set({ model: next.model });
      void sendRequest(next).then((id) => {
        if (id !== null) setSent({ id, request: next });
      });
    },
    [sendRequest],
  );
  const stop = useCallback(() => {
    if (currentId !== null) void client.request('call.cancel', { callId: currentId });
  }, [client, currentId]);
  const sendWith = async (numCtx: number): Promise<void> => {
    const again = sent?.id === currentId ? sent.request : (await loadRecord())?.request;
    if (again === undefined) return;
    draft.set({ numCtx: String(numCtx) });
    send({ ...again, numCtx, policy: again.policy === 'refuse' ? 'warn' : again.policy });
  };
  const continueFrom = async (): Promise<void> => {
    const messages = sent?.id === currentId ? sent.request.messages : (await loadRecord())?.request.messages;
    if (messages !== undefined && current !== null) draft.continueFrom(messages, current.answer.text);
  };
  const ended = current !== null && !current.open;
  const exportRecord = useCallback(() => {
    void loadRecord().then((loaded) => {
      if (loaded !== null) saveRecord(loaded);
    });
  }, [loadRecord]);
  useAction('export', ended ? exportRecord : null);
  const closePane = useCallback(() => {
    setPaneOpen(false);
  }, []);

  if (presenter && current !== null)
    return (
      <Page title="Live" note="">
        <PresentedCall call={current} />
      </Page>
    );
  return (
    <Page
      title="Live"
      note="what the model sees of what you send"
      actions={
        <>
          <Button
            look="flat"
            icon={MessageSquareQuote}
            onClick={() => {
              screen.open('explain');
            }}
          >
            Explain a reply
          </Button>
          <Button
            look="flat"
            icon={Download}
            disabled={!ended}
            onClick={exportRecord}
            title="The last call as JSON (e)"
          >
            Export
          </Button>
        </>
      }
    >
      <div
        className={`grid min-h-0 min-w-0 flex-1 grid-cols-[minmax(0,584fr)_minmax(0,656fr)] min-[1700px]:grid-cols-[720px_minmax(0,1fr)] `}
      >
        <Composer running={running} onSend={send} onStop={stop} />
        <section aria-label="Reply" className="flex min-h-0 min-w-0 flex-col gap-2 overflow-auto px-6 pt-3 pb-4">
          {current === null ? (
            <NothingYet />
          ) : (
            <>
              {refusal === null ? (
                <ReplyColumns current={current} last={last} facts={facts} />
              ) : (
                <RefusedCall
                  denial={refusal}
                  model={current.model}
                  refusedAtMs={Date.parse(current.startedAt) + (current.phases?.wholeMs ?? 0)}
                  simulated={current.simulated}
                />
              )}
              {refusal !== null && last !== null && refusedOf(last) === null ? (
                <ReplyColumns current={last} last={null} facts={facts} title="The call before" />
              ) : null}
              <VerdictStrip
                call={current}
                loadRecord={loadRecord}
                onSendWith={(numCtx) => void sendWith(numCtx)}
                onContinue={() => void continueFrom()}
                onOpenRaw={() => {
                  setPaneOpen(true);
                  void loadRecord();
                }}
              />
            </>
          )}
        </section>
      </div>
      {paneOpen && current !== null ? (
        <DetailPane
          title={current.model}
          note={timeOfDay(current.startedAt)}
          record={record}
          floating
          onClose={closePane}
        />
      ) : null}
    </Page>
  );
}

const refusedOf = ({ denial }: CallView): Denial | null => (denial !== null && isLedgerDenial(denial) ? denial : null);

function NothingYet() {
  return (
    <>
      <EmptyState
        title="Nothing was sent yet."
        text="Write on the left. The bar under the text shows, before you send, what would be lost. The reply grows here, and with its end comes the verdict."
      />
      <GuidedProbe />
    </>
  );
}

/** #live/call-id shows a stored call and puts its request into the composer. */
function useShowFromAddress(): void {
  const client = useClient();
  const id = useScreen((state) => (state.route.page === 'live' ? state.route.id : ''));
  const loaded = useEngine((state) => state.loaded);
  useEffect(() => {
    if (id === '' || !loaded) return;
    draft.show(id as CallId);
    let current = true;
    void client.request('call.get', { callId: id as CallId }).then((answer) => {
      if (!current) return;
      if (answer.ok) fillDraft(answer.value);
      else client.raiseNotice({ level: 'warning', text: answer.denial.message, next: answer.denial.next ?? null });
    });
    return () => {
      current = false;
    };
  }, [client, id, loaded]);
}

function fillDraft({ request }: CallRecord): void {
  const system = request.messages.find((message) => message.role === 'system')?.content ?? '';
  const said = request.messages.filter((message) => message.role !== 'system');
  draft.set({
    model: request.model,
    numCtx: request.numCtx === null ? '' : String(request.numCtx),
    numPredict: String(request.numPredict),
    think: request.think,
    temperature: String(request.temperature),
    seed: String(request.seed),
    policy: request.policy,
    payer: request.payer ?? null,
    system,
    turns: said.slice(0, -1),
    message: '',
    files: [],
    tab: 'message',
  });
  draft.setMessage(said.at(-1)?.content ?? '');
}

function saveRecord(record: CallRecord): void {
  saveFile(`spillway-call-${record.id}.json`, [JSON.stringify(record, null, 2)], 'application/json');
}
