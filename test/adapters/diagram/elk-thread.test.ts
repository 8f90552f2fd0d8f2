/**
 * Charts that ELK would take for ever: they become lists, nobody waits for them, and the next chart is laid out as
 * ever.
 */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createMachine } from 'xstate';
import { renderChart } from '../../../src/adapters/diagram/render-chart.ts';
import { inPassing, placedByElk } from '../../../src/adapters/diagram/elk-thread.ts';
import type { ChartDescription } from '../../../src/machines/inspection/chart-description.ts';
import { describeChart } from '../../../src/machines/inspection/describe-chart.ts';

/** Small, and with so many lines across each other that a layout of it does not end. */
function tangle(id: string, size: number, events: number): ChartDescription {
  const targets = (state: number): Record<string, string> =>
    Object.fromEntries(
      Array.from({ length: events }, (_, event) => [`E${event}`, `s${(state * 7 + event * 13 + 1) % size}`]),
    );
  return describeChart(
    createMachine({
      id,
      initial: 's0',
      states: Object.fromEntries(Array.from({ length: size }, (_, state) => [`s${state}`, { on: targets(state) }])),
    }),
  );
}

const LIST = 'no layout was found for the chart';

describe('a chart that takes too long', { timeout: 60_000 }, () => {
  it('is drawn as a list, while everything else goes on', async () => {
    let isDrawn = false;
    const drawn = renderChart(tangle('evil', 40, 6), { layoutMs: 500 }).finally(() => {
      isDrawn = true;
    });
    let turns = 0;
    for (; !isDrawn; turns += 1) await setImmediate();
    expect(await drawn).toContain(LIST);
    expect(turns).toBeGreaterThan(100);
  });

  it('keeps no other chart from its picture, and is itself not tried again', async () => {
    const [evil, good] = await Promise.all([
      renderChart(tangle('evil', 40, 6), { layoutMs: 501 }),
      renderChart(tangle('good', 3, 1)),
    ]);
    expect([evil.includes(LIST), good.includes(LIST)]).toEqual([true, false]);
    expect(await renderChart(tangle('evil', 40, 6), { layoutMs: 501 })).toBe(evil);
  });

  it('leaves no time for a second try', async () => {
    const time = { leftMs: 0 };
    expect(await placedByElk({ id: 'root', children: [], edges: [] }, time)).toBe(undefined);
    const ample = { leftMs: 60_000 };
    expect(
      await placedByElk({ id: 'root', children: [{ id: 'a', width: 10, height: 10 }], edges: [] }, ample),
    ).toMatchObject({ children: [{ id: 'a', width: 10, height: 10 }] });
    expect(ample.leftMs).toBeLessThan(60_000);
  });
});

describe('a picture that is drawn in passing', () => {
  const kept = (): number => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;

  it('keeps no process, unless another waits for one', { timeout: 60_000 }, async () => {
    const before = kept();
    const ahead = inPassing(() => renderChart(tangle('ahead', 40, 6), { layoutMs: 1_000 }));
    await setImmediate();
    const inTheMeantime = kept();
    const awaited = renderChart(tangle('awaited', 4, 2));
    await setImmediate();
    expect([inTheMeantime - before, kept() - before]).toEqual([0, 1]);
    await Promise.all([ahead, awaited]);
    expect(kept() - before).toBe(0);
  });
});
