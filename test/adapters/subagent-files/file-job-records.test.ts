/** Records of jobs on a real disk, with real processes that live and die. */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobRecords } from '../../../src/actors/subagent/job-records.ts';
import { createFileJobRecords } from '../../../src/adapters/subagent-files/file-job-records.ts';
import type { JobRecord } from '../../../src/machines/subagent/job-record.ts';
import { describeJobRecords, jobRecord as make } from '../../contracts/job-records.contract.ts';

let directory = '';

beforeEach(async () => {
  directory = join(await mkdtemp(join(tmpdir(), 'jobs-')), 'subagents');
});

afterEach(async () => {
  await rm(join(directory, '..'), { recursive: true, force: true });
});

/** Another view of the same records, as another process has one. */
const open = (): JobRecords => createFileJobRecords({ directory, durability: 'os' });

interface Stored {
  readonly owner: { pid: number; began: string; system: string };
  readonly record: JobRecord;
}

const pathOf = (jobId: string): string => join(directory, `${jobId}.json`);
const stored = async (jobId: string): Promise<Stored> => JSON.parse(await readFile(pathOf(jobId), 'utf8')) as Stored;
const began = (pid: number): string => {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
};

/** Makes the record that of a process of its own, which can be killed. */
async function handTo(jobId: string): Promise<{ kill(): Promise<void> }> {
  const child = spawn('sleep', ['1000'], { stdio: 'ignore' });
  const pid = child.pid ?? 0;
  const { owner, record } = await stored(jobId);
  await writeFile(pathOf(jobId), JSON.stringify({ owner: { ...owner, pid, began: began(pid) }, record }));
  return {
    kill: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGKILL');
      }),
  };
}

/** Makes the record that of a process that is not there. */
async function orphan(jobId: string): Promise<void> {
  const { owner, record } = await stored(jobId);
  await writeFile(pathOf(jobId), JSON.stringify({ owner: { ...owner, began: '1' }, record }));
}

describeJobRecords('in files', async () => ({
  open,
  orphan: async () => {
    for (const name of await readdir(directory)) {
      const path = join(directory, name);
      if (name === 'closed') continue;
      const { owner, ...rest } = JSON.parse(await readFile(path, 'utf8')) as { readonly owner?: object };
      // Whose a record became says that itself.
      await writeFile(
        path,
        JSON.stringify(owner === undefined ? { ...rest, began: '1' } : { ...rest, owner: { ...owner, began: '1' } }),
      );
    }
  },
  dispose: async () => undefined,
}));

describe('the ids of jobs', () => {
  it('are counted over all who make them, also at once', async () => {
    const views = Array.from({ length: 4 }, open);
    const made = await Promise.all(
      Array.from({ length: 10 }, () => views).flatMap((each) => each.map((view) => view.create(make))),
    );
    expect(made.map(({ jobId }) => Number(jobId.slice('agent_'.length))).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 40 }, (_, index) => index + 1),
    );
    expect(await readdir(directory)).toHaveLength(40);
  });

  it('are not given again after their job was closed, whoever closed it and whoever asks', async () => {
    const [one, two] = [open(), open()];
    await one.create(make);
    await two.create(make);
    await one.create(make);
    for (const jobId of ['agent_3', 'agent_1', 'agent_2']) await two.remove(jobId);
    expect(await readdir(directory)).toEqual(['closed']);
    expect((await one.create(make)).jobId).toBe('agent_4');
    await one.remove('agent_4');
    expect((await two.create(make)).jobId).toBe('agent_5');
    expect((await open().create(make)).jobId).toBe('agent_6');
    expect(await readdir(join(directory, 'closed'))).toEqual(['4']);
  });

  it('of a record that cannot be read, or that is kept aside, are taken', async () => {
    await mkdir(directory, { recursive: true });
    await writeFile(pathOf('agent_7'), 'torn');
    await open().takeOver('agent_7');
    expect((await open().create(make)).jobId).toBe('agent_8');
  });
});

describe('a record', () => {
  it('is there for this user only, whole, and belongs to this process', async () => {
    const records = createFileJobRecords({ directory });
    const record = await records.create(make);
    expect(record).toEqual(make('agent_1'));
    expect((await stat(pathOf('agent_1'))).mode & 0o777).toBe(0o600);
    expect(await records.list()).toEqual([{ kind: 'record', record, owner: 'here' }]);
    await records.write({ ...record, stage: 'ended' });
    expect(await records.list()).toEqual([{ kind: 'record', record: { ...record, stage: 'ended' }, owner: 'here' }]);
    expect((await readdir(directory)).filter((name) => name.endsWith('.draft'))).toEqual([]);
  });

  it.each(['not json', '[]', '{"record":{}}', 'null'])('that reads %j is set aside and never deleted', async (text) => {
    const records = open();
    await records.create(make);
    await writeFile(pathOf('agent_1'), text);
    const found = [{ kind: 'unreadable', jobId: 'agent_1', reason: expect.any(String) as string }];
    // Whoever only checks leaves it where it is.
    expect([await records.list(), await records.list()]).toEqual([found, found]);
    expect(await readdir(directory)).toEqual(['agent_1.json']);
    expect(await records.takeOver('agent_1')).toBeUndefined();
    expect(await records.list()).toEqual([]);
    const [aside = ''] = (await readdir(directory)).filter((name) => name.endsWith('.unreadable'));
    expect(await readFile(join(directory, aside), 'utf8')).toBe(text);
  });

  it('of a later version stays where it is', async () => {
    const records = open();
    await records.create(make);
    const { owner, record } = await stored('agent_1');
    await writeFile(pathOf('agent_1'), JSON.stringify({ owner, record: { ...record, version: 9 } }));
    const found = [{ kind: 'unreadable', jobId: 'agent_1', reason: expect.stringContaining('version 9') }];
    expect([await records.list(), await records.takeOver('agent_1'), await records.list()]).toEqual([
      found,
      undefined,
      found,
    ]);
  });

  it('has an id that cannot climb out of its folder', async () => {
    for (const jobId of ['../agent_1', 'agent_', 'agent_0', 'agent_1/..', ''])
      await expect(open().remove(jobId)).rejects.toMatchObject({ code: 'JOB_ID_INVALID' });
  });

  it('that cannot be written says where and what to do', async () => {
    await writeFile(directory, 'a file');
    await expect(open().create(make)).rejects.toMatchObject({
      code: 'JOB_RECORDS_STORAGE',
      category: 'storage',
      hint: expect.any(String),
    });
  });

  it('leaves no draft behind when its writer dies over it', async () => {
    const records = open();
    await records.create(make);
    const draft = join(directory, 'agent_1.json.x.draft');
    const young = join(directory, 'agent_1.json.y.draft');
    for (const path of [draft, young]) await writeFile(path, '{');
    await utimes(draft, new Date(0), new Date(0));
    await records.list();
    expect(await readdir(directory)).toHaveLength(3);
    await open().create(make);
    expect(await readdir(directory)).toEqual(['agent_1.json', 'agent_1.json.y.draft', 'agent_2.json']);
  });
});

describe('a record of another process', () => {
  it('is left alone while that lives, and to be had when it was killed', async () => {
    const records = open();
    await records.create(make);
    const { kill } = await handTo('agent_1');
    expect((await records.list())[0]).toMatchObject({ owner: 'alive' });
    expect(await records.takeOver('agent_1')).toBeUndefined();
    await kill();
    expect((await records.list())[0]).toMatchObject({ owner: 'gone' });
    expect(await records.takeOver('agent_1')).toEqual(make('agent_1'));
    expect((await records.list())[0]).toMatchObject({ owner: 'here' });
  });

  it('with the same pid, or of another start of the system, is that of a process that is gone', async () => {
    const records = open();
    await records.create(make);
    await orphan('agent_1');
    expect((await records.list())[0]).toMatchObject({ owner: 'gone' });
    const { owner, record } = await stored('agent_1');
    await writeFile(
      pathOf('agent_1'),
      JSON.stringify({ owner: { ...owner, began: began(process.pid), system: 'an earlier boot' }, record }),
    );
    expect((await records.list())[0]).toMatchObject({ owner: 'gone' });
  });

  it('goes to the next when the one that had it died over it', async () => {
    await open().create(make);
    await orphan('agent_1');
    await open().takeOver('agent_1');
    const claim = join(directory, 'agent_1.owner-1');
    const owner = JSON.parse(await readFile(claim, 'utf8')) as object;
    await writeFile(claim, JSON.stringify({ ...owner, began: '2' }));
    expect((await open().list())[0]).toMatchObject({ owner: 'gone' });
    expect(await open().takeOver('agent_1')).toEqual(make('agent_1'));
    expect(await open().takeOver('agent_1')).toBeUndefined();
    await open().remove('agent_1');
    expect(await readdir(directory)).toEqual(['closed']);
  });

  it.each(['', '{', 'null', '{"pid":"x"}'])('whose next owner cannot be told from %j goes to another', async (text) => {
    const records = open();
    await records.create(make);
    await records.create(make);
    await orphan('agent_1');
    await writeFile(join(directory, 'agent_1.owner-1'), text);
    expect(await records.list()).toMatchObject([
      { record: { jobId: 'agent_1' }, owner: 'gone' },
      { record: { jobId: 'agent_2' }, owner: 'here' },
    ]);
    expect(await records.takeOver('agent_1')).toEqual(make('agent_1'));
    expect((await open().list())[0]).toMatchObject({ owner: 'here' });
  });
});

describe('a large output', () => {
  it('lies beside the record, and goes with it', async () => {
    const records = open();
    await records.create(make);
    const output = 'é'.repeat(100_000);
    const kept = await records.keepOutput('agent_1', output);
    expect(kept).toEqual({ path: join(directory, 'agent_1', 'output.txt'), bytes: 200_000 });
    expect(await readFile(kept.path, 'utf8')).toBe(output);
    expect((await stat(kept.path)).mode & 0o777).toBe(0o600);
    await records.remove('agent_1');
    expect(await readdir(directory)).toEqual(['closed']);
  });

  it('is put where it belongs and nowhere else, whatever links lie there', async () => {
    const records = open();
    await records.create(make);
    const elsewhere = join(directory, '..', 'elsewhere');
    await mkdir(elsewhere);
    await writeFile(join(elsewhere, 'output.txt'), 'mine');
    await mkdir(join(directory, 'agent_1'));
    await symlink(join(elsewhere, 'output.txt'), join(directory, 'agent_1', 'output.txt'));
    await records.keepOutput('agent_1', 'the answer');
    expect(await readFile(join(directory, 'agent_1', 'output.txt'), 'utf8')).toBe('the answer');
    await records.create(make);
    await symlink(elsewhere, join(directory, 'agent_2'));
    await expect(records.keepOutput('agent_2', 'the answer')).rejects.toMatchObject({
      code: 'JOB_RECORDS_STORAGE',
      message: expect.stringMatching(/found a link/) as string,
    });
    await records.remove('agent_2');
    expect(await readFile(join(elsewhere, 'output.txt'), 'utf8')).toBe('mine');
    expect(await readdir(elsewhere)).toEqual(['output.txt']);
  });
});

describe('the options of job records', () => {
  it('are checked', () => {
    expect(() => createFileJobRecords({ directory: '' })).toThrow(
      expect.objectContaining({ code: 'JOB_RECORDS_OPTIONS' }),
    );
    expect(() => createFileJobRecords({ directory: 'x', durable: true } as never)).toThrow(
      expect.objectContaining({ code: 'JOB_RECORDS_OPTIONS' }),
    );
  });
});
