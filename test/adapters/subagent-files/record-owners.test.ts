/**
 * Whose records of jobs are, when some of the processes run in other containers: where their pids mean other processes.
 */
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HostLife } from '../../../src/actors/host/host-life.ts';
import type { JobRecords } from '../../../src/actors/subagent/job-records.ts';
import { createHostLife } from '../../../src/adapters/host-life/socket-host-life.ts';
import { createFileJobRecords } from '../../../src/adapters/subagent-files/file-job-records.ts';
import { jobRecord as make } from '../../contracts/job-records.contract.ts';

let home: string;
let theirs: HostLife;
let ours: HostLife;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'owners-'));
  const directory = join(home, 'hosts');
  [theirs, ours] = [createHostLife({ directory }), createHostLife({ directory })];
});
afterEach(async () => {
  for (const life of [theirs, ours]) await life.close();
  await rm(home, { recursive: true, force: true });
});

const open = (hostLife: HostLife | undefined): JobRecords =>
  createFileJobRecords({ directory: join(home, 'subagents'), durability: 'os', hostLife });

interface Owned {
  readonly pid: number;
  readonly system: string;
  readonly token?: string;
}

/** As if whoever wrote the file ran in a pid namespace of its own. */
async function moveElsewhere(name: string): Promise<void> {
  const path = join(home, 'subagents', name);
  const value = JSON.parse(await readFile(path, 'utf8')) as { readonly owner?: Owned } & Owned;
  const moved = (owner: Owned): Owned => ({ ...owner, system: `${owner.system.split('/')[0]}/pid:[1]` });
  await writeFile(
    path,
    JSON.stringify(value.owner === undefined ? moved(value) : { ...value, owner: moved(value.owner) }),
  );
}

describe.runIf(process.platform === 'linux')('a job of a process in another container', () => {
  it("is its own while it lives, and anybody's when it is gone", async () => {
    await open(theirs).create(make);
    await moveElsewhere('agent_1.json');
    const records = open(ours);
    expect(await records.list()).toMatchObject([{ owner: 'alive' }]);
    expect(await records.takeOver('agent_1')).toBeUndefined();
    await theirs.close();
    expect(await records.list()).toMatchObject([{ owner: 'gone' }]);
    expect(await records.takeOver('agent_1')).toMatchObject({ jobId: 'agent_1' });
    expect(await records.list()).toMatchObject([{ owner: 'here' }]);
  });

  it('that it has taken over is its own likewise', async () => {
    const gone = createHostLife({ directory: join(home, 'hosts') });
    await open(gone).create(make);
    await moveElsewhere('agent_1.json');
    await gone.close();
    await open(theirs).takeOver('agent_1');
    await moveElsewhere('agent_1.owner-1');
    expect(await open(ours).list()).toMatchObject([{ owner: 'alive' }]);
    expect(await open(ours).takeOver('agent_1')).toBeUndefined();
    await theirs.close();
    expect(await open(ours).takeOver('agent_1')).toMatchObject({ jobId: 'agent_1' });
    expect(await readdir(join(home, 'subagents'))).toContain('agent_1.owner-2');
  });

  it('counts as alive where nobody can tell', async () => {
    await open(undefined).create(make);
    await moveElsewhere('agent_1.json');
    for (const life of [ours, undefined]) expect(await open(life).list()).toMatchObject([{ owner: 'alive' }]);
  });
});

describe('the record of a job', () => {
  it('carries the token of its process, which is made when there is something to write', async () => {
    await open(ours).list();
    await expect(readdir(join(home, 'hosts'))).rejects.toMatchObject({ code: 'ENOENT' });
    await open(ours).create(make);
    const { owner } = JSON.parse(await readFile(join(home, 'subagents', 'agent_1.json'), 'utf8')) as {
      readonly owner: Owned;
    };
    expect(owner).toMatchObject({ pid: process.pid, token: await ours.token() });
  });

  it('stays with a process that lives here though its socket is gone', async () => {
    await open(theirs).create(make);
    await rm(join(home, 'hosts'), { recursive: true });
    expect(await open(ours).list()).toMatchObject([{ owner: 'here' }]);
  });
});
