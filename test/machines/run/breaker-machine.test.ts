import { describe, expect, it } from 'vitest';
import { breakerAfter, breakerMachine } from '../../../src/machines/run/breaker-machine.ts';
import type { BreakerEventType, BreakerState } from '../../../src/machines/run/breaker-machine.ts';
import { candidateHealthSchema } from '../../../src/machines/run/candidate-health.ts';
import { pathsOverEveryTransition } from '../../support/graph-paths.ts';

const TABLE = [
  ['closed', 'COOL', 'cooling'],
  ['closed', 'DISABLE', 'disabled'],
  ['cooling', 'COOL', 'cooling'],
  ['cooling', 'DISABLE', 'disabled'],
  ['cooling', 'PROBE', 'half_open'],
  ['cooling', 'RECOVER', 'closed'],
  ['half_open', 'COOL', 'cooling'],
  ['half_open', 'DISABLE', 'disabled'],
  ['half_open', 'RECOVER', 'closed'],
  ['disabled', 'DISABLE', 'disabled'],
  ['disabled', 'PROBE', 'half_open'],
  ['disabled', 'RECOVER', 'closed'],
] as const satisfies readonly (readonly [BreakerState, BreakerEventType, BreakerState])[];

const EVENTS: readonly BreakerEventType[] = ['COOL', 'DISABLE', 'PROBE', 'RECOVER'];

describe('the chart of a breaker', () => {
  it('has exactly the transitions of its table, each of which is reached from the start', () => {
    const walked = pathsOverEveryTransition(breakerMachine, EVENTS).map(({ events, last }) => {
      const state = (events as readonly BreakerEventType[]).reduce<BreakerState | undefined>(
        (from, event) => (from === undefined ? undefined : breakerAfter(from, event)),
        'closed',
      );
      return [last.from, last.event, state];
    });
    expect(walked.map(String).toSorted()).toEqual(TABLE.map(String).toSorted());
  });

  it('lets nobody probe while a probe is out, or where nothing has failed', () => {
    expect([breakerAfter('half_open', 'PROBE'), breakerAfter('closed', 'PROBE')]).toEqual([undefined, undefined]);
  });

  it('does not let what merely cools shorten what is disabled', () => {
    expect(breakerAfter('disabled', 'COOL')).toBeUndefined();
  });

  it('has the states that the health of candidates is written with', () => {
    expect(Object.keys(breakerMachine.states).toSorted()).toEqual(candidateHealthSchema.shape.state.options.toSorted());
  });
});
