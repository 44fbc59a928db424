/** Characters per token: what every estimate starts with, and what calls that were read whole have taught about each model. */
import { Download, Trash2 } from 'lucide-react';
import { useCallback, useEffect, useState } from 'react';
import type { RequestResult } from '../../../shared/contract/requests.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { SimulatedTag } from '../../components/chip.tsx';
import { saveFile } from '../../components/clipboard.ts';
import { Confirm } from '../../components/confirm.tsx';
import { ModelName } from '../../components/model-name.tsx';
import { count, counted } from '../../format/numbers.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import { learnedViews, modelGroups, startViews } from './calibration-rows.ts';
import type { Bar, LearnedView, StartView } from './calibration-rows.ts';

type Calibration = RequestResult<'calibration.list'>;
/** null model = all that was learned. */
interface Forgetting {
  readonly model: string | null;
  readonly simulated: boolean;
}

export function CalibrationPanel() {
  const client = useClient();
  const [list, refresh] = useCalibration();
  const [forgetting, setForgetting] = useState<Forgetting | null>(null);
  if (list === null) return <p className="text-ink-3">Reading what was learned</p>;
  const views = learnedViews(list.rows, list.startValues);
  const forget = (what: Forgetting): void => {
    void client.request('calibration.forget', { model: what.model, simulated: what.simulated }).then((answer) => {
      if (!answer.ok) {
        client.raiseNotice({ level: 'error', text: answer.denial.message, next: answer.denial.next ?? null });
        return;
      }
      client.raiseNotice({ level: 'info', text: `${counted(answer.value.models, 'model')} forgotten.`, next: null });
      refresh();
    });
  };
  return (
    <>
      <p className="max-w-[72ch]">
        A token is a piece of text, as the model counts it. Before a call its tokens are estimated from the characters.
        Every call that the server read whole teaches the true ratio of its model, and the band gets narrower: few
        samples, wide band.
      </p>
      <h3 className="font-semibold text-ink">Before anything is learned, estimated</h3>
      <Starts views={startViews(list.startValues, list.rows)} />
      <h3 className="font-semibold text-ink">Learned, counted by the server</h3>
      {views.length === 0 ? (
        <p className="max-w-[64ch]">
          Nothing is learned yet. Send a message of a few sentences in Live that fits its window; it is the first
          sample.
        </p>
      ) : (
        <Learned views={views} onForget={(model, simulated) => setForgetting({ model, simulated })} />
      )}
      {views.length === 0 ? null : (
        <div className="flex gap-2">
          <Button icon={Download} onClick={() => void exportRows(client)}>
            Export CSV, {counted(views.length, 'row')}
          </Button>
          <Button icon={Trash2} onClick={() => setForgetting({ model: null, simulated: false })}>
            Forget all
          </Button>
        </div>
      )}
      <Confirm
        open={forgetting !== null}
        title={forgetTitle(forgetting?.model ?? null)}
        text="Estimates start again with the table, with its wide bands. Calls and runs stay as they are."
        action="Forget"
        onConfirm={() => {
          if (forgetting !== null) forget(forgetting);
        }}
        onClose={() => setForgetting(null)}
      />
    </>
  );
}

const forgetTitle = (model: string | null): string =>
  model === null ? 'Forget all that was learned?' : `Forget what ${model} taught?`;

/** With the CSV profile of the settings. */
async function exportRows(client: ReturnType<typeof useClient>): Promise<void> {
  const settings = client.store.getState().settings;
  const profile =
    settings === null
      ? {}
      : { profile: settings.csvProfile, separator: settings.csvSeparator, decimalMark: settings.csvDecimalMark };
  const answer = await client.request('calibration.export', { format: 'csv', ...profile });
  if (!answer.ok) {
    client.raiseNotice({ level: 'error', text: answer.denial.message, next: answer.denial.next ?? null });
    return;
  }
  const { name, mime, rows, text } = answer.value;
  saveFile(name, [text], mime);
  client.raiseNotice({
    level: 'info',
    text: `${counted(rows, 'row')} saved as ${name}.`,
    next: 'It is in the folder for downloads.',
  });
}

function Starts({ views }: { views: readonly StartView[] }) {
  return (
    <table className="w-full text-table" aria-label="Start values">
      <thead>
        <tr className="border-b text-left text-ink-3 [&>th]:py-1 [&>th]:pr-3 [&>th]:font-normal">
          <th>kind of text</th>
          <th>sample</th>
          <th className="text-right">characters a token</th>
          <th>band</th>
          <th className="w-40" aria-hidden="true" />
        </tr>
      </thead>
      <tbody>
        {views.map((view) => (
          <tr key={view.script} className="border-b text-ink [&>td]:py-1 [&>td]:pr-3">
            <td className="whitespace-nowrap">{view.script}</td>
            <td className="w-full max-w-0 truncate text-ink-2" title={view.text}>
              {view.text}
            </td>
            <td className="text-right">{view.value}</td>
            <td className="whitespace-nowrap">{view.band}</td>
            <td>
              <BarView bar={view.bar} look="start" />
            </td>
          </tr>
        ))}
      </tbody>
      <caption className="lab caption-bottom pt-1 text-left">
        What the table starts with, for any model. The band spans vocabularies from small to large.
      </caption>
    </table>
  );
}

function Learned({
  views,
  onForget,
}: {
  views: readonly LearnedView[];
  onForget: (model: string, simulated: boolean) => void;
}) {
  return (
    <table className="w-full text-table" aria-label="Learned characters per token">
      <thead>
        <tr className="border-b text-left text-ink-3 [&>th]:py-1 [&>th]:pr-3 [&>th]:font-normal">
          <th>kind of text</th>
          <th className="text-right">samples</th>
          <th className="text-right">characters a token</th>
          <th>band</th>
          <th>start value</th>
          <th className="w-40" aria-hidden="true" />
          <th>
            <span className="sr-only">act</span>
          </th>
        </tr>
      </thead>
      {modelGroups(views).map((group) => (
        <ModelRows key={group[0].key} group={group} onForget={onForget} />
      ))}
      <caption className="lab caption-bottom pt-1 text-left">
        The median of the newest different samples, 20 at most. Grey: the table&apos;s band. Filled: the learned one.
      </caption>
    </table>
  );
}

function ModelRows({
  group,
  onForget,
}: {
  group: readonly [LearnedView, ...LearnedView[]];
  onForget: (model: string, simulated: boolean) => void;
}) {
  const [{ model, simulated }] = group;
  return (
    <tbody>
      <tr>
        <th colSpan={6} scope="rowgroup" className="w-full max-w-0 pt-2 text-left font-semibold text-ink">
          <span className="flex min-w-0 items-center gap-2">
            <ModelName name={model} />
            {simulated ? <SimulatedTag /> : null}
          </span>
        </th>
        <td className="w-8 pt-2">
          <IconButton
            icon={Trash2}
            label={`Forget what ${model} taught${simulated ? ', simulated' : ''}`}
            onClick={() => onForget(model, simulated)}
          />
        </td>
      </tr>
      {group.map((view) => (
        <tr key={view.key} className="border-b text-ink [&>td]:py-1 [&>td]:pr-3">
          <td className="whitespace-nowrap">{view.script}</td>
          <td className="text-right" title={`${count(view.samplesSeen)} seen; the newest different ones count`}>
            {count(view.samples)}
          </td>
          <td className="text-right font-semibold">{view.learned}</td>
          <td className="whitespace-nowrap">{view.band}</td>
          <td className="whitespace-nowrap text-ink-2">{view.start}</td>
          <td>
            <BarView bar={view.startBar} look="start" />
            <BarView bar={view.bar} look="learned" />
          </td>
        </tr>
      ))}
    </tbody>
  );
}

/** A band on a scale from 0; the mark is the likely value. The numbers stand beside it. */
function BarView({ bar, look }: { bar: Bar | null; look: 'start' | 'learned' }) {
  const percent = (part: number): string => `${(part * 100).toFixed(1)}%`;
  return (
    <span aria-hidden="true" className="relative my-0.5 block h-2 w-36 bg-sunk">
      {bar === null ? null : (
        <>
          <i
            className={`absolute inset-y-0 block ${look === 'start' ? 'bg-line' : 'c-context fill'}`}
            style={{ left: percent(bar.from), width: percent(bar.to - bar.from) }}
          />
          <i className="absolute inset-y-0 block w-0.5 bg-ink" style={{ left: percent(bar.at) }} />
        </>
      )}
    </span>
  );
}

/** Read again whenever a call ended: it may have taught something. */
function useCalibration(): readonly [Calibration | null, () => void] {
  const client = useClient();
  const loaded = useEngine((state) => state.loaded);
  const ended = useEngine((state) => state.callsEnded);
  const [asked, setAsked] = useState(0);
  const [list, setList] = useState<Calibration | null>(null);
  useEffect(() => {
    if (!loaded) return;
    let current = true;
    void client.request('calibration.list', {}).then((answer) => {
      if (current && answer.ok) setList(answer.value);
    });
    return () => {
      current = false;
    };
  }, [client, loaded, ended, asked]);
  const refresh = useCallback(() => setAsked((before) => before + 1), []);
  return [list, refresh];
}
