import { createMachine, fromPromise, setup } from 'xstate';
import { describe, expect, it } from 'vitest';
import { chartEvents } from '../../../src/machines/inspection/chart-events.ts';
import { chartOutlook } from '../../../src/machines/inspection/chart-outlook.ts';
import type { ChartOutlook } from '../../../src/machines/inspection/chart-outlook.ts';
import { describeChart } from '../../../src/machines/inspection/describe-chart.ts';

const door = setup({
  types: { events: {} as { readonly type: 'OPEN' | 'CLOSE' | 'LOCK' | 'KNOCK' | 'BREAK' } },
  actors: { listen: fromPromise(() => Promise.resolve()) },
  guards: { hasKey: () => true, isOiled: () => true },
}).createMachine({
  id: 'door',
  initial: 'shut',
  on: { BREAK: '.broken', KNOCK: {} },
  states: {
    shut: {
      description: 'Nobody gets in.',
      initial: 'free',
      on: { OPEN: 'open' },
      states: {
        free: {
          on: {
            LOCK: [
              { guard: 'hasKey', target: 'locked' },
              { guard: 'isOiled', target: 'locked' },
            ],
          },
        },
        locked: {
          on: { OPEN: undefined },
          invoke: { src: 'listen', onDone: 'free', onError: 'free' },
          after: { 100: 'free' },
        },
      },
    },
    open: { on: { CLOSE: 'shut', OPEN: [{ guard: 'isOiled', target: 'shut' }] } },
    broken: { type: 'final' },
  },
});

const events = chartEvents({
  commands: {
    OPEN: { says: 'Somebody wants in.', from: 'a guest' },
    CLOSE: { says: 'Somebody is cold.', from: 'the host' },
  },
});
const description = describeChart(door, { events });
const at = (leaf: string): ChartOutlook => chartOutlook(description, [leaf]);
const whyNot = (leaf: string): Readonly<Record<string, string>> =>
  Object.fromEntries(at(leaf).impossible.map(({ event, why }) => [event, why]));

describe('what a chart takes where it is', () => {
  it('comes with who says it, what it says and where it leads', () => {
    expect(at('shut.free').possible.find(({ event }) => event === 'OPEN')).toEqual({
      event: 'OPEN',
      kind: 'command',
      says: 'Somebody wants in.',
      from: 'a guest',
      ways: [{ transition: 'shut|OPEN|0', to: ['open'] }],
    });
    expect(at('shut.free').states).toEqual([{ id: 'shut', says: 'Nobody gets in.' }, { id: 'shut.free' }]);
  });

  it('depends on a guard where nothing is taken without one', () => {
    const lock = at('shut.free').possible.find(({ event }) => event === 'LOCK');
    expect(lock?.dependsOn).toBe('hasKey');
    expect(lock?.ways.map(({ guard }) => guard)).toEqual(['hasKey', 'isOiled']);
  });

  it('is not what the state forbids, what is written elsewhere only, or anything once it is over', () => {
    expect(whyNot('shut.locked')).toMatchObject({
      OPEN: 'forbidden',
      CLOSE: 'no_transition',
      LOCK: 'no_transition',
      KNOCK: 'forbidden',
    });
    expect(at('shut.locked').impossible.find(({ event }) => event === 'CLOSE')?.takenIn).toEqual(['open']);
    expect(whyNot('broken')).toEqual({ OPEN: 'final', CLOSE: 'final', LOCK: 'final', KNOCK: 'final', BREAK: 'final' });
    expect(at('broken').possible).toEqual([]);
  });

  it('falls back to the states around it', () => {
    expect(at('open').possible.map(({ event }) => event)).toContain('BREAK');
  });

  it('is told apart from what happens by itself', () => {
    expect(at('shut.locked').byItself.map(({ event, to }) => [event, ...to])).toEqual([
      ['done(listen)', 'shut.free'],
      ['error(listen)', 'shut.free'],
      ['after(100)', 'shut.free'],
    ]);
    expect(at('open').byItself).toEqual([]);
  });

  it('is what any of several regions takes', () => {
    const lamp = createMachine({
      id: 'lamp',
      type: 'parallel',
      states: {
        power: { initial: 'off', states: { off: { on: { TOGGLE: 'on' } }, on: {} } },
        color: { initial: 'red', states: { red: {} } },
      },
    });
    const outlook = chartOutlook(describeChart(lamp), ['power.off', 'color.red']);
    expect(outlook.possible.map(({ event }) => event)).toEqual(['TOGGLE']);
    expect(chartOutlook(describeChart(lamp), ['power.on', 'color.red']).impossible).toMatchObject([
      { event: 'TOGGLE', why: 'no_transition', takenIn: ['power.off'] },
    ]);
  });
});
