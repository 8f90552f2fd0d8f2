/** What every place of records of jobs does. Each implementation runs these tests. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { JobRecords } from '../../src/actors/subagent/job-records.ts';
import type { JobRecord } from '../../src/machines/subagent/job-record.ts';
import { codeOf } from './event-store.contract.ts';

export interface JobRecordsUnderTest {
  /** Another view of the same records, as another process has one. */
  open(): JobRecords;
  /** Makes all records that are there those of a process that is gone. */
  orphan(): Promise<void>;
  dispose(): Promise<void>;
}

export const jobRecord = (jobId: string): JobRecord => ({
  version: 1,
  jobId,
  stage: 'accepted',
  acceptedAt: '2026-01-01T00:00:00.000Z',
  request: { kind: 'agent', prompt: 'Fix it.' },
  task: {
    id: jobId,
    kind: 'agent',
    label: 'x',
    status: 'queued',
    mode: 'background',
    parentSessionId: 's',
    depth: 0,
    cwd: '/',
    updatedAt: '',
    unread: false,
  },
});

const numberOf = ({ jobId }: JobRecord): number => Number(/^agent_(?<number>\d+)$/.exec(jobId)?.groups?.['number']);

export function describeJobRecords(name: string, open: () => Promise<JobRecordsUnderTest>): void {
  const using = async (body: (test: JobRecordsUnderTest) => Promise<void>): Promise<void> => {
    const test = await open();
    try {
      await body(test);
    } finally {
      await test.dispose();
    }
  };

  describe(`records of jobs ${name}`, () => {
    it('are none where nobody has made any', () => using(async (test) => expect(await test.open().list()).toEqual([])));

    it('are numbered over all who make them, also at once', () =>
      using(async (test) => {
        const views = Array.from({ length: 4 }, () => test.open());
        const made = await Promise.all(
          Array.from({ length: 10 }, () => views).flatMap((each) => each.map((view) => view.create(jobRecord))),
        );
        expect(new Set(made.map(numberOf)).size).toBe(40);
        expect(Math.min(...made.map(numberOf))).toBeGreaterThan(0);
        expect(await test.open().list()).toHaveLength(40);
      }));

    it('never have a number again, also when jobs are made and closed at once', () =>
      using(async (test) => {
        const seen: number[] = [];
        const live = async (view: JobRecords): Promise<void> => {
          for (let turn = 0; turn < 15; turn += 1) {
            const record = await view.create(jobRecord);
            seen.push(numberOf(record));
            await view.remove(record.jobId);
          }
        };
        await Promise.all([test.open(), test.open(), test.open()].map(live));
        const next = await test.open().create(jobRecord);
        expect(new Set([...seen, numberOf(next)]).size).toBe(46);
        expect(numberOf(next)).toBeGreaterThan(Math.max(...seen));
      }));

    it('belong to the process that made them, and are seen by all', () =>
      using(async (test) => {
        const records = test.open();
        const record = await records.create(jobRecord);
        expect(record).toEqual(jobRecord(record.jobId));
        expect(await records.list()).toEqual([{ kind: 'record', record, owner: 'here' }]);
        await records.write({ ...record, stage: 'ending' });
        expect(await test.open().list()).toMatchObject([{ record: { ...record, stage: 'ending' } }]);
      }));

    it('are listed in the order of their numbers', () =>
      using(async (test) => {
        const records = test.open();
        const made: string[] = [];
        for (let index = 0; index < 11; index += 1) made.push((await records.create(jobRecord)).jobId);
        expect((await test.open().list()).map((found) => (found.kind === 'record' ? found.record.jobId : ''))).toEqual(
          made,
        );
      }));

    it('do not come back once they were closed', () =>
      using(async (test) => {
        const records = test.open();
        const record = await records.create(jobRecord);
        await records.remove(record.jobId);
        await records.remove(record.jobId);
        await records.write(record);
        expect(await records.list()).toEqual([]);
      }));

    it('of a process that is gone go to one of those who want them', () =>
      using(async (test) => {
        const { jobId } = await test.open().create(jobRecord);
        await test.orphan();
        expect(await test.open().list()).toMatchObject([{ owner: 'gone' }]);
        const views = Array.from({ length: 8 }, () => test.open());
        const taken = await Promise.all(views.map((view) => view.takeOver(jobId)));
        expect(taken.filter((record) => record !== undefined)).toEqual([jobRecord(jobId)]);
      }));

    it('go to the next when the one that had them died over them', () =>
      using(async (test) => {
        const { jobId } = await test.open().create(jobRecord);
        for (let death = 0; death < 3; death += 1) {
          await test.orphan();
          expect(await test.open().takeOver(jobId)).toEqual(jobRecord(jobId));
        }
      }));

    it('are not taken over once they are whole, or were closed', () =>
      using(async (test) => {
        const records = test.open();
        const record = await records.create(jobRecord);
        const closed = await records.create(jobRecord);
        await records.write({ ...record, stage: 'ended' });
        await records.remove(closed.jobId);
        await test.orphan();
        for (const { jobId } of [record, closed]) expect(await test.open().takeOver(jobId)).toBeUndefined();
      }));

    it('have ids of one form', () =>
      using(async (test) => {
        for (const jobId of ['../agent_1', 'agent_', 'agent_0', 'agent_1/..', ''])
          expect(await codeOf(test.open().remove(jobId))).toBe('JOB_ID_INVALID');
      }));

    it('keep an output that is large, whole', () =>
      using(async (test) => {
        const records = test.open();
        const { jobId } = await records.create(jobRecord);
        const output = 'é'.repeat(100_000);
        const { path, bytes } = await records.keepOutput(jobId, output);
        expect([await readFile(path, 'utf8'), bytes]).toEqual([output, 200_000]);
        await records.remove(jobId);
        await expect(readFile(path)).rejects.toMatchObject({ code: 'ENOENT' });
      }));
  });
}
