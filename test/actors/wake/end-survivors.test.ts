import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { ReconciledProcessTree } from '../../../src/actors/task/process-tree.ts';
import { END_SURVIVORS_LIMIT_MS, endSurvivors } from '../../../src/actors/wake/end-survivors.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { until } from '../../support/session-setup.ts';

const killed: ReconciledProcessTree = { tag: 'a', action: 'killed', survivors: [] };
const busy: ReconciledProcessTree = { tag: 'b', action: 'left', reason: 'being_reconciled', survivors: [] };
const alive: ReconciledProcessTree = { tag: 'c', action: 'left', reason: 'host_alive', survivors: [] };
const stuck: ReconciledProcessTree = {
  tag: 'd',
  action: 'left',
  reason: 'not_ended',
  survivors: [{ pid: 17, startTime: '1' }],
};

/** Answers that come one after the other; the last one stays. */
function ending(answers: readonly (readonly ReconciledProcessTree[])[]): {
  readonly ended: Promise<string>;
  readonly clock: ReturnType<typeof createSimulatedClock>;
  readonly controller: AbortController;
  checks(): number;
} {
  const clock = createSimulatedClock();
  const controller = new AbortController();
  let checks = 0;
  const reconcile = async (): Promise<readonly ReconciledProcessTree[]> => {
    checks += 1;
    return answers[Math.min(checks, answers.length) - 1] ?? [];
  };
  return {
    ended: codeOf(endSurvivors({ reconcile, clock, signal: controller.signal })),
    clock,
    controller,
    checks: () => checks,
  };
}

describe('the survivors of a dead process', () => {
  it('are gone when a second check finds nobody at work on them', async () => {
    const { ended, clock, checks } = ending([[killed, alive], [alive]]);
    expect(await ended).toBe('it succeeded');
    expect([checks(), clock.pendingTimers]).toEqual([2, 0]);
  });

  it('are waited for while another host ends them', async () => {
    const { ended, clock, checks } = ending([[], [busy], [busy], []]);
    for (const check of [2, 3]) {
      await until(() => checks() === check && clock.pendingTimers === 2);
      await clock.advance(100);
    }
    expect(await ended).toBe('it succeeded');
    expect([checks(), clock.pendingTimers]).toEqual([4, 0]);
  });

  it('are given up when they cannot be ended, and named', async () => {
    const { ended } = ending([[killed, stuck]]);
    expect(await ended).toBe('SURVIVORS_LEFT');
    await expect(
      endSurvivors({
        reconcile: async () => [stuck],
        clock: createSimulatedClock(),
        signal: new AbortController().signal,
      }),
    ).rejects.toThrow('processes 17 did not end');
  });

  it('are given up in time when nobody ever answers', async () => {
    const clock = createSimulatedClock();
    const ended = codeOf(
      endSurvivors({ reconcile: () => new Promise(() => undefined), clock, signal: new AbortController().signal }),
    );
    await clock.advance(END_SURVIVORS_LIMIT_MS);
    expect(await ended).toBe('SURVIVORS_LEFT');
    expect(clock.pendingTimers).toBe(0);
  });

  it('are waited for no longer once the wake is stopped', async () => {
    const { ended, clock, controller, checks } = ending([[busy]]);
    await until(() => checks() === 1 && clock.pendingTimers === 2);
    controller.abort('enough');
    expect(await ended).toBe('it succeeded');
    await until(() => clock.pendingTimers === 0);
    expect(checks()).toBe(1);
  });
});
