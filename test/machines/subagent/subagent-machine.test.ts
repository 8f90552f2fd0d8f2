/** The chart of a job: every transition, compiled and interpreted alike. */
import { createActor } from 'xstate';
import { describe, expect, it } from 'vitest';
import { subagentLifecycle, subagentMachine } from '../../../src/machines/subagent/subagent-machine.ts';
import { pathsOverEveryTransition } from '../../support/graph-paths.ts';

const paths = pathsOverEveryTransition(subagentMachine, subagentLifecycle.events);

describe('the chart of a job', () => {
  it('has exactly the states that its contract names', () => {
    expect([...new Set(subagentLifecycle.snapshots.map(({ topLevel }) => topLevel))].sort()).toEqual([
      'cancelled',
      'completed',
      'failed',
      'preparing',
      'running',
      'settling',
    ]);
  });

  it.each(paths.map(({ events }) => [events.join(' '), events] as const))(
    'comes to the same state compiled and interpreted after %s',
    (_name, events) => {
      const actor = createActor(subagentMachine).start();
      let compiled = subagentLifecycle.initial;
      for (const type of events) {
        actor.send({ type: type as 'STOP' });
        compiled = subagentLifecycle.next(compiled, type) ?? compiled;
      }
      expect(compiled.value).toEqual(actor.getSnapshot().value);
      actor.stop();
    },
  );

  it('ignores compiled what it ignores interpreted', () => {
    for (const snapshot of subagentLifecycle.snapshots) {
      const interpreted = subagentMachine.resolveState({ value: snapshot.value });
      for (const type of subagentLifecycle.events) {
        expect([snapshot.value, type, subagentLifecycle.next(snapshot, type) !== undefined]).toEqual([
          snapshot.value,
          type,
          snapshot.status === 'active' && interpreted.can({ type: type as 'STOP' }),
        ]);
      }
    }
  });

  it('comes to an end by way of a settlement only, and nothing moves it then', () => {
    const ways = subagentLifecycle.snapshots.flatMap((from) =>
      subagentLifecycle.events.map((type) => ({ from, type, next: subagentLifecycle.next(from, type) })),
    );
    expect(ways.filter(({ from, next }) => from.status === 'done' && next !== undefined)).toEqual([]);
    const last = ways.filter(({ next }) => next?.status === 'done').map(({ from, type }) => `${from.topLevel} ${type}`);
    expect(new Set(last)).toEqual(new Set(['settling SETTLED']));
  });

  it('never counts the result of work that somebody has stopped', () => {
    const stopping = subagentLifecycle.snapshots.filter(({ value }) => JSON.stringify(value).includes('stopping'));
    const settlements = stopping
      .flatMap((from) => subagentLifecycle.events.map((type) => subagentLifecycle.next(from, type)))
      .filter((next) => next?.topLevel === 'settling');
    expect([...new Set(settlements.map((next) => JSON.stringify(next?.value)))]).toEqual(['{"settling":"stopped"}']);
  });
});
