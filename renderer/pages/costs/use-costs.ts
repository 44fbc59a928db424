/** Asks the engine whenever the calculator reads; the last answer stays until the next one is there. */
import { useEffect, useState } from 'react';
import type { PriceList, PriceSetName, ResendSeries } from '../../../shared/contract/costs.ts';
import type { Denial, Result } from '../../../shared/contract/denials.ts';
import type { EngineClient } from '../../stores/engine-store.ts';
import { useClient, useEngine } from '../../stores/engine-context.ts';
import type { CalculatorAsk, CalculatorLine } from './calculator.ts';

export interface Figures {
  readonly ask: CalculatorAsk;
  readonly priceSet: PriceSetName;
  readonly series: ResendSeries;
  readonly lines: readonly CalculatorLine[];
}

export interface Costs {
  readonly figures: Figures | null;
  readonly denial: Denial | null;
}

export function useCosts(ask: CalculatorAsk | null, priceSet: PriceSetName | null): Costs {
  const client = useClient();
  const loaded = useEngine((state) => state.loaded);
  const [costs, setCosts] = useState<Costs>({ figures: null, denial: null });
  const key = ask === null || priceSet === null ? null : JSON.stringify([ask, priceSet]);
  useEffect(() => {
    if (key === null || !loaded) return;
    const [asked, prices] = JSON.parse(key) as [CalculatorAsk, PriceSetName];
    let current = true;
    void askAll(client, asked, prices).then((answer) => {
      if (!current) return;
      setCosts((before) =>
        answer.ok ? { figures: answer.value, denial: null } : { figures: before.figures, denial: answer.denial },
      );
    });
    return () => {
      current = false;
    };
  }, [client, key, loaded]);
  return costs;
}

async function askAll(client: EngineClient, ask: CalculatorAsk, priceSet: PriceSetName): Promise<Result<Figures>> {
  const { turns, sizes, base, answer, perDay, days } = ask;
  const series = await client.request('cost.resend', {
    question: { turns, basePromptTokens: base, toolOutputTokens: [...sizes] },
    priceSet,
  });
  if (!series.ok) return series;
  const lines: CalculatorLine[] = [];
  for (const size of sizes) {
    const conversation = { turns, baseTokens: base, addedTokensPerTurn: size, outputTokensPerTurn: answer };
    const one = await client.request('cost.conversation', { conversation, priceSet });
    if (!one.ok) return one;
    const month = await client.request('cost.month', {
      conversation,
      month: { conversationsPerDay: perDay, days },
      priceSet,
    });
    if (!month.ok) return month;
    lines.push({ size, conversation: one.value, month: month.value });
  }
  return { ok: true, value: { ask, priceSet, series: series.value, lines } };
}

/** null until it was read. `setPrices` takes the list that a change answers. */
export function usePrices(): readonly [PriceList | null, (prices: PriceList) => void] {
  const client = useClient();
  const loaded = useEngine((state) => state.loaded);
  const [prices, setPrices] = useState<PriceList | null>(null);
  useEffect(() => {
    if (!loaded) return;
    let current = true;
    void client.request('prices.list', {}).then((answer) => {
      if (current && answer.ok) setPrices(answer.value);
    });
    return () => {
      current = false;
    };
  }, [client, loaded]);
  return [prices, setPrices];
}

export const priceKey = ({ name, date }: PriceSetName): string => `${name}\n${date ?? ''}`;

/** `Claude Sonnet 5.5, 2026-11-14`; local prices have no day. */
export const priceWord = ({ name, date }: PriceSetName): string => (date === null ? name : `${name}, ${date}`);
