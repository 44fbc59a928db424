/** Costs: what re-sending a history costs, what the calls here would have cost elsewhere, and the prices both rest on. */
import { useMemo } from 'react';
import type { ReactNode } from 'react';
import { create } from 'zustand';
import type { PriceList, PriceSetName } from '../../../shared/contract/costs.ts';
import { ResendChart } from '../../charts/resend-chart.tsx';
import { resendModel } from '../../charts/resend-model.ts';
import { Badge } from '../../components/badge.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Page } from '../../frame/page.tsx';
import { useEngine } from '../../stores/engine-context.ts';
import { CallsAsIf } from './calls-as-if.tsx';
import { calculatorPresets, firstCalculator, headline, readCalculator } from './calculator.ts';
import type { CalculatorText } from './calculator.ts';
import { FiguresTable } from './figures-table.tsx';
import { PriceSets } from './price-sets.tsx';
import { Sentence } from './sentence.tsx';
import { priceKey, useCosts, usePrices } from './use-costs.ts';
import type { Figures } from './use-costs.ts';

/** What was typed stays while other pages are looked at. */
export const useCalculator = create<CalculatorText>(() => firstCalculator);

export function CostsPage() {
  const [prices, setPrices] = usePrices();
  return (
    <Page title="Costs" note="what re-sending costs, and what calls would have cost elsewhere">
      <div className="@container min-w-0 flex-1 overflow-auto">
        {prices === null ? (
          <EmptyState title="Reading the prices" />
        ) : (
          <>
            <Calculator prices={prices} />
            <div className="grid gap-x-10 px-6 pb-8 @min-[1180px]:grid-cols-2">
              <Section title="What the calls here would have cost">
                <CallsAsIf prices={prices} />
              </Section>
              <Section title="Prices">
                <PriceSets prices={prices} onPrices={setPrices} />
              </Section>
            </div>
          </>
        )}
      </div>
    </Page>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-3 py-5">
      <h2 className="lead">{title}</h2>
      {children}
    </section>
  );
}

function Calculator({ prices }: { prices: PriceList }) {
  const text = useCalculator();
  const asIf = useEngine((state) => state.settings?.asIfPriceSet ?? null);
  const priceSet = pricesFor(prices, text.priceSet, asIf);
  const reading = useMemo(() => readCalculator(text), [text]);
  const { figures, denial } = useCosts(reading.ok ? reading.ask : null, priceSet);
  const problem = reading.ok ? null : (Object.values(reading.problems)[0] ?? null);
  return (
    <section aria-label="Calculator" className="border-b px-6 pt-2.5 pb-5">
      <div className="flex items-center gap-8 max-[1100px]:gap-4">
        <div className="min-w-0 flex-1">
          <Sentence
            text={text}
            problems={reading.ok ? noProblems : reading.problems}
            prices={prices}
            priceSet={priceSet}
            onEdit={(patch) => useCalculator.setState(patch)}
          />
          <Presets />
          {problem === null && denial === null ? null : (
            <p role="alert" className="mt-1 wrap-anywhere text-ink">
              {problem ?? `${denial?.message ?? ''} ${denial?.next ?? ''}`}
            </p>
          )}
        </div>
        {figures === null ? null : <Headline figures={figures} />}
      </div>
      {figures === null ? null : <Picture figures={figures} />}
    </section>
  );
}

const noProblems = {};

/** The typed one, else the one of the settings, else the first that is not local. */
export function pricesFor(
  prices: PriceList,
  typed: PriceSetName | null,
  asIf: PriceSetName | null,
): PriceSetName | null {
  const has = (name: PriceSetName | null): boolean =>
    name !== null && prices.some(({ set }) => priceKey(set) === priceKey(name));
  if (has(typed)) return typed;
  if (has(asIf)) return asIf;
  const first = (prices[1] ?? prices[0])?.set;
  return first === undefined ? null : { name: first.name, date: first.date };
}

function Presets() {
  return (
    <p className="mt-0.5 flex flex-wrap items-baseline gap-x-3 text-table text-ink-3">
      <span>presets:</span>
      {calculatorPresets.map(({ name, set }) => (
        <button
          key={name}
          type="button"
          className="rounded-sm px-1 text-ink underline decoration-dotted underline-offset-3 hover:bg-pick"
          onClick={() => useCalculator.setState(set)}
        >
          {name}
        </button>
      ))}
    </p>
  );
}

function Headline({ figures }: { figures: Figures }) {
  const words = headline(figures.lines, figures.ask);
  if (words === null) return null;
  return (
    <p className="flex flex-none items-center gap-3 text-ink">
      <Badge meaning="budget" severity="happened" />
      <span className="headline">{words}</span>
      <span className="leading-[18px]">
        {figures.lines.length > 1 ? 'the tokens of' : 'is each token'}
        <br />
        {figures.lines.length > 1 ? 'the smaller size' : 'sent, on average'}
      </span>
    </p>
  );
}

function Picture({ figures }: { figures: Figures }) {
  const model = useMemo(() => resendModel(figures.series, figures.ask.base), [figures]);
  return (
    <div className="mt-3 grid items-start gap-x-8 gap-y-4 @min-[860px]:grid-cols-[minmax(0,1fr)_minmax(300px,380px)]">
      <div className="min-w-0">
        <div className="h-80">
          <ResendChart model={model} />
        </div>
        <p className="lab">
          Solid: every turn sends the whole history again. Dashed: each token sent once. Input tokens only.
        </p>
      </div>
      <FiguresTable figures={figures} />
    </div>
  );
}
