/** What the script table says of one short text for each script, before a model has taught anything. */
import type { StartValue } from '../../contract/estimates.ts';
import { createTextCounter } from './estimator.ts';
import type { Script } from './scripts.ts';

/** Characters (UTF-16 units) per token of each sample, with the band of the table. */
export function startValues(): StartValue[] {
  return samples.map(([script, text]) => {
    const counter = createTextCounter();
    counter.push(text);
    const { low, likely, high, characters } = counter.count();
    return {
      script,
      text,
      median: round(characters / likely),
      low: round(characters / high),
      high: round(characters / low),
    };
  });
}

/** English, code, Chinese and Japanese, emoji first: the four that differ most. Each is counted as the script it stands for. */
const samples: readonly (readonly [Script, string])[] = [
  ['latin', 'The harbour master writes down every ship that comes in, and its cargo, before the gates are closed.'],
  ['code', 'for (let i = 0; i < rows.length; i += 1) { total += rows[i].price * (1 - rows[i].rebate); }'],
  ['cjk', '港口管理员在关闸之前记录每一艘入港的船和它的货物。門が閉まる前に、すべての船が記録されます。'],
  ['emoji', '🚢⚓🌊📦🕯️👩‍✈️🚢🌧️📘✅🚦🛟'],
  ['hangul', '항만장은 문이 닫히기 전에 들어오는 모든 배와 화물을 기록한다.'],
  ['alphabet', 'Начальник порта записывает каждое судно и его груз, прежде чем ворота закроют.'],
  ['abugida', 'बंदरगाह का अधिकारी द्वार बंद होने से पहले हर जहाज़ और उसका माल लिखता है।'],
];

const round = (value: number): number => Math.round(value * 100) / 100;
