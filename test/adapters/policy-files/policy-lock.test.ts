import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { underLock } from '../../../src/adapters/policy-files/policy-lock.ts';
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

/** What this very process writes into a lock. */
async function ownHolder(): Promise<Record<string, unknown>> {
  let text = '';
  await underLock(join(home.path, '.own.lock'), async () => {
    text = readFileSync(join(home.path, '.own.lock'), 'utf8');
  });
  return JSON.parse(text) as Record<string, unknown>;
}

const run = (): Promise<string> => underLock(lock, async () => 'ran');

describe('under the lock', () => {
  it('one works at a time, whoever waits', async () => {
    let inside = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 12 }, () =>
        underLock(lock, async () => {
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

  it('work that fails lets go of it', async () => {
    await expect(underLock(lock, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await run()).toBe('ran');
  });

  it('the work of a process that is gone is not waited for', async () => {
    await writeFile(lock, JSON.stringify({ ...(await ownHolder()), id: randomUUID(), pid: await deadPid() }));
    expect(await run()).toBe('ran');
    expect(await readdir(home.path)).toEqual([]);
  });

  it.skipIf(!existsSync('/proc/self/stat'))('a process that has the number of one that is gone is not taken for it', async () => {
    await writeFile(lock, JSON.stringify({ ...(await ownHolder()), id: randomUUID(), began: '1' }));
    expect(await run()).toBe('ran');
  });

  it('neither is one that was removing what another left', async () => {
    const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
    const dead = { ...(await ownHolder()), pid: await deadPid() };
    await writeFile(lock, JSON.stringify({ ...dead, id: first }));
    await writeFile(`${lock}.${first}.gone`, JSON.stringify({ ...dead, id: second }));
    await writeFile(`${lock}.${second}.gone`, JSON.stringify({ ...dead, id: third }));
    expect(await run()).toBe('ran');
    expect(await readdir(home.path)).toEqual([]);
  });

  it('many who find a lock of the dead take it one after the other', async () => {
    const dead = { ...(await ownHolder()), pid: await deadPid() };
    for (let round = 0; round < 10; round += 1) {
      await writeFile(lock, JSON.stringify({ ...dead, id: randomUUID() }));
      let inside = 0;
      await Promise.all(
        Array.from({ length: 8 }, () =>
          underLock(lock, async () => {
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

  it('a lock whose holder nobody can look for is left alone while it is young', async () => {
    await writeFile(lock, JSON.stringify({ id: randomUUID(), pid: 1, began: '1', host: `another-${hostname()}` }));
    let isDone = false;
    const running = run().finally(() => (isDone = true));
    // As long as these take it could have taken the lock many times.
    for (let turns = 0; turns < 50; turns += 1) await underLock(`${lock}-of-another-file`, async () => undefined);
    expect(isDone).toBe(false);
    await utimes(lock, new Date(0), new Date(0));
    expect(await running).toBe('ran');
  });

  it.each(['', 'not json', '{"pid":1}'])('a lock that says %j is removed once it is old', async (text) => {
    await writeFile(lock, text);
    await utimes(lock, new Date(0), new Date(0));
    expect(await run()).toBe('ran');
    expect(await readdir(home.path)).toEqual([]);
  });
});
