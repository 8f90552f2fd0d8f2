/**
 * Jobs in PostgreSQL: numbered over all machines, heard of although their machine never comes back, and taken from
 * nobody who lives.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { SubagentManager } from '../../../src/actors/subagent/subagent-manager.ts';
import { createPostgresJobRecords } from '../../../src/adapters/postgres/job-records.ts';
import type { PostgresJobRecords } from '../../../src/adapters/postgres/job-records.ts';
import type { PostgresDatabase } from '../../../src/adapters/postgres/postgres-database.ts';
import { createFileJobRecords } from '../../../src/adapters/subagent-files/file-job-records.ts';
import { describeJobRecords, jobRecord } from '../../contracts/job-records.contract.ts';
import type { JobRecordsUnderTest } from '../../contracts/job-records.contract.ts';
import { ask } from '../../support/postgres-databases.ts';
import { createMemoryLog, createScriptedRunner, jobRequest } from '../../support/scripted-subagents.ts';
import { losingAnswers, openSharedTables } from '../../support/shared-tables.ts';
import type { SharedTables } from '../../support/shared-tables.ts';

let tables: SharedTables;
let home: string;
beforeAll(async () => void (tables = await openSharedTables()));
beforeEach(async () => {
  await tables.clear();
  home = await mkdtemp(join(tmpdir(), 'jobs-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));
afterAll(() => tables.drop());

const clock = createSimulatedClock({ now: 0 });
const SILENCE_MS = 60_000;

type More = Partial<Parameters<typeof createPostgresJobRecords>[0]>;

function records(machine: string, database: PostgresDatabase = tables.one, more: More = {}): PostgresJobRecords {
  return createPostgresJobRecords({
    database,
    clock,
    place: `place-of-${machine}`,
    machine,
    outputs: createFileJobRecords({ directory: join(home, machine), durability: 'os' }),
    ...more,
  });
}

/** Nobody who is there now has renewed anything for too long. */
const silence = async (): Promise<void> =>
  void (await ask(tables.url, `UPDATE wakechart.job_owner SET alive_until = clock_timestamp() - interval '1 second'`));

async function opened(
  wrap: (database: PostgresDatabase) => PostgresDatabase = (database) => database,
): Promise<JobRecordsUnderTest> {
  const views: PostgresJobRecords[] = [];
  const open = (): PostgresJobRecords => {
    const view = records('here', wrap(views.length % 2 === 0 ? tables.one : tables.other));
    views.push(view);
    return view;
  };
  return { open, orphan: silence, dispose: async () => void (await Promise.all(views.map((view) => view.close()))) };
}

describeJobRecords('in a database', () => opened());
describeJobRecords('in a database whose answers are lost', () => opened(losingAnswers));

describe('records of jobs in a database', () => {
  it('are those of whoever gives a sign of life now and then, for as long as there are any', async () => {
    const busy = records('a');
    const { jobId } = await busy.create(jobRecord);
    const aliveUntil = async (): Promise<number> =>
      (
        await ask<{ readonly alive_until: Date }>(tables.url, 'SELECT alive_until FROM wakechart.job_owner')
      )[0]?.alive_until.getTime() ?? 0;
    await silence();
    const before = await aliveUntil();
    await clock.advance(SILENCE_MS / 6);
    while ((await aliveUntil()) === before);
    expect(await records('b').list()).toMatchObject([{ owner: 'alive', elsewhere: 'a' }]);
    expect(await records('b').takeOver(jobId)).toBeUndefined();
    await busy.write({ ...jobRecord(jobId), stage: 'ended' });
    await busy.close();
  });

  it('are to be had at once from a process of the same machine that is known to be dead, and from none that lives', async () => {
    const alive = new Set(['one']);
    const lifeOf = (token: string) => ({
      hostLife: { token: async () => token, isAlive: async (asked: string) => alive.has(asked) },
    });
    const [one, two] = [records('a', tables.one, lifeOf('one')), records('a', tables.other, lifeOf('two'))];
    const { jobId } = await one.create(jobRecord);
    await silence();
    expect(await two.list()).toMatchObject([{ owner: 'alive' }]);
    alive.clear();
    expect(await two.takeOver(jobId)).toEqual(jobRecord(jobId));
    expect(await two.list()).toEqual([{ kind: 'record', record: jobRecord(jobId), owner: 'here' }]);
    await Promise.all([one.close(), two.close()]);
  });

  it('are no longer those of who was silent for too long: what it says of their end counts for nothing', async () => {
    const [frozen, other] = [records('a'), records('b', tables.other)];
    const { jobId } = await frozen.create(jobRecord);
    await silence();
    expect(await other.takeOver(jobId)).toEqual(jobRecord(jobId));
    await frozen.write({ ...jobRecord(jobId), stage: 'ended' });
    expect(await other.list()).toMatchObject([{ owner: 'here', record: { stage: 'accepted' } }]);
    await Promise.all([frozen.close(), other.close()]);
  });

  it.each(['not json', '[]', '{"record":{}}', 'null'])('that read %j are set aside and never deleted', async (text) => {
    const some = records('a');
    const { jobId } = await some.create(jobRecord);
    await ask(tables.url, 'UPDATE wakechart.job SET body = $1', [text]);
    expect(await some.list()).toEqual([{ kind: 'unreadable', jobId, reason: expect.any(String) as string }]);
    expect(await some.takeOver(jobId)).toBeUndefined();
    expect(await some.list()).toEqual([]);
    expect(await ask(tables.url, 'SELECT body FROM wakechart.job')).toEqual([{ body: text }]);
    await some.close();
  });

  it('of a later version stay where they are', async () => {
    const some = records('a');
    const { jobId } = await some.create(jobRecord);
    await ask(tables.url, 'UPDATE wakechart.job SET body = $1', [JSON.stringify({ ...jobRecord(jobId), version: 9 })]);
    const found = [{ kind: 'unreadable', jobId, reason: expect.stringContaining('version 9') as string }];
    expect([await some.list(), await some.takeOver(jobId), await some.list()]).toEqual([found, undefined, found]);
    await some.close();
  });
});

describe('jobs of a machine that never comes back', () => {
  it('are each settled once by the machines that are left, and say where their worktrees lie', async () => {
    const log = createMemoryLog();
    const lost = records('lost');
    const worktreePath = '/worktrees/of/lost';
    for (let index = 0; index < 6; index += 1) {
      const { task, ...record } = await lost.create(jobRecord);
      await lost.write({ ...record, task: { ...task, isolation: 'worktree', worktreePath, branchName: 'job' } });
    }
    await silence();
    const left = ['b', 'c'].map((machine) => records(machine));
    const managers = left.map((some) => new SubagentManager({ runner: createScriptedRunner(), log, records: some }));
    const reports = (await Promise.all(managers.map((manager) => manager.reconcile()))).flat();
    expect(reports.filter(({ action }) => action === 'settled')).toHaveLength(6);
    expect(log.told.map(([what]) => what)).toEqual(Array.from({ length: 6 }, () => 'ended'));
    const [report] = reports;
    expect(reports.find(({ action }) => action === 'settled')).toMatchObject({
      worktreePath,
      nextAction: expect.stringContaining('lies on lost') as string,
    });
    expect(report).toBeDefined();
    const { id } = (await managers[0]?.spawn(jobRequest())) ?? { id: '' };
    expect(reports.map(({ jobId }) => jobId)).not.toContain(id);
    await Promise.all(managers.map((manager) => manager.shutdown()));
    await Promise.all([lost, ...left].map((some) => some.close()));
  });
});
