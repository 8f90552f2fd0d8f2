import { Actor, createActor } from 'xstate';
import type { AnyActorLogic, AnyActorRef, InspectionEvent } from 'xstate';
import { describe, expect, it } from 'vitest';
import { taskLifecycle } from '../../src/machines/task/task-lifecycle.ts';
import { buildsChildrenDirectly, startChild } from '../../src/actors/xstate-child.ts';

interface Seen {
  readonly type: string;
  readonly event: unknown;
  readonly actor: string;
  readonly value: unknown;
}

/** Runs a child through a life and records everything that its parent, a subscriber and an inspector see. */
function lifeOf(start: (parent: AnyActorRef) => AnyActorRef): { seen: Seen[]; heard: unknown[]; told: unknown[] } {
  const seen: Seen[] = [];
  const told: unknown[] = [];
  const snapshot = { status: 'active' as const, output: undefined, error: undefined };
  const parent = createActor(
    {
      transition: (state: typeof snapshot, event: object) => {
        told.push(event);
        return state;
      },
      getInitialSnapshot: () => snapshot,
      getPersistedSnapshot: () => snapshot,
    },
    {
      id: 'parent',
      inspect: (event: InspectionEvent) =>
        seen.push({
          type: event.type,
          event: 'event' in event ? event.event : undefined,
          actor: (event.actorRef as AnyActorRef).id,
          value: 'snapshot' in event ? (event.snapshot as { value?: unknown }).value : undefined,
        }),
    },
  );
  parent.start();
  const child = start(parent);
  const heard: unknown[] = [];
  child.subscribe({ next: (state: { value: unknown }) => heard.push(state.value), complete: () => heard.push('complete') });
  const { send } = child;
  for (const type of ['START', 'STARTED', 'NONSENSE', 'COMPLETE']) send({ type });
  return { seen, heard, told };
}

describe('a child made directly', () => {
  it('is used with the installed XState: its fields are still the ones this code knows', () => {
    expect(buildsChildrenDirectly).toBe(true);
  });

  it('is an XState actor with the same fields as one made by createActor', () => {
    const parent = createActor(taskLifecycle as unknown as AnyActorLogic).start();
    const direct = startChild(parent, taskLifecycle, 'child');
    const official = createActor(taskLifecycle as unknown as AnyActorLogic, { parent, id: 'child' }).start();
    expect(direct).toBeInstanceOf(Actor);
    expect(Object.keys(direct).sort()).toEqual(Object.keys(official).sort());
    expect(direct.getPersistedSnapshot()).toEqual(official.getPersistedSnapshot());
    expect(direct.toJSON?.()).toEqual((official as unknown as AnyActorRef).toJSON?.());
    expect((direct as unknown as { system: unknown }).system).toBe((official as unknown as { system: unknown }).system);
  });

  it('lives, is heard and is inspected exactly like one made by createActor', () => {
    const direct = lifeOf((parent) => startChild(parent, taskLifecycle, 'child'));
    const official = lifeOf((parent) => {
      const child = createActor(taskLifecycle as unknown as AnyActorLogic, { parent, id: 'child' });
      child.start();
      return child;
    });
    expect(direct).toEqual(official);
    expect(direct.told).toContainEqual({ type: 'xstate.done.actor.child', output: undefined, actorId: 'child' });
    expect(direct.heard).toEqual([{ running: 'starting' }, { running: 'active' }, { running: 'active' }, 'completed', 'complete']);
  });

  it('keeps subscribers to itself', () => {
    const parent = createActor(taskLifecycle as unknown as AnyActorLogic).start();
    const first = startChild(parent, taskLifecycle, 'first');
    const second = startChild(parent, taskLifecycle, 'second');
    const heard: string[] = [];
    first.subscribe(() => heard.push('first'));
    first.on('*', () => heard.push('emitted'));
    second.send({ type: 'START' });
    expect(heard).toEqual([]);
    first.send({ type: 'START' });
    expect(heard).toEqual(['first']);
  });
});
