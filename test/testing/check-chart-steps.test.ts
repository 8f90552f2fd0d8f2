/** Steps that a test gives to a check: each is done, or the check fails. */
import { describe, expect, it } from 'vitest';
import { checkChart } from '../../src/testing.ts';
import type { ChartStep } from '../../src/testing.ts';
import { order, shopAdapter } from './order-shop.ts';

const add = { kind: 'event', event: { type: 'ADD', count: 1 } };
const pay = { kind: 'event', event: { type: 'PAY' } };

const check = (steps: unknown, adapter = shopAdapter()): Promise<unknown> =>
  checkChart(order, adapter, { steps: steps as readonly ChartStep[] });

const invalid = (words: string): Error =>
  expect.objectContaining({ code: 'CHART_CHECK_INVALID', message: expect.stringContaining(words) as string }) as Error;

describe('the steps of a check', () => {
  it.each([
    ['PAY', 'expected array'],
    [[{ kind: 'nonsense' }], 'kind'],
    [[{ kind: 'event' }], 'event'],
    [[{ kind: 'event', event: { count: 1 } }], 'event.type'],
    [[{ kind: 'wait', ms: -5 }], 'ms'],
    [[{ kind: 'wait', ms: Number.NaN }], 'ms'],
    [[{ kind: 'done', cal: 'charge' }], 'call'],
    [[{ ...pay, events: [] }], 'events'],
  ])('are refused where they are malformed: %j', async (steps, words) => {
    await expect(check(steps)).rejects.toThrow(invalid(words));
  });

  it.each([
    [[{ kind: 'event', event: { type: 'PYA' } }], 'step 1 (PYA) is not possible'],
    [[add, pay, { kind: 'done', call: 'chargee' }], 'step 3 (done(chargee)) is not possible: the chart is at "paying"'],
    [[add, { kind: 'done', call: 'charge' }], 'step 2 (done(charge)) is not possible: the chart is at "open"'],
    [[{ kind: 'late', call: 'charge' }], 'step 1'],
    [[{ kind: 'again', event: { type: 'ADD', count: 1 } }], 'step 1'],
  ])('are refused where they cannot be done: %j', async (steps, words) => {
    await expect(check(steps)).rejects.toThrow(invalid(words));
  });

  it('are refused where the adapter has nothing for them', async () => {
    const { restart: _, ...adapter } = shopAdapter();
    await expect(check([{ kind: 'restart' }], adapter)).rejects.toThrow(invalid('the adapter has nothing for it'));
  });

  it('are all done otherwise, also where the chart takes nothing', async () => {
    const checked = check([
      pay,
      add,
      { kind: 'again', event: add.event },
      pay,
      { kind: 'wait', ms: 30_000 },
      { kind: 'late', call: 'charge', output: { receipt: 'r1' } },
      pay,
      { kind: 'restart' },
      { kind: 'lost', call: 'charge' },
      pay,
      { kind: 'done', call: 'charge', output: { receipt: 'r1' } },
    ]);
    await expect(checked).resolves.toMatchObject({ runs: 1 });
  });
});
