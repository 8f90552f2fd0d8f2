/** Shortest paths through charts with everything that a chart may have. */
import { assign, createMachine, raise, setup } from 'xstate';
import { describe, expect, it } from 'vitest';
import { stepText } from '../../src/machines/inspection/chart-step.ts';
import { auditChart } from '../../src/machines/inspection/audit-chart.ts';
import { chartPaths, coverChart } from '../../src/testing.ts';
import type { ChartPaths } from '../../src/testing.ts';
import { order } from './order-shop.ts';

const told = ({ states, transitions }: ChartPaths): Readonly<Record<string, string>> =>
  Object.fromEntries([...states, ...transitions].map(({ to, steps }) => [to, steps.map(stepText).join(', ')]));

describe('the paths of a chart', () => {
  it('lead to every state and transition, with what is sent, answered and waited for', () => {
    const paths = chartPaths(order);
    expect(told(paths)).toMatchObject({
      open: '',
      closed: 'ADD {"count":1}, PAY, done(charge) {"receipt":"r1"}, 1 d pass',
      'paying|error(charge)|0': 'ADD {"count":1}, PAY, error(charge)',
      'paying|after(30000)|0': 'ADD {"count":1}, PAY, 30 s pass',
    });
    expect(paths.unreached).toEqual([]);
    expect(JSON.parse(JSON.stringify(paths))).toEqual(paths);
    expect(paths.cover.length).toBeLessThan(paths.transitions.length);
  });

  it('know which timer comes first, and that time runs on beside other events', () => {
    const machine = createMachine({
      id: 'timers',
      type: 'parallel',
      states: {
        short: { initial: 'a', states: { a: { after: { 1000: 'b', 5000: 'never' } }, b: {}, never: {} } },
        long: {
          initial: 'a',
          states: { a: { after: { 2500: 'b' }, on: { AGAIN: { target: 'a', reenter: true } } }, b: {} },
        },
      },
    });
    const paths = chartPaths(machine);
    expect(told(paths)).toMatchObject({ 'short.b': '1 s pass', 'long.b': '1 s pass, 1500 ms pass' });
    expect(paths.unreached).toEqual([
      { id: 'short.never', because: 'no transition that leads to it was taken' },
      { id: 'short.a|after(5000)|0', because: 'the state is left before the time is up' },
    ]);
    expect(paths.isComplete).toBe(true);
  });

  it('go through history, always, raise, wildcards and the ends of states', () => {
    const machine = createMachine({
      id: 'player',
      initial: 'on',
      states: {
        on: {
          initial: 'slow',
          states: { slow: { on: { FASTER: 'fast' } }, fast: {}, before: { type: 'history' } },
          on: { OFF: 'off', 'key.*': 'pressed' },
        },
        off: { on: { BACK: 'on.before' } },
        pressed: { entry: raise({ type: 'HIDDEN' }), on: { HIDDEN: 'work' } },
        work: {
          initial: 'step',
          states: { step: { always: 'last' }, last: { type: 'final' } },
          onDone: 'off',
        },
      },
    });
    const paths = chartPaths(machine);
    expect(paths.unreached).toEqual([]);
    expect(told(paths)).toMatchObject({
      'off|BACK|0': 'OFF, BACK',
      'work|done|0': 'key.anything',
      pressed: 'key.anything',
      'work.step': 'key.anything',
    });
  });

  it('say why something is not reached', () => {
    const machine = setup({
      types: { context: {} as { readonly n: number } },
      guards: { isRich: () => false, breaks: () => JSON.parse('{') as boolean },
      actions: { more: assign({ n: ({ context }) => context.n + 1 }) },
    }).createMachine({
      id: 'why',
      context: { n: 0 },
      initial: 'a',
      states: {
        a: {
          on: {
            BUY: { guard: 'isRich', target: 'b' },
            BREAK: { guard: 'breaks', target: 'b' },
            GO: [{ actions: 'more' }, { target: 'b' }],
          },
        },
        b: { on: { BACK: 'a' } },
        island: {},
      },
    });
    const { unreached, isComplete } = chartPaths(machine, { maxSnapshots: 20, maxPerConfiguration: 20 });
    expect(isComplete).toBe(false);
    const reasons = Object.fromEntries(unreached.map(({ id, because }) => [id, because]));
    expect(reasons['a|BUY|0']).toContain('isRich never held');
    expect(reasons['a|BREAK|0']).toContain('the chart throws');
    expect(reasons['a|GO|1']).toContain('a|GO|0 is taken before it');
    expect(reasons['b|BACK|0']).toContain('the state b was not reached');
    expect(reasons['island']).toContain('nothing leads to it');
    expect(Object.values(reasons).every((because) => because.endsWith('as far as was searched'))).toBe(true);
  });

  it('are refused of a chart that cannot be started', () => {
    const machine = setup({ types: { input: {} as { readonly of: { readonly name: string } } } }).createMachine({
      id: 'needy',
      context: ({ input }) => ({ name: input.of.name }),
    });
    expect(() => chartPaths(machine)).toThrow(expect.objectContaining({ code: 'CHART_NOT_STARTED' }) as Error);
    expect(chartPaths({ machine, input: { of: { name: 'x' } } }).isComplete).toBe(true);
  });

  it.each([undefined, null, 'x', 5, {}, [], { machine: null }, { machine: 'x' }, { root: 1 }])(
    'are refused of %j, which is no chart',
    (given) => {
      const refusal = expect.objectContaining({ code: 'CHART_EXPECTED' }) as Error;
      expect(() => chartPaths(given as never)).toThrow(refusal);
      expect(() => coverChart(given as never)).toThrow(refusal);
    },
  );

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1, 1.5, '7'])('are refused with the limit %j', (limit) => {
    const refusal = expect.objectContaining({ code: 'EXPLORATION_LIMITS_INVALID' }) as Error;
    const limits = { maxSnapshots: 20, maxPerConfiguration: 20 };
    for (const name of ['maxSnapshots', 'maxPerConfiguration'])
      for (const ask of [chartPaths, auditChart])
        expect(() => ask(order, { ...limits, [name]: limit })).toThrow(refusal);
  });

  it('end where only one limit is given', () => {
    expect(chartPaths(order, { maxSnapshots: 20 } as never).isComplete).toBe(false);
    expect(chartPaths(order, { maxPerConfiguration: 3 } as never).isComplete).toBe(false);
  });
});
