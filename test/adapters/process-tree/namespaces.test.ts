/** Records of hosts in other pid namespaces: whose pids mean other processes here. */
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { HostLife } from '../../../src/actors/host/host-life.ts';
import type { ProcessTree, TrackedProcessTree } from '../../../src/actors/task/process-tree.ts';
import { createHostLife } from '../../../src/adapters/host-life/socket-host-life.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import { isRunning, startIn } from './system-processes.ts';

let home: string;
let theirs: HostLife;
let ours: HostLife;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'namespaces-'));
  const directory = join(home, 'hosts');
  [theirs, ours] = [createHostLife({ directory }), createHostLife({ directory })];
});
afterEach(async () => {
  for (const life of [theirs, ours]) await life.close();
  await rm(home, { recursive: true, force: true });
});

const open = (hostLife: HostLife | undefined): ProcessTree =>
  createProcessTree({ clock: createSystemClock(), directory: join(home, 'processes'), hostLife });
const names = (): Promise<string[]> => readdir(join(home, 'processes'));

/** A record as a host wrote it that has `pid` in a namespace of its own. */
async function recordElsewhere({
  hostLife = theirs,
  pid = 7,
}: { readonly hostLife?: HostLife | undefined; readonly pid?: number } = {}): Promise<TrackedProcessTree> {
  const tree = await open(hostLife).prepare({ taskId: 'task_1', commandPreview: '' });
  const path = join(home, 'processes', `${tree.tag}.json`);
  const record = JSON.parse(await readFile(path, 'utf8')) as { readonly host: { readonly boot: string } };
  const [boot] = record.host.boot.split('/');
  await writeFile(
    path,
    JSON.stringify({ ...record, host: { ...record.host, pid, startTime: 1, boot: `${boot}/pid:[1]` } }),
  );
  return tree;
}

async function withoutToken(): Promise<TrackedProcessTree> {
  await theirs.close();
  return recordElsewhere();
}

describe.runIf(process.platform === 'linux')('a record of a host in another namespace', () => {
  it.each(['kill', 'adopt', 'report'] as const)('is left alone by %s while its host lives', async (policy) => {
    const { tag } = await recordElsewhere();
    expect(await open(ours).reconcile({ policy })).toMatchObject([
      { tag, taskId: 'task_1', action: 'left', reason: 'elsewhere', survivors: [] },
    ]);
    expect(await names()).toEqual([`${tag}.json`]);
  });

  it('is left alone where nobody can tell whether its host lives', async () => {
    const { tag } = await withoutToken();
    expect(await open(ours).reconcile()).toMatchObject([{ action: 'left', reason: 'elsewhere' }]);
    expect(await open(undefined).reconcile()).toMatchObject([{ action: 'left', reason: 'elsewhere' }]);
    expect(await names()).toEqual([`${tag}.json`]);
  });

  it('goes when its host, with which its whole namespace has ended, is dead', async () => {
    const { tag } = await recordElsewhere({ pid: 1 });
    await theirs.close();
    expect(await open(ours).reconcile({ policy: 'report' })).toMatchObject([{ action: 'left' }]);
    expect(await open(ours).reconcile()).toMatchObject([{ tag, taskId: 'task_1', action: 'gone', survivors: [] }]);
    expect(await names()).toEqual([]);
  });

  it('stays for the next host there while something of it lives, which is not signalled from here', async () => {
    const tree = await recordElsewhere();
    await theirs.close();
    const { pid } = startIn(tree, 'exec sleep 1000');
    expect(await open(ours).reconcile()).toMatchObject([{ action: 'left', reason: 'elsewhere', survivors: [{ pid }] }]);
    expect(isRunning(pid)).toBe(true);
    expect(await names()).toEqual([`${tree.tag}.json`]);
    process.kill(pid, 'SIGKILL');
  });

  it('of an earlier boot goes, whatever its pids were', async () => {
    const { tag } = await recordElsewhere();
    const path = join(home, 'processes', `${tag}.json`);
    await writeFile(path, (await readFile(path, 'utf8')).replace(/"boot":"[^/]*/, '"boot":"earlier'));
    expect(await open(ours).reconcile()).toMatchObject([{ action: 'gone' }]);
  });
});
