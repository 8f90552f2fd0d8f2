/**
 * Pairs that race over one job, with its records in the order of a scheduler: one end, which is told once and stored
 * before it is told, and nothing of it runs.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { SubagentManager } from '../../../src/actors/subagent/subagent-manager.ts';
import { settled } from '../../support/manual-runner.ts';
import { modelRuns } from '../../support/model-runs.ts';
import { inTurn } from '../../support/racing-store.ts';
import {
  createMemoryLog,
  createMemoryRecords,
  createScriptedRunner,
  jobRequest,
} from '../../support/scripted-subagents.ts';
import type { MemoryLog, MemoryRecords, ScriptedRunner } from '../../support/scripted-subagents.ts';

interface Setup {
  readonly manager: SubagentManager;
  readonly runner: ScriptedRunner;
  readonly records: MemoryRecords;
  readonly log: MemoryLog;
}

function open(scheduler: fc.Scheduler): Setup {
  const records = createMemoryRecords();
  const log = createMemoryLog();
  const runner = createScriptedRunner();
  records.before = (call) => scheduler.schedule(Promise.resolve(), call);
  return {
    manager: new SubagentManager({
      runner,
      records,
      log,
      clock: createSimulatedClock(),
      agentIdleTimeoutMs: 0,
      cancelDeadlineMs: 0,
    }),
    runner,
    records,
    log,
  };
}

const LIVING = ['queued', 'running'];

function expectOneEndEach({ manager, records, log }: Setup): void {
  for (const { id, status } of manager.list()) {
    expect([id, LIVING.includes(status)]).toEqual([id, false]);
    expect([id, records.stored.get(id)?.stage, records.stored.get(id)?.task.status]).toEqual([id, 'ended', status]);
    expect([id, log.told.flatMap(([what, job]) => (what === 'ended' && job.jobId === id ? [job.status] : []))]).toEqual(
      [id, [status]],
    );
  }
  const [starts, ends] = (['started', 'ended'] as const).map(
    (what) => log.told.filter(([each]) => each === what).length,
  );
  expect(starts).toBe(ends);
}

async function quiet(scheduler: fc.Scheduler): Promise<void> {
  for (let turn = 0; turn < 30; turn += 1) {
    await scheduler.waitIdle();
    await settled();
  }
}

describe('a cancel that races the end of a job', () => {
  it('leaves one end, stored and told once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.boolean(), async (scheduler, isDone) => {
        const setup = open(scheduler);
        const { id } = await scheduler.waitFor(setup.manager.spawn(jobRequest()));
        await quiet(scheduler);
        const cancel = inTurn(scheduler, 'cancel', () => setup.manager.cancel(id, 'enough'));
        const end = inTurn(scheduler, 'end', async () =>
          isDone ? setup.runner.of(id).resolve() : setup.runner.of(id).reject(new Error('broken')),
        );
        await scheduler.waitFor(Promise.all([cancel(), end()]));
        await quiet(scheduler);
        expect(['cancelled', isDone ? 'completed' : 'failed']).toContain(setup.manager.get(id)?.status);
        expectOneEndEach(setup);
        await setup.manager.shutdown();
      }),
      modelRuns(20),
    );
  });
});

describe('a shutdown that races spawns of jobs', () => {
  it('refuses them or ends them, and leaves no record of one that lives', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 1, max: 3 }), async (scheduler, count) => {
        const setup = open(scheduler);
        let refused = 0;
        const spawn = inTurn(scheduler, 'spawn', () =>
          setup.manager.spawn(jobRequest()).then(
            () => undefined,
            () => void (refused += 1),
          ),
        );
        const shutDown = inTurn(scheduler, 'shutdown', () => setup.manager.shutdown('enough'));
        await scheduler.waitFor(Promise.all([shutDown(), ...Array.from({ length: count }, () => spawn())]));
        await quiet(scheduler);
        expectOneEndEach(setup);
        expect(setup.manager.list().length + refused).toBe(count);
        expect([...setup.records.stored.values()].filter(({ stage }) => stage !== 'ended')).toEqual([]);
      }),
      modelRuns(20),
    );
  });
});

describe('what the races are judged by', () => {
  it('finds an end that was told twice, and a record that still lives', async () => {
    const scheduler = fc.sample(fc.scheduler(), 1)[0] as fc.Scheduler;
    const setup = open(scheduler);
    const { id } = await scheduler.waitFor(setup.manager.spawn(jobRequest()));
    await scheduler.waitFor(setup.manager.shutdown());
    expectOneEndEach(setup);
    const end = setup.log.told.findLast(([what]) => what === 'ended');
    if (end === undefined) throw new Error('no end was told');
    expect(() => expectOneEndEach({ ...setup, log: { ...setup.log, told: [...setup.log.told, end] } })).toThrow();
    const record = setup.records.stored.get(id);
    if (record === undefined) throw new Error('there is no record');
    setup.records.stored.set(id, { ...record, stage: 'accepted' });
    expect(() => expectOneEndEach(setup)).toThrow();
  });
});
