/** The chart of a worktree: every transition, compiled and interpreted alike. */
import { createActor } from 'xstate';
import { describe, expect, it } from 'vitest';
import { worktreeLifecycle, worktreeMachine } from '../../../src/machines/subagent/worktree-machine.ts';
import { pathsOverEveryTransition } from '../../support/graph-paths.ts';

const paths = pathsOverEveryTransition(worktreeMachine, worktreeLifecycle.events);

describe('the chart of a worktree', () => {
  it('has exactly the states that its contract names', () => {
    expect(worktreeLifecycle.snapshots.map(({ value }) => value).sort()).toEqual([
      'absent',
      'creating',
      'inspecting',
      'orphaned',
      'preserved',
      'ready',
      'removed',
      'removing',
    ]);
  });

  it.each(paths.map(({ events }) => [events.join(' '), events] as const))(
    'comes to the same state compiled and interpreted after %s',
    (_name, events) => {
      const actor = createActor(worktreeMachine).start();
      let compiled = worktreeLifecycle.initial;
      for (const type of events) {
        actor.send({ type: type as 'CREATE' });
        compiled = worktreeLifecycle.next(compiled, type) ?? compiled;
      }
      expect(compiled.value).toEqual(actor.getSnapshot().value);
      actor.stop();
    },
  );

  it('ignores compiled what it ignores interpreted', () => {
    for (const snapshot of worktreeLifecycle.snapshots) {
      const interpreted = worktreeMachine.resolveState({ value: snapshot.value });
      for (const type of worktreeLifecycle.events) {
        expect([snapshot.value, type, worktreeLifecycle.next(snapshot, type) !== undefined]).toEqual([
          snapshot.value,
          type,
          snapshot.status === 'active' && interpreted.can({ type: type as 'CREATE' }),
        ]);
      }
    }
  });

  it('is removed only after it was checked and found clean', () => {
    const waysTo = (target: string): string[] =>
      worktreeLifecycle.snapshots.flatMap((from) =>
        worktreeLifecycle.events.flatMap((type) =>
          worktreeLifecycle.next(from, type)?.value === target ? [`${from.value} ${type}`] : [],
        ),
      );
    expect(waysTo('removed')).toEqual(['removing REMOVED']);
    expect(waysTo('removing')).toEqual(['inspecting CLEAN']);
  });

  it('can be lost by its owner in every state in which somebody works on it, and is an orphan then', () => {
    const lost = worktreeLifecycle.snapshots
      .filter((from) => worktreeLifecycle.next(from, 'OWNER_LOST')?.value === 'orphaned')
      .map(({ value }) => value);
    expect(lost.sort()).toEqual(['creating', 'inspecting', 'ready', 'removing']);
  });
});
