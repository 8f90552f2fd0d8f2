/**
 * What becomes of a worktree, as a function of all that can go wrong with it, against the real runner in the real
 * manager: the chart's state, what is left, and how the job ended. Work is never removed with a worktree, and a cleanup
 * that fails costs no result.
 */
import fc from 'fast-check';
import type { AnyActorRef, InspectionEvent } from 'xstate';
import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import { SubagentManager } from '../../src/actors/subagent/subagent-manager.ts';
import { createWorktreeSubagentRunner } from '../../src/actors/subagent/worktree-subagent-runner.ts';
import type { WorktreeHookFunction } from '../../src/machines/subagent/hook-config.ts';
import { worktreeLifecycle } from '../../src/machines/subagent/worktree-machine.ts';
import { settled } from '../support/manual-runner.ts';
import { modelRuns } from '../support/model-runs.ts';
import {
  createMemoryLog,
  createMemoryRecords,
  createMemoryWorktrees,
  createScriptedRunner,
  jobRequest,
} from '../support/scripted-subagents.ts';

const LIMIT_MS = 1_000;

const scenarios = fc.record({
  content: fc.constantFrom('clean' as const, 'clean' as const, 'dirty' as const, 'unknown' as const),
  prepare: fc.oneof(
    { weight: 8, arbitrary: fc.constant('ok' as const) },
    { weight: 1, arbitrary: fc.constantFrom('throws' as const, 'invalid' as const) },
  ),
  createHook: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('none' as const, 'ok' as const) },
    { weight: 1, arbitrary: fc.constantFrom('throws' as const, 'hangs' as const, 'stops late' as const) },
  ),
  begin: fc.oneof(
    { weight: 6, arbitrary: fc.constant('ok' as const) },
    { weight: 1, arbitrary: fc.constantFrom('throws' as const, 'hangs' as const) },
  ),
  start: fc.oneof(
    { weight: 6, arbitrary: fc.constant('ok' as const) },
    { weight: 1, arbitrary: fc.constantFrom('throws' as const, 'rejects' as const) },
  ),
  end: fc.constantFrom('done' as const, 'done' as const, 'fails' as const, 'cancelled' as const, 'unproven' as const),
  inspect: fc.oneof(
    { weight: 6, arbitrary: fc.constant('ok' as const) },
    { weight: 1, arbitrary: fc.constantFrom('throws' as const, 'hangs' as const) },
  ),
  remove: fc.oneof(
    { weight: 4, arbitrary: fc.constant('ok' as const) },
    { weight: 1, arbitrary: fc.constantFrom('throws' as const, 'hangs' as const) },
  ),
  preserve: fc.constantFrom('ok' as const, 'throws' as const),
  removeHook: fc.constantFrom('none' as const, 'ok' as const, 'throws' as const, 'hangs' as const),
  cancelAt: fc.oneof(
    { weight: 4, arbitrary: fc.constant('never' as const) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        'prepare' as const,
        'hook' as const,
        'begin' as const,
        'start' as const,
        'inspect' as const,
        'remove' as const,
      ),
    },
  ),
});

type Scenario = typeof scenarios extends fc.Arbitrary<infer Value> ? Value : never;

interface Expected {
  readonly status: string;
  readonly state: string;
  readonly isThere: boolean;
  readonly removals: number;
}

/** The rules, with no promise in them. */
function expectedOf(of: Scenario): Expected {
  if (of.cancelAt === 'prepare')
    return of.prepare === 'throws' ? nothing('cancelled') : nothing('cancelled', of.prepare);
  if (of.prepare !== 'ok') return nothing('failed', of.prepare);
  const isStoppedAtHook = of.cancelAt === 'hook' && of.createHook !== 'none';
  if (of.createHook === 'hangs') return kept(isStoppedAtHook ? 'cancelled' : 'failed');
  if (isStoppedAtHook || of.createHook === 'throws' || of.createHook === 'stops late')
    return undone(of, isStoppedAtHook, false);
  const isDoubtful = of.begin !== 'ok';
  if (of.cancelAt === 'begin') return cleanedUp(of, 'cancelled', isDoubtful);
  if (of.start !== 'ok') return undone(of, of.cancelAt === 'start', isDoubtful);
  if (of.cancelAt === 'start')
    return of.end === 'unproven' ? kept('cancelled') : cleanedUp(of, 'cancelled', isDoubtful);
  if (of.end === 'unproven') return kept('cancelled');
  return cleanedUp(of, { done: 'completed', fails: 'failed', cancelled: 'cancelled' }[of.end], isDoubtful);
}

/** A job that has not begun is still being prepared while what was made for it is undone: it can be stopped then. */
function undone(of: Scenario, isStopped: boolean, isDoubtful: boolean): Expected {
  const left = cleanedUp(of, 'failed', isDoubtful);
  const isStoppedNow = of.cancelAt === 'inspect' || (of.cancelAt === 'remove' && left.removals > 0);
  return { ...left, status: isStopped || isStoppedNow ? 'cancelled' : 'failed' };
}

function nothing(status: string, prepare = 'throws'): Expected {
  return { status, state: prepare === 'invalid' ? 'orphaned' : 'absent', isThere: false, removals: 0 };
}

function kept(status: string, removals = 0): Expected {
  return { status, state: 'preserved', isThere: true, removals };
}

function cleanedUp({ content, inspect, remove }: Scenario, status: string, isDoubtful: boolean): Expected {
  if (isDoubtful || inspect !== 'ok' || content !== 'clean') return kept(status);
  return remove === 'ok' ? { status, state: 'removed', isThere: false, removals: 1 } : kept(status, 1);
}

async function settledDeep(): Promise<void> {
  for (let turn = 0; turn < 6; turn += 1) await settled();
}

const never = (): Promise<never> => new Promise(() => undefined);

async function lived(
  of: Scenario,
): Promise<
  Expected & { readonly states: readonly string[]; readonly result: string | undefined; readonly timers: number }
> {
  const clock = createSimulatedClock();
  const states: string[] = [];
  const worktrees = createMemoryWorktrees();
  const inner = createScriptedRunner();
  const stop = async (at: Scenario['cancelAt']): Promise<void> => {
    if (of.cancelAt !== at) return;
    void manager.cancel('agent_1', 'model').catch(() => undefined);
    await settledDeep();
  };
  worktrees.content = of.content;
  worktrees.before = async (method) => {
    await stop(method as Scenario['cancelAt']);
    const how = (of as Record<string, unknown>)[method];
    if (how === 'throws') throw new Error(`${method} failed`);
    if (how === 'hangs') await never();
  };
  if (of.prepare === 'invalid') worktrees.prepare = async () => (await stop('prepare'), { worktreePath: '' }) as never;
  inner.onStart = ({ jobId }) => {
    const work = inner.of(jobId);
    if (of.end === 'unproven') work.onCancel = () => Promise.reject(new Error('pid 7 lives'));
    if (of.start === 'throws' && of.cancelAt !== 'start') throw new Error('start failed');
    return (async () => {
      await stop('start');
      if (of.start !== 'ok') throw new Error('start failed');
    })();
  };
  const hook =
    (how: string): WorktreeHookFunction =>
    async (_input, { signal }) => {
      if (_input.hook_event_name === 'WorktreeCreate') await stop('hook');
      if (how === 'throws') throw new Error('hook failed');
      if (how === 'hangs') await never();
      if (how === 'stops late')
        await new Promise<void>((resolve) =>
          signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve()),
        );
    };
  const runner = createWorktreeSubagentRunner({
    runner: inner,
    worktreeAdapter: worktrees,
    clock,
    hookTimeoutMs: LIMIT_MS,
    adapterTimeoutMs: LIMIT_MS,
    hooks: {
      ...(of.createHook === 'none' ? {} : { WorktreeCreate: hook(of.createHook) }),
      ...(of.removeHook === 'none' ? {} : { WorktreeRemove: hook(of.removeHook) }),
    },
  });
  const inspect = (event: InspectionEvent): void => {
    if (event.type === '@xstate.snapshot' && (event.actorRef as AnyActorRef).id === 'agent_1.worktree')
      states.push((event.snapshot as unknown as { value: string }).value);
  };
  const manager = new SubagentManager({
    runner,
    records: createMemoryRecords(),
    log: createMemoryLog(),
    clock,
    inspect,
    agentIdleTimeoutMs: 0,
    cancelDeadlineMs: 0,
  });
  const { id } = await manager.spawn(jobRequest({ isolation: 'worktree' }));
  const passTime = async (): Promise<void> => {
    // Hooks have ten seconds to stop once their time is over.
    for (let step = 0; step < 6; step += 1) {
      await settledDeep();
      await clock.advance(step % 2 === 0 ? LIMIT_MS : 10_000);
    }
    await settledDeep();
  };
  await passTime();
  const [work] = inner.works;
  if (of.end === 'done') work?.resolve({ output: 'Fixed.' });
  else if (of.end === 'fails') work?.reject(new Error('broken'));
  else void manager.cancel(id, 'end').catch(() => undefined);
  await passTime();
  const job = manager.get(id);
  const removals = worktrees.calls.filter((call) => call === 'remove').length;
  await manager.shutdown();
  return {
    status: job?.status ?? '',
    state: states.at(-1) ?? '',
    isThere: worktrees.present.size > 0,
    removals,
    states,
    result: job?.result,
    timers: clock.pendingTimers,
  };
}

describe('a worktree of a job', () => {
  it('comes to the end that the rules say, whatever goes wrong', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (of) => {
        const { states, result, timers, ...real } = await lived(of);
        const expected = expectedOf(of);
        expect(real).toEqual(expected);
        expect(timers).toBe(0);
        if (real.status === 'completed') expect(result).toBe('Fixed.');
        for (const [at, value] of states.entries()) {
          const before = states[at - 1];
          if (before === undefined || before === value) continue;
          const from = worktreeLifecycle.snapshots.find((snapshot) => snapshot.value === before);
          const reachable =
            from === undefined ? [] : worktreeLifecycle.events.map((type) => worktreeLifecycle.next(from, type)?.value);
          expect(reachable).toContain(value);
        }
      }),
      modelRuns(200),
    );
  });
});
