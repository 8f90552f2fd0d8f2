/** Who has a worktree in hand: in another container, on another machine, or with a file that says nothing. */
import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HostLife } from '../../../src/actors/host/host-life.ts';
import type { PreparedSubagentWorktree } from '../../../src/actors/subagent/worktree-adapter.ts';
import type { GitWorktreeIsolationAdapter } from '../../../src/adapters/git/git-worktree-adapter.ts';
import { readOwner } from '../../../src/adapters/git/owner-files.ts';
import { createHostLife } from '../../../src/adapters/host-life/socket-host-life.ts';
import type { WorktreeOwner } from '../../../src/machines/subagent/worktree-record.ts';
import { gitSetup, removeTemplate, tracesOf } from './git-setup.ts';
import type { GitSetup } from './git-setup.ts';

let setup: GitSetup;
let theirs: HostLife;
let ours: HostLife;

beforeEach(() => {
  setup = gitSetup();
  const directory = join(setup.outside, 'hosts');
  [theirs, ours] = [createHostLife({ directory }), createHostLife({ directory })];
});
afterEach(async () => {
  for (const life of [theirs, ours]) await life.close();
  setup.remove();
});
afterAll(removeTemplate);

/** Of this boot, where pids mean other processes. */
function inAnotherContainer(): WorktreeOwner {
  const [host, boot] = readOwner().system.split('/');
  return { pid: process.pid, startTime: readOwner().startTime, system: `${host}/${boot}/pid:[1]` };
}

const ON_ANOTHER_MACHINE: WorktreeOwner = { pid: 1, startTime: '1', system: 'another/boot/pid:[1]' };

async function preparedBy(
  adapter: GitWorktreeIsolationAdapter,
): Promise<PreparedSubagentWorktree & { readonly id: string }> {
  const worktree = await adapter.prepare({ jobId: 'agent_1', cwd: setup.repository });
  await adapter.begin(worktree);
  return { ...worktree, id: worktree.id ?? '' };
}

const ownerFile = (): string => join(setup.worktrees, setup.names().find((name) => name.endsWith('.owner')) ?? '');
const makeOld = (path: string): void => utimesSync(path, new Date(0), new Date(0));

describe('a worktree of a process in another container', () => {
  it('is left alone while that lives, by starts and by people, and dealt with when it is gone', async () => {
    const worktree = await preparedBy(setup.adapterWith({ host: inAnotherContainer(), hostLife: theirs }));
    const keeper = setup.adapterWith({ hostLife: ours });
    expect(await keeper.reconcile()).toMatchObject([{ action: 'left' }]);
    expect(await keeper.find(worktree.id)).toMatchObject({ isOwned: true });
    const answered = { code: 'WORKTREE_IN_USE', details: { isUncertain: false } };
    await expect(keeper.adopt(worktree.id, { ownerIsGone: true })).rejects.toMatchObject(answered);
    await expect(keeper.discard(worktree.id, { discard: true, ownerIsGone: true })).rejects.toMatchObject(answered);
    await theirs.close();
    expect(await keeper.find(worktree.id)).toMatchObject({ isOwned: false });
    expect(await keeper.reconcile()).toMatchObject([{ action: 'removed' }]);
    expect(tracesOf(setup, worktree)).toEqual([]);
  });

  it('can be named gone where nobody can tell, and in no other way be had', async () => {
    const worktree = await preparedBy(setup.adapterWith({ host: inAnotherContainer() }));
    const keeper = setup.adapterWith({ hostLife: ours });
    expect(await keeper.reconcile()).toMatchObject([
      { action: 'left', reason: expect.stringContaining('cannot be told from here') as string },
    ]);
    const refused = {
      code: 'WORKTREE_IN_USE',
      details: { isUncertain: true },
      hint: expect.stringContaining('--owner-gone') as string,
    };
    await expect(keeper.discard(worktree.id, { discard: true })).rejects.toMatchObject(refused);
    await expect(keeper.adopt(worktree.id)).rejects.toMatchObject(refused);
    await keeper.adopt(worktree.id, { ownerIsGone: true });
    expect(existsSync(worktree.worktreePath)).toBe(true);
    expect(setup.names()).toEqual([worktree.id]);
  });
});

describe('a worktree of a process on another machine', () => {
  it('is removed when a person says that the process is gone', async () => {
    const worktree = await preparedBy(setup.adapterWith({ host: ON_ANOTHER_MACHINE }));
    const keeper = setup.adapterWith({ hostLife: ours });
    await expect(keeper.discard(worktree.id)).rejects.toMatchObject({ code: 'WORKTREE_IN_USE' });
    await keeper.discard(worktree.id, { ownerIsGone: true });
    expect(tracesOf(setup, worktree)).toEqual([]);
  });
});

describe('a worktree of a process that lives here', () => {
  it('stays its own though its socket was removed', async () => {
    const worktree = await preparedBy(setup.adapterWith({ hostLife: theirs }));
    await theirs.close();
    const stranger = setup.adapterWith({ host: { ...readOwner(), pid: 1, startTime: '0' }, hostLife: ours });
    expect(await stranger.reconcile()).toMatchObject([{ action: 'left' }]);
    await expect(stranger.discard(worktree.id, { discard: true, ownerIsGone: true })).rejects.toMatchObject({
      code: 'WORKTREE_IN_USE',
    });
  });
});

describe('a file that says who has a worktree', () => {
  it('is whole under its name, with the token of its process', async () => {
    await preparedBy(setup.adapterWith({ hostLife: theirs }));
    expect(JSON.parse(readFileSync(ownerFile(), 'utf8'))).toEqual({ ...readOwner(), token: await theirs.token() });
    expect(setup.names().filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it.each(['', '{"pid":', '\0'.repeat(20)])(
    'counts for nothing when it reads %j and is not being written',
    async (content) => {
      const worktree = await setup.crashed();
      writeFileSync(ownerFile(), content);
      expect(await setup.adapter.reconcile()).toMatchObject([{ action: 'left' }]);
      makeOld(ownerFile());
      expect(await setup.adapter.reconcile()).toMatchObject([{ action: 'removed' }]);
      expect(tracesOf(setup, worktree)).toEqual([]);
    },
  );

  it("of another version is somebody's, until a person says that nobody is there", async () => {
    const worktree = await setup.crashed();
    writeFileSync(ownerFile(), JSON.stringify({ process: 'of a later version' }));
    makeOld(ownerFile());
    await expect(setup.adapter.discard(worktree.id ?? '')).rejects.toMatchObject({
      code: 'WORKTREE_IN_USE',
      details: { isUncertain: true },
    });
    await setup.adapter.discard(worktree.id ?? '', { ownerIsGone: true });
    expect(tracesOf(setup, worktree)).toEqual([]);
  });

  it('that is cut short and has no worktree any more is swept away', async () => {
    await setup.adapter.reconcile();
    const worktree = await setup.prepare();
    const left = join(setup.worktrees, 'agent_9-gone.00000000-0000-0000-0000-000000000000.owner');
    writeFileSync(left, '');
    makeOld(left);
    await setup.adapter.reconcile();
    expect(setup.names().filter((name) => name.endsWith('.owner') && !name.startsWith(worktree.id ?? ''))).toEqual([]);
  });
});
