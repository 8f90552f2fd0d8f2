/** A chart that never changes, with one of everything that is drawn. */
import { setup } from 'xstate';
import { describeChart } from '../../../src/machines/inspection/describe-chart.ts';

const machine = setup({
  guards: { isReady: () => true },
  actions: { keep: () => undefined },
  actors: {},
}).createMachine({
  id: 'fixed',
  version: '1',
  initial: 'waiting',
  on: { STOP: { target: '.stopped' }, NOTE: { actions: 'keep' } },
  states: {
    waiting: {
      tags: ['idle'],
      after: { 1500: { target: 'both' } },
      on: {
        GO: [{ guard: 'isReady', target: 'both', actions: 'keep' }, { target: 'stopped' }],
        AGAIN: { target: 'waiting', reenter: true },
        NEVER: {},
      },
    },
    both: {
      type: 'parallel',
      on: { PAUSE: 'waiting', RESET: '.left.one' },
      states: {
        left: {
          initial: 'one',
          states: {
            one: { on: { NEXT: 'two' } },
            two: { on: { BACK: 'one', RESTART: '#fixed.both.left' } },
            last: { type: 'history', history: 'deep' },
          },
        },
        right: {
          initial: 'three',
          states: { three: { always: { guard: 'isReady', target: 'four' } }, four: { type: 'final' } },
        },
      },
      onDone: 'stopped',
    },
    stopped: { type: 'final' },
  },
});

export const fixedChart = describeChart(machine);
