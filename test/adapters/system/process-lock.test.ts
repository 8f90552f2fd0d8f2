import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { lutimes, readdir, readlink, symlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { acquireLock, underLock } from '../../../src/adapters/system/process-lock.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

let home: TemporaryHome;
let lock: string;
beforeEach(async () => {
  home = await temporaryHome();
  lock = join(home.path, '.a.lock');
});
afterEach(() => home.remove());

/** A process that was, by the name under which its locks stay behind. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'close');
  return child.pid ?? 0;
}

interface Holder {
  readonly id: string;
  readonly pid: number;
  readonly began: string;
  readonly system: string;
}

/** As locks are made: links that lead nowhere; and as earlier versions made them: files. */
const FORMS = {
  'a link': (path: string, { id, pid, began, system }: Holder) => symlink([id, pid, began, system].join(' '), path),
  'a file of an earlier version': (path: string, { system, ...holder }: Holder) =>
    writeFile(path, JSON.stringify({ ...holder, host: system })),
};

/** What this very process writes into a lock, with an id of its own. */
async function ownHolder(): Promise<Holder> {
  let words: readonly string[] = [];
  await exclusively(join(home.path, '.own.lock'), async () => {
    words = (await readlink(join(home.path, '.own.lock'))).split(' ');
  });
  const [, pid, began = '', system = ''] = words;
  return { id: randomUUID(), pid: Number(pid), began, system };
}

const exclusively = <Result>(path: string, work: () => Promise<Result>): Promise<Result> =>
  underLock(path, work, () => new RuntimeError('BUSY', 'it is busy', { category: 'conflict' }));

const run = (): Promise<string> => exclusively(lock, async () => 'ran');

describe('under the lock', () => {
  it('one works at a time, whoever waits', async () => {
    let inside = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 12 }, () =>
        exclusively(lock, async () => {
          inside += 1;
          most = Math.max(most, inside);
          await new Promise((resolve) => setImmediate(resolve));
          inside -= 1;
        }),
      ),
    );
    expect(most).toBe(1);
    expect(await readdir(home.path)).toEqual([]);
  });

  it('work that fails releases it', async () => {
    await expect(exclusively(lock, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await run()).toBe('ran');
  });

  it('is waited for as long as one may, and no longer than the signal says', async () => {
    await exclusively(lock, async () => {
      const busy = (waitedMs: number, pid: number | undefined): RuntimeError =>
        new RuntimeError('BUSY', `process ${pid} has it for ${waitedMs} ms`, { category: 'conflict' });
      await expect(acquireLock(lock, { busy, maxWaitMs: 3 })).rejects.toThrow(`process ${process.pid} has it for 3 ms`);
      const stop = new AbortController();
      const waiting = acquireLock(lock, { busy, signal: stop.signal });
      stop.abort(new Error('stop'));
      await expect(waiting).rejects.toThrow('stop');
    });
    expect(await readdir(home.path)).toEqual([]);
  });
});

describe.each(Object.entries(FORMS))('a lock that is %s', (_name, make) => {
  it('of a process that is gone is not waited for', async () => {
    await make(lock, { ...(await ownHolder()), pid: await deadPid() });
    expect(await run()).toBe('ran');
    expect(await readdir(home.path)).toEqual([]);
  });

  it.skipIf(!existsSync('/proc/self/stat'))(
    'is not taken for that of a process that has the number of one that is gone',
    async () => {
      await make(lock, { ...(await ownHolder()), began: '1' });
      expect(await run()).toBe('ran');
    },
  );

  it('is removed also where one that was removing it died', async () => {
    const dead = { ...(await ownHolder()), pid: await deadPid() };
    const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
    await make(lock, { ...dead, id: first });
    await make(`${lock}.${first}.gone`, { ...dead, id: second });
    await make(`${lock}.${second}.gone`, { ...dead, id: third });
    expect(await run()).toBe('ran');
    expect(await readdir(home.path)).toEqual([]);
  });

  it('of the dead is taken by one after the other of many who find it', async () => {
    const dead = { ...(await ownHolder()), pid: await deadPid() };
    for (let round = 0; round < 10; round += 1) {
      await make(lock, { ...dead, id: randomUUID() });
      let inside = 0;
      await Promise.all(
        Array.from({ length: 8 }, () =>
          exclusively(lock, async () => {
            inside += 1;
            expect(inside).toBe(1);
            await new Promise((resolve) => setImmediate(resolve));
            inside -= 1;
          }),
        ),
      );
    }
    expect(await readdir(home.path)).toEqual([]);
  });

  it('whose holder nobody can search for is left alone while it is young', async () => {
    await make(lock, { id: randomUUID(), pid: 1, began: '1', system: `another-${hostname()}` });
    let isDone = false;
    const running = run().finally(() => (isDone = true));
    // As long as these take it could have taken the lock many times.
    for (let turns = 0; turns < 50; turns += 1) await exclusively(`${lock}-of-another-file`, async () => undefined);
    expect(isDone).toBe(false);
    await lutimes(lock, new Date(0), new Date(0));
    expect(await running).toBe('ran');
  });
});

describe('something else in the place of a lock', () => {
  it.each(['', 'not json', '{"pid":1}'])('that says %j is removed once it is old', async (text) => {
    await writeFile(lock, text);
    await lutimes(lock, new Date(0), new Date(0));
    expect(await run()).toBe('ran');
    expect(await readdir(home.path)).toEqual([]);
  });
});
