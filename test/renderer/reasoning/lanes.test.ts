import { describe, expect, test } from 'vitest';
import { burnCallOf, burnLaneOf, firstAnswerMs, looksLeaking } from '../../../renderer/pages/reasoning/burn-lanes.ts';
import {
  laneSetOf,
  marksText,
  outputRate,
  outputTokens,
  plannedCells,
  settingsThatAnswer,
} from '../../../renderer/pages/reasoning/lanes.ts';
import type { Lane } from '../../../renderer/pages/reasoning/lanes.ts';
import { presentedSentence } from '../../../renderer/pages/reasoning/presented-run.tsx';
import { twoSteps } from '../../../renderer/pages/reasoning/two-steps.tsx';
import {
  placesText,
  readingSeverity,
  readingWord,
  splitFigure,
  splitSourceText,
  variantLabelOf,
} from '../../../renderer/format/reasoning.ts';
import type { LiveCall } from '../../../renderer/stores/engine-state.ts';
import { makeOpenCall } from '../support/make.ts';
import { classicCells, makeCall, makeLaneCell, makeReading, makeReasoningRun, makeSplit } from './make-lanes.ts';

const draw = (lane: Lane, live: LiveCall | null = null, canThink: boolean | null = true) =>
  burnLaneOf({ lane, live, course: null, canThink, namesModel: false }, 61_000);

describe('lanes', () => {
  test('the classic three: figures, flags, and how many answered', () => {
    const { lanes } = laneSetOf(classicCells());
    expect(lanes.map((lane) => [lane.name, draw(lane).figure, draw(lane).notes, draw(lane).flagged])).toEqual([
      ['off / 2,000', '2,000 tokens, 54.2 s, no answer', ['The reasoning is in the answer, 36.9 a second.'], true],
      ['on / 8,000', '8,000 tokens, 216.8 s, no answer', ['All of it is thinking, 36.9 a second.'], true],
      ['on / 256', '256 tokens, 6.9 s, no answer', ['All of it is thinking, 37.1 a second.'], true],
    ]);
    expect(settingsThatAnswer(lanes)).toEqual({ answered: 0, of: 3 });
    expect(presentedSentence(lanes, makeReasoningRun('r'))).toBe(
      'on / 8,000: 8,000 tokens in 216.8 s, 100 % of them thinking, and no answer. The status was 200.',
    );
  });

  test('repeats become dots, obedience becomes a rate, warm-ups stay out', () => {
    const off = (repeat: number, obedience: 'obeyed' | 'not-obeyed' | 'suspect' | 'unknown', answered: boolean) =>
      makeLaneCell(
        `off ${repeat}`,
        { variant: 'off/2000', think: false, repeat, index: repeat },
        makeCall({
          reasoning: makeReading({ obedience, ...(answered ? { outcome: 'answered' as const, cause: null } : {}) }),
        }),
      );
    const waiting = makeLaneCell('off 4', { variant: 'off/2000', think: false, repeat: 4, index: 4 });
    const warmUp = makeLaneCell('w', { variant: 'warm-up', warmUp: true, index: 5 }, makeCall());
    const { lanes, warmUps } = laneSetOf([
      warmUp,
      waiting,
      off(0, 'obeyed', true),
      off(1, 'not-obeyed', false),
      off(2, 'suspect', true),
      off(3, 'unknown', false),
    ]);
    const [lane] = lanes;
    if (lane === undefined) throw new Error('no lane');
    expect([lanes.length, warmUps.length, marksText(lane), lane.obeyed]).toEqual([
      1,
      1,
      '○●○●·',
      'off obeyed 1 of 3, 1 in doubt',
    ]);
    expect([lane.answered, lane.ended, lane.shown.plan.key]).toEqual([2, 4, 'off 3']);
  });

  test('the picked run is shown, else the one at work, else the last that ended', () => {
    const cells = classicCells(3).filter(({ plan }) => plan.variant === 'on/256');
    const shown = (list: typeof cells, picks: string[] = []) =>
      laneSetOf(list, new Set(picks)).lanes[0]?.shown.plan.key;
    expect(shown(cells)).toBe('on/256|r2');
    expect(shown(cells, ['on/256|r0'])).toBe('on/256|r0');
    const running = cells.map((cell) =>
      cell.plan.repeat === 1 ? { ...cell, state: 'running' as const, call: null } : cell,
    );
    expect(shown(running)).toBe('on/256|r1');
  });

  test('a lane under way: tokens, pace, share, first answer, and when the cap is reached', () => {
    const [lane] = laneSetOf([{ ...makeLaneCell('a'), state: 'running' }]).lanes;
    if (lane === undefined) throw new Error('no lane');
    const live = liveCall({
      thinkingChunks: 400,
      answerChunks: 0,
      atMs: 10_000,
      series: [
        { atMs: 8_000, thinkingChunks: 320, answerChunks: 0 },
        { atMs: 10_000, thinkingChunks: 400, answerChunks: 0 },
      ],
    });
    expect(draw(lane, live)).toMatchObject({
      figure: '400 tokens, 40.0/s',
      notes: ['thinking 100 %, no answer so far', 'at this pace the cap is reached in 3 min'],
      state: 'running',
      flagged: false,
    });
    expect(draw(lane, liveCall({})).notes).toEqual(['waiting for the first token, 1 s (loading the model)']);
  });

  test('an opening tag in the answer looks like thinking until it closes', () => {
    expect(looksLeaking({ answerHead: '\n<think>\nOkay', answer: 'Okay' })).toBe(true);
    expect(looksLeaking({ answerHead: '< Reasoning >', answer: '' })).toBe(true);
    expect(looksLeaking({ answerHead: '<think>', answer: 'no</think>Yes.' })).toBe(false);
    expect(looksLeaking({ answerHead: 'Use <think> tags', answer: '' })).toBe(false);
  });

  test('two steps count together: tokens, time and the picture', () => {
    const call = makeCall({
      evalCount: 20,
      wallMs: 1_000,
      reasoning: makeReading({
        outcome: 'answered',
        cause: null,
        places: ['none'],
        answerCharacters: 4,
        split: makeSplit(0, 20),
      }),
      askedAfter: {
        callId: 'call-0',
        thinkingTokens: 256,
        promptEvalCount: 30,
        wallMs: 7_000,
      },
    });
    const [lane] = laneSetOf([makeLaneCell('two', { thinkingCap: { tokensMax: 256, then: 'ask-again' } }, call)]).lanes;
    if (lane === undefined) throw new Error('no lane');
    const drawn = draw(lane);
    expect([drawn.figure, drawn.flagged, drawn.endMs]).toEqual(['276 tokens, 8.0 s, answered', false, 8_000]);
    expect(drawn.points.at(-1)).toMatchObject({ atMs: 8_000, thinking: 256, answer: 20 });
    expect(outputTokens(call)).toBe(276);
  });

  test('a refused call says so, with the words of the server', () => {
    const call = makeCall({
      ending: 'refused',
      evalCount: null,
      wallMs: 12,
      error: '"gemma3:270m" does not support thinking',
      reasoning: makeReading({ outcome: 'refused', cause: 'capability', places: [], split: null }),
    });
    const [lane] = laneSetOf([makeLaneCell('no', {}, call)]).lanes;
    if (lane === undefined) throw new Error('no lane');
    expect(draw(lane, null, false)).toMatchObject({
      figure: 'refused after 0.0 s',
      notes: ['"gemma3:270m" does not support thinking'],
      cannotThink: true,
      points: [],
    });
  });

  test('the first answer token: by pace and split where it was not seen, and null without an answer', () => {
    const answered = makeCall({
      evalCount: 400,
      evalDurationMs: 10_000,
      reasoning: makeReading({ outcome: 'answered', answerCharacters: 20, split: makeSplit(360, 40) }),
    });
    expect(firstAnswerMs(answered, null)).toEqual({ atMs: 9_800, seen: false });
    expect(firstAnswerMs(makeCall(), null)).toBeNull();
    expect(outputRate(answered)).toBe(40);
  });

  test('without a split, what starved is thinking and the rest is answer', () => {
    expect(burnCallOf(makeCall({ reasoning: makeReading({ split: null }) }), null)).toMatchObject({
      thinking: 8_000,
      answer: 0,
    });
    const plain = makeReading({
      outcome: 'answered',
      places: ['none'],
      thinkingCharacters: 0,
      answerCharacters: 9,
      split: null,
    });
    expect(burnCallOf(makeCall({ reasoning: plain }), null)).toMatchObject({ thinking: 0, answer: 8_000 });
  });

  test('planned lanes carry the names the engine gives', () => {
    const { experiment } = makeReasoningRun('r');
    expect(laneSetOf(plannedCells(experiment)).lanes.map(({ name }) => name)).toEqual([
      'off / 2,000',
      'on / 8,000',
      'on / 256',
    ]);
  });

  test('two steps are offered where the cap starved it, never where they cannot help', () => {
    const run = makeReasoningRun('r');
    const [, on] = classicCells();
    if (on === undefined) throw new Error('no cell');
    expect(twoSteps(run, on, true)?.axes.variants).toEqual([
      { think: true, numPredict: 512, thinkingCap: { tokensMax: 256, then: 'ask-again' } },
    ]);
    expect(twoSteps(run, on, false)).toBeNull();
    const ended = makeLaneCell(
      'stop',
      {},
      makeCall({ reasoning: makeReading({ cause: 'stop', probableAnswer: 'Yes.' }) }),
    );
    expect(twoSteps(run, ended, true)).toBeNull();
  });
});

describe('words', () => {
  test('readings', () => {
    expect([
      readingWord(makeReading()),
      readingWord(makeReading({ places: ['answer-tagged'] })),
      readingWord(makeReading({ cause: 'window' })),
      readingWord(makeReading({ outcome: 'answered', cause: null, complete: true })),
      readingWord(makeReading({ outcome: 'answered', cause: null, places: ['hidden'] })),
      readingWord(makeReading({ outcome: 'answered', cause: null, places: [], suspected: 'answer-untagged' })),
      readingWord(makeReading({ outcome: 'answered', cause: null, places: ['none'], complete: false })),
    ]).toEqual([
      'starved by the cap',
      'leaked, then starved',
      'starved by the window',
      'answered after thinking',
      'answered, thinking hidden',
      'answered, thinking suspected',
      'answer cut',
    ]);
    expect(placesText(makeReading({ places: [], suspected: 'answer-untagged' }))).toBe('in the answer, suspected');
    expect(placesText(makeReading({ places: [] }))).toBe('not known');
  });

  test('stopped before an answer, not as asked, as asked', () => {
    expect([
      readingSeverity(makeReading()),
      readingSeverity(makeReading({ outcome: 'answered', obedience: 'not-obeyed' })),
      readingSeverity(makeReading({ outcome: 'answered' })),
    ]).toEqual(['stopped', 'happened', 'informed']);
  });

  test('an estimate is marked with its error, a count is not', () => {
    const estimated = makeReading({
      split: makeSplit(1_234, 0, { source: 'estimated', basis: 'chunks', errorPercent: 3 }),
    });
    expect([
      splitFigure(estimated, 'thinkingTokens'),
      splitFigure(estimated, 'answerTokens'),
      splitSourceText(estimated),
    ]).toEqual(['~1,234', '0', 'estimated ±3 %']);
    expect([splitFigure(makeReading(), 'thinkingTokens'), splitSourceText(makeReading())]).toEqual([
      '8,000',
      'counted',
    ]);
    expect(splitFigure(makeReading({ split: null }), 'thinkingTokens')).toBe('–');
  });

  test('names of variants', () => {
    expect(['off/2000', 'on/8000/t256+', 'high/512/t64', 'my own name', 'off/2000 (2)'].map(variantLabelOf)).toEqual([
      'off / 2,000',
      'on / 8,000, ask again at 256',
      'high / 512, stop at 64',
      'my own name',
      'off/2000 (2)',
    ]);
  });
});

function liveCall(patch: Partial<LiveCall>): LiveCall {
  return {
    call: makeOpenCall('live', { phase: 'loading' }),
    thinking: '',
    answer: '',
    clippedCharacters: 0,
    incomplete: false,
    thinkingChunks: 0,
    answerChunks: 0,
    atMs: null,
    phases: [],
    series: [],
    answerHead: '',
    seenAtMs: 60_000,
    closed: null,
    vanished: false,
    ...patch,
  };
}
