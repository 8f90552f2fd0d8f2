import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstat, mkdir, readFile, readdir, symlink, unlink, utimes, writeFile, lutimes } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WriteLocks } from '../../../src/adapters/file-tools/write-locks.ts';
import { thisProcess } from '../../../src/adapters/system/process-life.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import { refusalOf } from './file-tools-setup.ts';
import { mountedSetup } from './mounted-setup.ts';

const never = (): AbortSignal => new AbortController().signal;

async function lockFolder(): Promise<string> {
  const home = await temporaryHome();
  onTestFinished(() => home.remove());
  return join(home.path, 'locks');
}

/** The link that the lock of a folder is, as another process would make it. */
async function lockedBy(directory: string, text: string): Promise<string> {
  const locks = new WriteLocks({ lockDirectory: directory });
  let name = '';
  await locks.run(
    { realPath: '/some/folder', shown: 'it' },
    async () => {
      [name = ''] = await readdir(directory);
    },
    never(),
  );
  await symlink(text, join(directory, name));
  return join(directory, name);
}

const began = (pid: number): string =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19] ?? '';
const ID = '11111111-1111-4111-8111-111111111111';
const folder = { realPath: '/some/folder', shown: 'the workspace' };

describe('writers of one folder', () => {
  it('take turns, also when each has locks of its own, as processes have', async () => {
    const lockDirectory = await lockFolder();
    const all = Array.from({ length: 6 }, () => new WriteLocks({ lockDirectory }));
    let inside = 0;
    let most = 0;
    let done = 0;
    const write = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      for (let turn = 0; turn < 3; turn += 1) await nextTurn();
      inside -= 1;
      done += 1;
    };
    await Promise.all(all.flatMap((locks) => Array.from({ length: 8 }, () => locks.run(folder, write, never()))));
    expect([most, done]).toEqual([1, 48]);
    expect(await readdir(lockDirectory)).toEqual([]);
  });

  it('of different folders do not wait for each other', async () => {
    const locks = new WriteLocks({ lockDirectory: await lockFolder() });
    expect(
      await locks.run(
        folder,
        () => locks.run({ realPath: '/other', shown: 'other' }, () => Promise.resolve('both'), never()),
        never(),
      ),
    ).toBe('both');
  });

  it('give the lock back when the work fails', async () => {
    const lockDirectory = await lockFolder();
    const locks = new WriteLocks({ lockDirectory });
    await expect(locks.run(folder, () => Promise.reject(new Error('no')), never())).rejects.toThrow('no');
    expect(await readdir(lockDirectory)).toEqual([]);
    expect((await lstat(lockDirectory)).mode & 0o777).toBe(0o700);
  });
});

describe.skipIf(process.platform !== 'linux')('a lock that another process holds', () => {
  it('is waited for within a bound, and the refusal names the process', async () => {
    const lockDirectory = await lockFolder();
    const holder = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] });
    try {
      await once(holder, 'spawn');
      const pid = holder.pid ?? 0;
      await lockedBy(lockDirectory, [ID, pid, began(pid), thisProcess().system].join(' '));
      await expect(
        new WriteLocks({ lockDirectory, maxLockWaitMs: 5 }).run(folder, () => Promise.resolve(), never()),
      ).rejects.toMatchObject({
        code: 'WORKSPACE_BUSY',
        category: 'conflict',
        message: expect.stringContaining(`process ${pid}`),
      });
      const stop = new AbortController();
      const waiting = new WriteLocks({ lockDirectory }).run(folder, () => Promise.resolve(), stop.signal);
      stop.abort(new Error('stop'));
      await expect(waiting).rejects.toThrow('stop');
    } finally {
      const ended = once(holder, 'exit');
      holder.kill('SIGKILL');
      await ended;
    }
    // Its death frees the lock, which nobody has removed.
    expect(await readdir(lockDirectory)).toHaveLength(1);
    await new WriteLocks({ lockDirectory, maxLockWaitMs: 5 }).run(folder, () => Promise.resolve(), never());
    expect(await readdir(lockDirectory)).toEqual([]);
  });

  it('is not taken for that of a dead one whose number somebody else has now', async () => {
    const lockDirectory = await lockFolder();
    await lockedBy(lockDirectory, [ID, process.pid, '1', thisProcess().system].join(' '));
    await new WriteLocks({ lockDirectory, maxLockWaitMs: 5 }).run(folder, () => Promise.resolve(), never());
    expect(await readdir(lockDirectory)).toEqual([]);
  });

  it('of a dead process is removed by one of many at once, and no two write together', async () => {
    const lockDirectory = await lockFolder();
    const path = await lockedBy(lockDirectory, [ID, process.pid, '1', thisProcess().system].join(' '));
    // One who was at removing it has died as well.
    await symlink([ID.replace('1', '2'), process.pid, '2', thisProcess().system].join(' '), `${path}.${ID}.gone`);
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      await nextTurn();
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 12 }, () => new WriteLocks({ lockDirectory }).run(folder, work, never())));
    expect(most).toBe(1);
    expect(await readdir(lockDirectory)).toEqual([]);
  });

  it.each(['nonsense', [ID, '1', '5', 'another-machine'].join(' ')])(
    'of which nobody can tell whether it is held (%s) counts for a while',
    async (text) => {
      const lockDirectory = await lockFolder();
      const path = await lockedBy(lockDirectory, text);
      expect(
        await refusalOf(
          new WriteLocks({ lockDirectory, maxLockWaitMs: 1 }).run(folder, () => Promise.resolve(), never()),
        ),
      ).toBe('WORKSPACE_BUSY');
      await lutimes(path, 1, 1);
      await new WriteLocks({ lockDirectory, maxLockWaitMs: 1 }).run(folder, () => Promise.resolve(), never());
    },
  );

  it('that is a file and no link counts for a while too', async () => {
    const lockDirectory = await lockFolder();
    const path = await lockedBy(lockDirectory, 'x');
    await unlink(path);
    await writeFile(path, '');
    expect(
      await refusalOf(
        new WriteLocks({ lockDirectory, maxLockWaitMs: 1 }).run(folder, () => Promise.resolve(), never()),
      ),
    ).toBe('WORKSPACE_BUSY');
    await utimes(path, 1, 1);
    await new WriteLocks({ lockDirectory, maxLockWaitMs: 1 }).run(folder, () => Promise.resolve(), never());
  });
});

describe('the tools that write', () => {
  it('write one after the other, and wait no longer than they may', async () => {
    const lockDirectory = await lockFolder();
    const { call, workspace } = await mountedSetup({ lockDirectory });
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => call('write', { path: `d/${index}.txt`, content: 'x' })),
    );
    expect(await readdir(join(workspace, 'd'))).toHaveLength(20);
    await call('write', { path: 'a.txt', content: '0' });
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        call('edit', { path: 'a.txt', oldText: '0', newText: `0${'abcdefghij'[index] ?? ''}` }),
      ),
    );
    expect((await readFile(join(workspace, 'a.txt'), 'utf8')).length).toBe(11);
    expect(await readdir(lockDirectory)).toEqual([]);
  });

  it('say so when the lock cannot be made, and write nothing', async () => {
    const lockDirectory = await lockFolder();
    await mkdir(join(lockDirectory, '..'), { recursive: true });
    await writeFile(lockDirectory, 'no folder');
    const { call, workspace } = await mountedSetup({ lockDirectory });
    expect(await refusalOf(call('write', { path: 'a.txt', content: 'x' }))).toBe('NOT_A_FILE');
    expect(await readdir(workspace)).toEqual([]);
  });
});
