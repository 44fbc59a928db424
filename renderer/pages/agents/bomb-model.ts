/** The shapes in words, and their figures. Pure. */
import type { Bomb } from '../../../shared/contract/agents.ts';
import { aboutDuration, count } from '../../format/numbers.ts';

export type LabShape = Bomb['shape'];
export type BombSide = 'without' | 'with';

export interface ShapeWords {
  readonly shape: LabShape;
  readonly title: string;
  /** What happens when nothing counts. */
  readonly happens: string;
  readonly stops: string;
  /** For before the first run on this screen: waiting so that people can watch, at the simulator's usual pace, and work. */
  readonly watchMs: number;
  readonly workMs: number;
}

/** In the order in which they stand and run. */
export const labShapes: readonly ShapeWords[] = [
  {
    shape: 'loop',
    title: 'Loop',
    happens: 'A tool answers: ask me again. The model does, until its rounds are used up.',
    stops: 'The third time the same call gets the same result, the run ends.',
    watchMs: 3_700,
    workMs: 300,
  },
  {
    shape: 'fan-out',
    title: 'Fan-out',
    happens: 'One turn asks for hundreds of calls at once, and all of them run.',
    stops: 'Eight of a step run. The others are answered at once: not run.',
    watchMs: 150,
    workMs: 300,
  },
  {
    shape: 'delegation',
    title: 'Delegation',
    happens: 'Every agent starts more agents, and each of them gets all that it asks for.',
    stops: 'What an agent gets is taken from its parent, so the whole can never grow.',
    watchMs: 3_450,
    workMs: 300,
  },
  {
    shape: 'retry-storm',
    title: 'Retry storm',
    happens: 'A tool fails. Three layers each try again, and the tries multiply.',
    stops: 'One layer tries again, every try is paid, and a breaker opens.',
    watchMs: 800,
    workMs: 300,
  },
  {
    shape: 'output-inflation',
    title: 'Output inflation',
    happens: 'One huge page goes into the context, and is sent again with every turn after it.',
    stops: 'The first 16,000 bytes go in. The rest waits behind a handle.',
    watchMs: 350,
    workMs: 1_500,
  },
  {
    shape: 'side-effects',
    title: 'Side effects',
    happens: 'Jobs are started that go on, and cost, after the run is over.',
    stops: 'Each job holds a lease of its run. What is still open at the end is stopped.',
    watchMs: 350,
    workMs: 300,
  },
  {
    shape: 'link-farm',
    title: 'Link farm',
    happens: 'A site asks to be read to its last page: all shapes at once.',
    stops: 'Budgets are carved, a step runs eight calls, old text is noticed.',
    watchMs: 6_300,
    workMs: 2_000,
  },
];

/** Of each shape the one that changed last. */
export function newestBombs(bombs: Iterable<Bomb>): ReadonlyMap<LabShape, Bomb> {
  const newest = new Map<LabShape, Bomb>();
  for (const bomb of bombs) newest.set(bomb.shape, bomb);
  return newest;
}

/** One scale for both sides, in steps, so that it rarely moves while the figures grow. */
export function scaleMax({ without, with: governed }: Pick<Bomb, BombSide>): number {
  const most = Math.max(1, without.count, governed.count);
  const power = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 5, 10].find((factor) => factor * power >= most) ?? 10) * power;
}

/** What a side says: the big figure with its unit, and what else was counted. */
export interface SideFigures {
  readonly figure: string;
  readonly unit: string;
  readonly second: string | null;
}

/** Model and tool calls are one pair, `41 / 40`; anything else that was counted stands beside it in small. */
export function figuresOf(bomb: Bomb, side: BombSide): SideFigures {
  const { count: first, secondCount } = bomb[side];
  const { unit, secondUnit } = bomb;
  if (secondCount === null || secondUnit === null)
    return { figure: number(first), unit: unitOf(first, unit), second: null };
  if (isPair(bomb))
    return { figure: `${number(secondCount)} / ${number(first)}`, unit: 'model / tool calls', second: null };
  return {
    figure: number(first),
    unit: unitOf(first, unit),
    second: `${number(secondCount)} ${unitOf(secondCount, secondUnit)}`,
  };
}

/** `1 tool call`, `2 tool calls that ran` */
function unitOf(value: number, unit: string): string {
  return value === 1 ? unit.replace(/\b(agent|attempt|byte|call|delegation|job|token)s\b/, '$1') : unit;
}

const isPair = ({ unit, secondUnit }: Bomb): boolean => unit === 'tool calls' && secondUnit === 'model calls';

/** The headline of a shape that was run: `1,976 tool calls become 58, 34 times fewer.` null while it is not done. */
export function becameWord(bomb: Bomb): string | null {
  if (bomb.state !== 'done') return null;
  const [from, to] = [bomb.without.count, bomb.with.count];
  const times = to > 0 && from > to ? from / to : null;
  const fewer = times === null || times < 1.5 ? '' : `, ${times < 10 ? times.toFixed(1) : count(times)} times fewer`;
  if (!isPair(bomb)) return `${number(from)} ${bomb.unit} become ${number(to)}${fewer}.`;
  const [second, secondTo] = [bomb.without.secondCount ?? 0, bomb.with.secondCount ?? 0];
  return `${number(second)} model and ${number(from)} tool calls become ${number(secondTo)} and ${number(to)}.`;
}

/** How long both sides will take; they run at once. timeScale: the simulator's, 1 = its usual pace. */
export const expectedMs = ({ watchMs, workMs }: ShapeWords, timeScale: number): number => workMs + watchMs * timeScale;

/** What a press will do, before it does. */
export function costWord(tookMs: number): string {
  return `runs twice · scripted model · virtual time · ${aboutDuration(tookMs)} · no tokens of a real model`;
}

const number = (value: number): string => (Number.isInteger(value) ? count(value) : value.toFixed(1));
