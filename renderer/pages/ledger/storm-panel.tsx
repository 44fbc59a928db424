/** The same calls at once, twice: checked after the reply, and reserved first. A section of the width it is given. */
import { Square, Zap } from 'lucide-react';
import { useEffect, useState } from 'react';
import { create } from 'zustand';
import type { Denial } from '../../../shared/contract/denials.ts';
import type { Storm } from '../../../shared/contract/ledger.ts';
import { Button } from '../../components/button.tsx';
import { SimulatedTag } from '../../components/chip.tsx';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import { costWord, firstStorm, guessEach, readStorm, textOfAsk } from './storm-model.ts';
import type { StormText } from './storm-model.ts';
import { StormSentence } from './storm-sentence.tsx';
import { takeStorm } from './storm-store.ts';
import { StormHalf } from './storm-side.tsx';

/** What stands in the sentence; it stays while other pages are open. */
export const useStormText = create<{ readonly text: StormText; readonly isTyped: boolean }>(() => ({
  text: firstStorm,
  isTyped: false,
}));

export function StormPanel() {
  const client = useClient();
  const storm = useStorm();
  const typed = useStormText();
  const [refusal, setRefusal] = useState<Denial | null>(null);
  const [asking, setAsking] = useState(false);
  const running = storm?.state === 'running';
  // After a reload the sentence says what the figures below it are of.
  const text = !typed.isTyped && storm !== null ? textOfAsk(storm.ask) : typed.text;
  const read = readStorm(text);
  const ask = 'ask' in read ? read.ask : null;
  const isOfThis = storm !== null && (running || (ask !== null && JSON.stringify(storm.ask) === JSON.stringify(ask)));
  const shownAsk = isOfThis ? storm.ask : (ask ?? storm?.ask ?? null);
  const run = (): void => {
    if (ask === null) return;
    setAsking(true);
    setRefusal(null);
    void client.request('storm.start', ask).then((answer) => {
      setAsking(false);
      if (answer.ok) takeStorm(client, answer.value);
      else setRefusal(answer.denial);
    });
  };
  const stop = (): void => {
    if (storm === null) return;
    void client.request('storm.cancel', { stormId: storm.id }).then((answer) => {
      if (!answer.ok) setRefusal(answer.denial);
    });
  };
  return (
    <section aria-label="Storm" className="flex min-w-0 flex-col gap-1 px-6 pt-2 pb-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="lead flex-none">Storm</h2>
        <SimulatedTag />
        <StormSentence
          text={text}
          problems={'problems' in read ? read.problems : {}}
          disabled={running}
          onText={(next) => {
            setRefusal(null);
            useStormText.setState({ text: next, isTyped: true });
          }}
        />
      </div>
      <div className="flex min-h-7 items-center gap-3">
        <Said
          refusal={refusal}
          storm={isOfThis ? storm : null}
          problem={'problems' in read ? Object.values(read.problems)[0] : undefined}
        />
        <span className="lab flex-none">{ask === null || running ? '' : costWord(ask, storm)}</span>
        {running ? (
          <Button look="primary" icon={Square} onClick={stop}>
            Stop
          </Button>
        ) : (
          <Button icon={Zap} disabled={ask === null || asking} onClick={run}>
            Run the storm
          </Button>
        )}
      </div>
      {shownAsk === null ? null : (
        <div className="grid grid-cols-2 gap-x-12 max-[1100px]:gap-x-6">
          {(['checkAfter', 'reserveFirst'] as const).map((which) => (
            <StormHalf
              key={which}
              which={which}
              ask={shownAsk}
              reservedTokensEach={isOfThis ? storm.reservedTokensEach : guessEach(shownAsk)}
              storm={isOfThis ? storm : null}
            />
          ))}
        </div>
      )}
    </section>
  );
}

/** One line that is always there, so that nothing below it moves when something is said. */
function Said({
  refusal,
  storm,
  problem,
}: {
  refusal: Denial | null;
  storm: Storm | null;
  problem: string | undefined;
}) {
  if (refusal !== null || problem !== undefined)
    return (
      <p role="alert" className="min-w-0 flex-1 text-ink wrap-anywhere">
        {problem ?? [refusal?.message, refusal?.next].filter(Boolean).join(' ')}
      </p>
    );
  const text =
    storm === null || storm.state === 'done'
      ? 'The same calls twice, against two ledgers in memory: your budgets are not touched.'
      : storm.state === 'running'
        ? 'Running: checked after the reply, and reserved first.'
        : storm.state === 'cancelled'
          ? 'Stopped. The figures are those of the calls that were made.'
          : (storm.problem ?? 'It failed. Run it again.');
  return <p className="lab min-w-0 flex-1">{text}</p>;
}

/** The one that runs or ran last; asked for once, because it may have run before this screen was open. */
function useStorm(): Storm | null {
  const client = useClient();
  const storm = useEngine((state) => state.storm);
  const loaded = useEngine((state) => state.loaded);
  useEffect(() => {
    if (!loaded) return;
    void client.request('storm.get', {}).then((answer) => {
      if (answer.ok && answer.value.storm !== null) takeStorm(client, answer.value.storm);
    });
  }, [client, loaded]);
  return storm;
}
