/**
 * What counts as taken by the sources, and the ways of XState by which it is seen: an upgrade that changes them fails
 * here.
 */
import { Actor, createActor, createMachine, fromPromise, setup } from 'xstate';
import type { AnyActorLogic, AnyStateMachine } from 'xstate';
import { describe, expect, it } from 'vitest';
import { ChartedLife } from '../../src/actors/charted-life.ts';
import { MemoryCandidateHealthStore } from '../../src/adapters/memory/memory-candidate-health-store.ts';
import { watchCharts } from '../../src/machines/chart-watch.ts';
import { BackgroundTaskManager } from '../../src/actors/task/background-task-manager.ts';
import { createSimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import { nextConfiguration } from '../../src/machines/session/session-machine.ts';
import { createManualRunner, settled } from '../support/manual-runner.ts';
import { processRequest } from '../support/task-requests.ts';
import { breakerAfter } from '../../src/machines/run/breaker-machine.ts';
import { movedRecord } from '../../src/machines/subagent/worktree-record.ts';
import type { WorktreeRecord } from '../../src/machines/subagent/worktree-record.ts';
import { subagentLifecycle } from '../../src/machines/subagent/subagent-machine.ts';
import { worktreeLifecycle } from '../../src/machines/subagent/worktree-machine.ts';
import { isStartedBySources, seeActors } from './chart-hits-actors.ts';
import { ChartHitsCollector } from './chart-hits-collector.ts';
import { isAskedBySources } from './chart-hits-source.ts';

async function seenIn(work: () => unknown): Promise<unknown> {
  const collector = new ChartHitsCollector((actor) =>
    actor === undefined ? isAskedBySources() : isStartedBySources(actor),
  );
  const unwatch = watchCharts((machine, taken, actor) => collector.see(machine, taken, actor));
  const putBack = seeActors(Actor, (machine, taken, actor) => collector.see(machine, taken, actor));
  try {
    await work();
  } finally {
    putBack();
    unwatch();
  }
  return collector.taken();
}

/** Every machine, whoever started it. */
async function machinesIn(work: () => unknown): Promise<readonly string[]> {
  const events: string[] = [];
  const putBack = seeActors(Actor, (machine, taken) =>
    events.push(...taken.map((each) => `${machine.id} ${(each as { readonly eventType: string }).eventType}`)),
  );
  try {
    await work();
  } finally {
    putBack();
  }
  return events;
}

/** An adapter that asks a chart, without an actor of its own. */
function failedAttempt(): Promise<unknown> {
  const candidateHealth = new MemoryCandidateHealthStore({ clock: createSimulatedClock() });
  return candidateHealth.report(
    { provider: 'p', model: 'm' },
    { kind: 'failed', failure: { kind: 'overloaded', message: 'too much' } },
  );
}

const toggle = createMachine({
  id: 'toggle',
  initial: 'off',
  states: { off: { on: { FLIP: 'on' } }, on: { always: 'done' }, done: { on: { FLIP: undefined } } },
});

describe('what a test run sees of charts', () => {
  it('is what actors of the sources take, with what followed what', async () => {
    const seen = (await seenIn(async () => {
      const runner = createManualRunner('process');
      const manager = new BackgroundTaskManager({ clock: createSimulatedClock(), runners: { process: runner } });
      const { id } = await manager.spawn(processRequest());
      await settled();
      runner.of(id).resolve({ output: 'done' });
      await settled();
      await manager.shutdown();
    })) as readonly { readonly chart: string; readonly transitions: object; readonly pairs: object }[];
    const task = seen.find(({ chart }) => chart === 'task');
    expect(Object.keys(task?.transitions ?? {})).toEqual(
      expect.arrayContaining(['queued|START|0', 'running.starting|STARTED|0', 'running|COMPLETE|0']),
    );
    expect(task?.pairs).toMatchObject({ 'queued|START|0 > running.starting|STARTED|0': 1 });
    expect(seen.find(({ chart }) => chart === 'taskSupervisor')?.transitions).toEqual({
      'accepting|DRAIN|0': 1,
      'draining|IDLE|0': 1,
    });
  });

  it('is what the sources look up in a chart without an actor', async () => {
    const seen = await seenIn(failedAttempt);
    expect(seen).toEqual([{ chart: 'breaker', transitions: { 'closed|COOL|0': 1 }, pairs: {} }]);
  });

  it('is nothing of what a test has worked out by what is pure, nor of a life that it leads itself', async () => {
    expect(
      await seenIn(() => {
        movedRecord({ id: 'w', status: 'ready' } as WorktreeRecord, 'OWNER_LOST');
        nextConfiguration({ status: 'idle', stopReason: 'idle' }, 'WAKE');
        const life = new ChartedLife({ lifecycle: worktreeLifecycle, id: 'a worktree' });
        life.move('CREATE');
        life.end();
      }),
    ).toEqual([]);
  });

  it('is nothing of what a test does with a chart by itself', async () => {
    expect(
      await seenIn(() => {
        subagentLifecycle.next(subagentLifecycle.initial, 'PREPARED');
        breakerAfter('closed', 'COOL');
        const actor = createActor(subagentLifecycle as unknown as AnyActorLogic).start();
        actor.send({ type: 'PREPARED' });
        actor.stop();
      }),
    ).toEqual([]);
  });

  it('is not ended by a lookup of a test that came first', async () => {
    expect(
      await seenIn(() => {
        breakerAfter('closed', 'COOL');
        return failedAttempt();
      }),
    ).toMatchObject([{ transitions: { 'closed|COOL|0': 1 } }]);
  });

  it('is every step of an interpreted machine, and nothing of what it ignores', async () => {
    expect(
      await machinesIn(() => {
        const actor = createActor(toggle).start();
        for (const type of ['FLOP', 'FLIP', 'FLIP']) actor.send({ type });
        actor.stop();
      }),
    ).toEqual(['toggle FLIP', 'toggle ', 'toggle FLIP']);
  });

  it('is what the actors of a machine cause, and what machines do that are made from another before anybody watches', async () => {
    const original = setup({ actors: { work: fromPromise(async () => undefined) } }).createMachine({
      id: 'boss',
      initial: 'busy',
      states: { busy: { invoke: { src: 'work', onDone: 'idle' } }, idle: { type: 'final' } },
    });
    const provided = original.provide({}) as AnyStateMachine;
    const events = await machinesIn(
      () =>
        new Promise<void>((resolve) => {
          const actor = createActor(provided);
          actor.subscribe({ complete: resolve });
          actor.start();
        }),
    );
    expect(events).toEqual([expect.stringMatching(/^boss xstate\.done\.actor/)]);
  });

  it('puts back what it replaced', () => {
    const { start } = Actor.prototype;
    seeActors(Actor, () => undefined)();
    expect(Actor.prototype.start).toBe(start);
  });
});
