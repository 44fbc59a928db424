/** Lines of a log that several calls share: each goes to its own call or to none. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type LogLine, type LogMatcher, createLogMatcher } from '../../../shared/engine/truncation/log-match.ts';
import { readRecord } from '../../../shared/engine/truncation/log-record.ts';
import { type RecordedCall, recordedCalls } from './recorded-logs.ts';

describe('what a line says', () => {
  const cut =
    'time=2026-11-29T20:22:01.906Z level=WARN source=llama_server.go:317 msg="truncating input prompt" limit=259 prompt=1421 keep=5 new=259';
  const started = 'slot   operator(): id  1 | task 12 | new prompt, n_ctx_slot = 512, n_keep = 4, task.n_tokens = 259';
  test.each([
    [cut, { kind: 'cut', prompt: 1421, kept: 259 }],
    [started, { kind: 'new', slot: '1', task: '12', tokens: 259, window: 512 }],
    [
      '[GIN] 2026/11/29 - 19:45:36 | 200 |          1m5s |       127.0.0.1 | POST     "/api/chat"',
      { kind: 'access', path: '/api/chat', status: 200, latencyMs: [65_000, 66_000] },
    ],
    [
      '[GIN] 2026/11/29 - 19:45:36 | 404 |     294.928µs |       127.0.0.1 | POST     "/api/chat"',
      { kind: 'access', path: '/api/chat', status: 404, latencyMs: [0.294928, 0.294928] },
    ],
    [
      'srv    send_error: task id = 76, error: request (1435 tokens) exceeds the available context size (512 tokens), try increasing it',
      { kind: 'overflow', task: '76', needs: 1435, has: 512 },
    ],
    ['msg="truncating native chat messages which exceed context length" truncated=9', { kind: 'dropped', messages: 9 }],
  ])('%s', (line, record) => {
    expect(readRecord(line)).toEqual(record);
  });

  test('looks at the server are no calls', () => {
    for (const request of ['GET      "/api/ps"', 'GET      "/api/chat"', 'POST     "/api/show"'])
      expect(readRecord(`[GIN] 2026/11/29 - 19:45:36 | 200 |  1.2s |  127.0.0.1 | ${request}`)).toEqual({
        kind: 'other',
      });
  });

  test.each([
    ['a half line before a whole one', `${cut.slice(0, 120)}${cut}`],
    ['two lines of slots in one', `${started.slice(0, 40)}${started}`],
    ['a half line before one of a slot', `${cut.slice(0, 120)}${started}`],
    ['a number that ends early', started.replace('task.n_tokens = 259', 'task.n_tokens = ')],
    ['a very long one', `${' '.repeat(2_000)}${started}`],
  ])('%s says nothing', (_, line) => {
    expect(readRecord(line)).toEqual({ kind: 'other' });
  });

  test('a recorded line that is cut anywhere says nothing, or what the whole one says of its kind', () => {
    for (const { lines } of recordedCalls.filter((_, index) => index % 12 === 0))
      for (const line of lines) {
        const whole = readRecord(line);
        for (let length = 0; length < line.length; length += 1) {
          const half = readRecord(line.slice(0, length));
          expect(half.kind === 'other' || half.kind === whole.kind).toBe(true);
        }
      }
  });
});

test('a recorded call that is alone gets every line that is about a call', () => {
  expect(recordedCalls.length).toBeGreaterThan(60);
  for (const call of recordedCalls) {
    const replay = replayed([{ call, startMs: 0, steps: [] }], {});
    expect(replay.wrong, call.name).toEqual([]);
    expect(replay.unmatched.length, call.name).toBe(0);
    expect(replay.owned.get('0'), call.name).toEqual(replay.linesOf('0').filter((line) => isAboutCall(line.text)));
  }
});

describe('four calls at once', () => {
  /** Of a few recordings, so that equal calls meet each other. */
  const four = fc.array(fc.constantFrom(...recordedCalls), { minLength: 1, maxLength: 4 }).chain((few) =>
    fc.record({
      calls: fc.array(
        fc.record({
          call: fc.constantFrom(...few),
          startMs: fc.integer({ min: 0, max: 400 }),
          steps: fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 20, maxLength: 20 }),
        }),
        { minLength: 4, maxLength: 4 },
      ),
      /** One runner with four slots, or four runners that number theirs alike. */
      ownSlots: fc.boolean(),
    }),
  );

  test('every line goes to its call or to nobody', () => {
    fc.assert(
      fc.property(four, ({ calls, ownSlots }) => {
        expect(replayed(calls, { ownSlots }).wrong).toEqual([]);
      }),
      { numRuns: 2_000, seed: 1837 },
    );
  });

  test('lines of calls with prompts of their own find them', () => {
    const different = fc
      .uniqueArray(fc.constantFrom(...recordedCalls), {
        selector: ({ ended }) => ended.promptEvalCount ?? ended.needs,
        minLength: 4,
        maxLength: 4,
      })
      .chain((calls) =>
        fc.tuple(
          ...calls.map((call) =>
            fc.record({
              call: fc.constant(call),
              startMs: fc.nat(400),
              steps: fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 20, maxLength: 20 }),
            }),
          ),
        ),
      );
    let mine = 0;
    let all = 0;
    fc.assert(
      fc.property(different, (calls) => {
        const replay = replayed(calls, { ownSlots: true });
        expect(replay.wrong).toEqual([]);
        all += replay.lines.filter((line) => isAboutCall(line.text)).length;
        mine += [...replay.owned.values()].flat().length;
      }),
      { numRuns: 300, seed: 1837 },
    );
    expect(mine / all).toBeGreaterThan(0.9);
  });

  test('also where a rotation lost a piece of the log in mid-line', () => {
    const torn = fc.record({
      four,
      from: fc.double({ min: 0, max: 1, noNaN: true }),
      share: fc.double({ min: 0, max: 0.3, noNaN: true }),
    });
    fc.assert(
      fc.property(torn, ({ four: { calls, ownSlots }, from, share }) => {
        expect(replayed(calls, { ownSlots, lost: [from, from + share] }).wrong).toEqual([]);
      }),
      { numRuns: 2_000, seed: 1837 },
    );
  });

  test('equal calls at once share lines that prove nothing, and none gets those of another', () => {
    const cut = find('real/rendered-chat-long-one-message-512.json');
    const equal = [0, 3, 5, 9].map((startMs) => ({ call: cut, startMs, steps: [10, 20, 5, 10, 20, 30, 10] }));
    const replay = replayed(equal, { ownSlots: true });
    expect(replay.wrong).toEqual([]);
    expect(replay.owned.get('1')).toEqual([]);
    expect(replay.findings.get('1')).toMatchObject({ lines: [], isShared: true });
  });

  test('lines that never came do not make those of an equal call its own', () => {
    const { matcher, line, now } = bench();
    const cut = find('real/rendered-chat-long-one-message-512.json');
    matcher.sent({ id: 'a', sentAt: 0, ...cut.sent });
    matcher.sent({ id: 'b', sentAt: 0, ...cut.sent });
    for (const text of cut.lines.slice(0, 4)) line(text);
    matcher.ended('a', { ...cut.ended, endedAt: 1e9, endedMs: now() });
    expect(matcher.take('a', now() + 280)).toMatchObject({ lines: [], isShared: true });
    // It was told to have none, and yet they may have been its own.
    matcher.ended('b', { ...cut.ended, endedAt: 1e9, endedMs: now() + 300 });
    expect(matcher.take('b', now() + 580)).toMatchObject({ lines: [], isShared: true });
  });

  test('what goes on after a loss belongs to no prompt from before it, nor to one that began meanwhile', () => {
    const short = find('real/rendered-edge-1720.json');
    const [began = '', ...rest] = short.lines;
    const before = bench();
    before.matcher.sent({ id: 'a', sentAt: 0, ...short.sent });
    before.line(began);
    before.matcher.gap();
    for (const text of rest) before.line(text);
    before.matcher.ended('a', { ...short.ended, endedAt: 1e9, endedMs: before.now() });
    before.matcher.take('a', before.now() + 200);
    expect(before.matcher.owned('a').map(({ text }) => readRecord(text).kind)).toEqual(['access']);

    // A call that was told its lines before the loss gets none after it.
    const told = bench();
    told.matcher.sent({ id: 'a', sentAt: 0, ...short.sent });
    told.line(began);
    told.matcher.ended('a', { ...short.ended, endedAt: 1e9, endedMs: told.now() });
    expect(told.matcher.take('a', told.now() + 280).lines).toEqual([began]);
    told.matcher.gap();
    for (const text of rest) told.line(text);
    expect(told.matcher.owned('a').map(({ text }) => readRecord(text).kind)).not.toContain('release');

    // Another runner numbers alike: this release is that of a prompt whose beginning was lost, and its total fits by chance.
    const later = bench();
    later.matcher.sent({ id: 'a', sentAt: 0, ...short.sent });
    later.matcher.gap();
    later.matcher.sent({ id: 'b', sentAt: later.at(), ...short.sent });
    later.line(began);
    later.line(rest.find((text) => text.includes('release')) ?? '');
    const earlier = { ...short.ended, promptEvalCount: 480, evalCount: 9 };
    later.matcher.ended('a', { ...earlier, endedAt: 1e9, endedMs: later.now() });
    later.matcher.ended('b', { ...short.ended, endedAt: 1e9, endedMs: later.now() });
    expect(later.matcher.take('b', later.now() + 280).lines).toEqual([]);
  });

  test('different ones get all of theirs', () => {
    const names = [
      'real/rendered-chat-long-one-message-512.json',
      'real/rendered-chat-long-one-message-default.json',
      'real/rendered-edge-1720.json',
      'real/native-chat-long-one-message-512.json',
    ];
    const calls = names.map((name, index) => ({
      call: find(name),
      startMs: index * 7,
      steps: [10, 20, 5, 10, 20, 30],
    }));
    const replay = replayed(calls, { ownSlots: true });
    expect(replay.wrong).toEqual([]);
    for (const [index] of names.entries())
      expect(replay.findings.get(String(index))?.lines.join('\n')).toContain('new prompt');
    expect(replay.findings.get('0')?.lines.join('\n')).toContain('prompt=1421 keep=5 new=259');
    expect(replay.findings.get('1')?.lines.join('\n')).toContain('prompt=6869 keep=5 new=2051');
  });
});

describe('silence', () => {
  const short = find('real/rendered-edge-1720.json');

  test('about a cut proves nothing where lines were lost', () => {
    const { matcher, line, now } = bench();
    matcher.sent({ id: 'a', sentAt: 0, ...short.sent });
    matcher.gap();
    for (const text of short.lines) line(text);
    matcher.ended('a', { ...short.ended, endedAt: 1e9, endedMs: now() });
    expect(matcher.take('a', now() + 200).lines).toEqual([]);
  });

  test('about a cut proves nothing where a cut to the same size was no call’s for sure', () => {
    const { matcher, line, now } = bench();
    matcher.sent({ id: 'a', sentAt: 0, ...short.sent });
    line('level=WARN msg="truncating input prompt" limit=487 prompt=99000 keep=5 new=487');
    for (const text of short.lines) line(text);
    matcher.ended('a', { ...short.ended, endedAt: 1e9, endedMs: now() });
    expect(matcher.take('a', now() + 200).lines).toEqual([]);
  });

  test('lines from before a call was sent are not its own', () => {
    const { matcher, line, now, at } = bench();
    for (const text of short.lines) line(text);
    matcher.sent({ id: 'a', sentAt: at(), ...short.sent });
    matcher.ended('a', { ...short.ended, endedAt: at(), endedMs: now() });
    expect(matcher.take('a', now() + 280)).toMatchObject({ lines: [], isShared: false });
    expect(matcher.unmatched(now()).count).toBe(short.lines.filter(isAboutCall).length);
  });

  test('a stranger’s dropped messages are not put on a call beside them', () => {
    const history = find('real/rendered-history-450.json');
    const { matcher, line, now } = bench();
    matcher.sent({ id: 'a', sentAt: 0, ...history.sent });
    line('level=DEBUG msg="truncating input messages which exceed context length" truncated=3');
    for (const text of history.lines) line(text);
    matcher.ended('a', { ...history.ended, endedAt: 1e9, endedMs: now() });
    const finding = matcher.take('a', now() + 200);
    expect(finding.lines.join('\n')).not.toContain('truncated=3');
    expect(finding.debug).toBe(false);
  });
});

test('memory is bounded: lines of strangers and calls without an end do not pile up', () => {
  const { matcher, line, now } = bench();
  for (let call = 0; call < 3_000; call += 1) {
    matcher.sent({ id: `c${call}`, sentAt: call * 100, ...find('real/rendered-edge-1720.json').sent });
    line(`slot   operator(): id  0 | task ${call} | new prompt, n_ctx_slot = 512, n_keep = 4, task.n_tokens = ${call}`);
    line('[GIN] 2026/11/29 - 19:45:36 | 200 |          1.5s |       127.0.0.1 | POST     "/api/chat"');
  }
  expect(matcher.unmatched(now())).toMatchObject({ count: expect.any(Number) as number });
  expect(matcher.unmatched(now()).count).toBeGreaterThan(1_000);
  expect(matcher.unmatched(now()).last.length).toBeLessThanOrEqual(20);
});

function find(name: string): RecordedCall {
  const found = recordedCalls.find((call) => call.name === name);
  if (found === undefined) throw new Error(`no recording ${name}`);
  return found;
}

const isAboutCall = (text: string): boolean => readRecord(text).kind !== 'other';

function bench(): { matcher: LogMatcher; line(text: string): void; now(): number; at(): number } {
  const matcher = createLogMatcher();
  let lines = 0;
  return {
    matcher,
    line: (text) => matcher.line({ text, at: (lines += 1) * 100, readMs: lines }),
    now: () => lines,
    at: () => (lines + 1) * 100,
  };
}

interface Started {
  readonly call: RecordedCall;
  readonly startMs: number;
  readonly steps: readonly number[];
}

interface Happening {
  readonly ms: number;
  readonly do: 'send' | 'write' | 'end' | 'look';
  readonly id: string;
  readonly text: string;
}

/** Plays calls as they would have run at the same time; the reply's end and its last lines come together, as they do. */
function replayed(calls: readonly Started[], options: { ownSlots?: boolean; lost?: readonly [number, number] }) {
  const happenings = calls.flatMap((started, index) => happeningsOf(started, String(index), options.ownSlots === true));
  happenings.sort((a, b) => a.ms - b.ms);
  const size = happenings.reduce((sum, one) => sum + (one.do === 'write' ? one.text.length + 1 : 0), 0);
  const [lostFrom, lostTo] = (options.lost ?? [2, 2]).map((share) => Math.floor(share * size)) as [number, number];
  const matcher = createLogMatcher();
  const owner = new Map<number, string>();
  const lines: LogLine[] = [];
  const findings = new Map<string, ReturnType<LogMatcher['take']>>();
  const endedMs = new Map<string, number>();
  const owned = new Map(calls.map((_, index) => [String(index), new Map<number, LogLine>()]));
  let at = 0;
  let isTorn = false;

  function write(text: string, id: string, ms: number): void {
    const [from, to] = [at, at + text.length + 1];
    at = to;
    owner.set(from, id);
    if (to <= lostFrom || from >= lostTo) {
      const line = { text, at: from, readMs: ms };
      lines.push(line);
      matcher.line(line);
      return;
    }
    // What is left of it has no beginning, or no end, and no end is no line.
    if (!isTorn) matcher.gap();
    isTorn = true;
    if (to > lostTo) matcher.line({ text: text.slice(Math.max(0, lostTo - from)), at: from, readMs: ms });
  }

  /** Whatever was a call's at any time: the matcher forgets what is settled. */
  function note(): void {
    for (const [id, lines] of owned) for (const line of matcher.owned(id)) lines.set(line.at, line);
  }

  function decide(nowMs: number): void {
    for (const [id, ms] of endedMs) {
      if (findings.has(id)) continue;
      if (matcher.look(id, nowMs).isSettled || nowMs - ms >= 280) findings.set(id, matcher.take(id, nowMs));
    }
  }

  for (const one of happenings) {
    decide(one.ms);
    const { call } = calls[Number(one.id)] as Started;
    if (one.do === 'send') matcher.sent({ id: one.id, sentAt: at, ...call.sent });
    else if (one.do === 'write') write(one.text, one.id, one.ms);
    else if (one.do === 'end') {
      matcher.ended(one.id, { ...call.ended, endedAt: at, endedMs: one.ms });
      endedMs.set(one.id, one.ms);
    }
    decide(one.ms);
    note();
  }
  const last = happenings.at(-1)?.ms ?? 0;
  decide(last + 300);
  const unmatched = matcher.unmatched(last + 400).last;
  note();
  const list = new Map([...owned].map(([id, found]) => [id, [...found.values()].sort((a, b) => a.at - b.at)]));
  return {
    lines,
    owned: list,
    findings,
    linesOf: (id: string) => lines.filter((line) => owner.get(line.at) === id),
    wrong: [...list].flatMap(([id, own]) => own.filter((line) => owner.get(line.at) !== id)),
    unmatched,
  };
}

const LAST_LINES = 30;

function happeningsOf({ call, startMs, steps }: Started, id: string, ownSlots: boolean): Happening[] {
  let ms = startMs;
  const list: Happening[] = [{ ms, do: 'send', id, text: '' }];
  const texts = ownSlots ? call.lines.map((line) => line.replace(/: id {1,2}\d+ \|/, `: id  ${id} |`)) : call.lines;
  const last = texts.findIndex((line) => /\[GIN\]|stop processing|send_error/.test(line));
  for (const [index, text] of texts.entries()) {
    ms += index < last ? (steps[index % Math.max(1, steps.length)] ?? 1) : Math.min(5, 1 + index - last);
    list.push({ ms, do: 'write', id, text });
    if (index === last) list.push({ ms: ms + 2, do: 'end', id, text: '' });
  }
  for (let look = 1; look <= LAST_LINES; look += 1) list.push({ ms: ms + look * 12, do: 'look', id, text: '' });
  return list;
}
