import { describe, expect, test } from 'vitest';
import { createVirtualTime } from '../../../shared/engine/agent-lab/virtual-time.ts';

const idle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const real = (turns: number): Promise<void> => (turns === 0 ? Promise.resolve() : idle().then(() => real(turns - 1)));

describe('a clock that stands while real work is done', () => {
  test('a time limit does not pass meanwhile, and goes on after', async () => {
    const time = createVirtualTime({ idle });
    const told: string[] = [];
    time.after(10, () => told.push(`limit at ${time.nowMs()}`));
    await time.run(
      (async () => {
        await time.hold(real(50));
        told.push(`held until ${time.nowMs()}`);
        await time.sleep(20);
        told.push(`slept until ${time.nowMs()}`);
      })(),
    );
    expect(told).toEqual(['held until 0', 'limit at 10', 'slept until 20']);
  });

  test('without, it does', async () => {
    const time = createVirtualTime({ idle });
    const told: string[] = [];
    time.after(10, () => told.push('limit'));
    await time.run(real(50).then(() => told.push('work')));
    expect(told).toEqual(['limit', 'work']);
  });

  test('several at once: it stands until the last is done, also where one fails', async () => {
    const time = createVirtualTime({ idle });
    const told: string[] = [];
    time.after(10, () => told.push('limit'));
    await time.run(
      (async () => {
        const failing = time.hold(real(5).then(() => Promise.reject(new Error('gone'))));
        const long = time.hold(real(30).then(() => told.push('long')));
        await expect(failing).rejects.toThrow('gone');
        told.push('short');
        await long;
        await time.sleep(11);
      })(),
    );
    expect(told).toEqual(['short', 'long', 'limit']);
  });

  test('a run that ends is not kept by what it holds, nor by a pause for who watches', async () => {
    const holding = createVirtualTime({ idle });
    void holding.hold(new Promise(() => undefined));
    expect(await holding.run(real(3).then(() => 'over'))).toBe('over');
    const pausing = createVirtualTime({ idle, pause: () => new Promise(() => undefined) });
    void pausing.sleep(1_000);
    expect(await pausing.run(real(3).then(() => 'over'))).toBe('over');
  });

  test('work that begins while somebody watches holds the clock, too', async () => {
    const told: string[] = [];
    let begun = false;
    const time = createVirtualTime({
      idle,
      pause: async () => {
        if (begun) return;
        begun = true;
        void time.hold(real(20).then(() => told.push('work')));
      },
    });
    time.after(10, () => told.push('limit'));
    await time.run(time.sleep(20));
    expect(told).toEqual(['work', 'limit']);
  });

  test('it does not spin while it stands', async () => {
    let turns = 0;
    const time = createVirtualTime({
      idle: () => {
        turns += 1;
        return idle();
      },
    });
    await time.run(time.hold(real(200)));
    expect(turns).toBeLessThan(10);
  });
});
