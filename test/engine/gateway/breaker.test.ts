import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBreakers } from '../../../shared/engine/gateway/breaker.ts';

const settings = { failuresMax: 3, openMs: 1_000, probeMs: 200 };

test('opens after so many failures in a row, fails fast and says when to come back', () => {
  const breakers = createBreakers(settings);
  for (const at of [0, 1]) breakers.report('u', true, at);
  breakers.report('u', false, 2);
  for (const at of [3, 4]) breakers.report('u', true, at);
  expect(breakers.admit('u', 5)).toBeNull();
  breakers.report('u', true, 10);
  expect(breakers.admit('u', 10)).toBe(1_000);
  expect(breakers.admit('u', 1_009.5)).toBe(1);
  expect(breakers.states(500)).toEqual([{ upstream: 'u', state: 'open', failures: 3, retryAfterMs: 510 }]);
  expect(breakers.admit('other', 10)).toBeNull();
});

test('half-open lets one probe through; its answer closes or opens, and a probe that never ends has a deadline', () => {
  const breakers = createBreakers(settings);
  for (const at of [0, 0, 0]) breakers.report('u', true, at);
  expect(breakers.states(1_000)[0]?.state).toBe('half-open');
  expect(breakers.admit('u', 1_000)).toBeNull();
  expect(breakers.admit('u', 1_000)).toBe(200);
  expect(breakers.admit('u', 1_199)).toBe(1);
  // The first probe hangs: another may try.
  expect(breakers.admit('u', 1_200)).toBeNull();
  breakers.report('u', true, 1_300);
  expect(breakers.admit('u', 1_301)).toBe(999);
  expect(breakers.admit('u', 2_300)).toBeNull();
  breakers.report('u', false, 2_301);
  expect(breakers.admit('u', 2_302)).toBeNull();
  expect(breakers.admit('u', 2_302)).toBeNull();
  expect(breakers.states(2_302)).toEqual([{ upstream: 'u', state: 'closed', failures: 0, retryAfterMs: null }]);
});

test('a probe that did not happen makes room for another at once', () => {
  const breakers = createBreakers(settings);
  for (const at of [0, 0, 0]) breakers.report('u', true, at);
  expect(breakers.admit('u', 1_000)).toBeNull();
  breakers.drop('u');
  expect(breakers.admit('u', 1_001)).toBeNull();
  breakers.drop('nobody');
  expect(breakers.states(0)).toHaveLength(1);
});

test('whatever happens, nobody waits longer than the two deadlines: a breaker is never stuck', () => {
  const event = fc.record({ kind: fc.constantFrom('admit', 'fail', 'fail', 'pass', 'drop'), waitMs: fc.nat(400) });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const breakers = createBreakers(settings);
      let nowMs = 0;
      for (const { kind, waitMs } of events) {
        nowMs += waitMs;
        if (kind === 'admit') {
          const wait = breakers.admit('u', nowMs);
          if (wait !== null) {
            expect(wait).toBeGreaterThan(0);
            expect(wait).toBeLessThanOrEqual(1_000);
          }
        } else if (kind === 'drop') breakers.drop('u');
        else breakers.report('u', kind === 'fail', nowMs);
      }
      expect(breakers.admit('u', nowMs + settings.openMs + settings.probeMs)).toBeNull();
    }),
  );
});

test('upstreams are bounded', () => {
  const breakers = createBreakers(settings);
  for (let at = 0; at < 1_500; at += 1) breakers.admit(`u${at}`, 0);
  expect(breakers.states(0)).toHaveLength(1_000);
});
