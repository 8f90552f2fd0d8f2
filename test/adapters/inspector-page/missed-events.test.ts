/** Events that were ignored although another state takes them, told from those that a chart ignores on purpose. */
import { describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import { describeChart } from '../../../src/machines/inspection/describe-chart.ts';
import { takenElsewhere, takersText } from '../../../src/adapters/inspector-page/model/missed-events.ts';

const machine = setup({}).createMachine({
  id: 'order',
  initial: 'paying',
  states: {
    paying: { on: { accepted: 'shipping', hint: {} } },
    shipping: { on: { refused: 'gone', hint: 'gone' } },
    gone: { type: 'final' },
  },
});

describe('an event that was ignored', () => {
  const chart = describeChart(machine);

  it('was missed where another state takes it', () => {
    expect(takenElsewhere(chart, { value: 'paying', type: 'refused' })).toEqual(['shipping']);
  });

  it('was not where no state does, where the state says so, and where it is final', () => {
    for (const [value, type] of [
      ['paying', 'unheard'],
      ['paying', 'hint'],
      ['gone', 'refused'],
    ] as const)
      expect(takenElsewhere(chart, { value, type })).toEqual([]);
  });

  it('is no matter in a chart with a registry of its events, which says what is ignored on purpose', () => {
    const declared = { ...chart, events: chart.events.map((event) => ({ ...event, isDeclared: true })) };
    expect(takenElsewhere(declared, { value: 'paying', type: 'refused' })).toEqual([]);
  });

  it('is told with the states that take it', () => {
    expect([['a'], ['a', 'b'], ['a', 'b', 'c']].map(takersText)).toEqual([
      'only a takes it',
      'a and b take it',
      'a and 2 others take it',
    ]);
  });
});
