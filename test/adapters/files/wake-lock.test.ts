import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createHash } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processStartTime } from '../../../src/adapters/files/process-start.ts';
import { acquireWakeLock } from '../../../src/adapters/files/wake-lock.ts';
import type { WakeLockKind } from '../../../src/adapters/files/wake-lock.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { SESSION_ID } from '../../support/session-events.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const LOCK_MODULE = fileURLToPath(new URL('../../../dist/adapters/files/wake-lock.js', import.meta.url));

let home: TemporaryHome;
beforeEach(async () => {
  home = await temporaryHome();
});
afterEach(() => home.remove());

/** Another process that takes the lock and holds it until it is killed. */
async function holder(kind: WakeLockKind): Promise<ChildProcess> {
  const script = `
    const { acquireWakeLock } = await import(${JSON.stringify(LOCK_MODULE)});
    await acquireWakeLock(${JSON.stringify(kind)}, ${JSON.stringify({ sessionId: SESSION_ID, directory: home.path })});
    console.log('held');
    setInterval(() => undefined, 60_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

const acquire = (kind: WakeLockKind): ReturnType<typeof acquireWakeLock> => acquireWakeLock(kind, { sessionId: SESSION_ID, directory: home.path });

describe.each<WakeLockKind>(process.platform === 'linux' ? ['socket', 'file'] : ['file'])('the wake lock by %s', (kind) => {
  it('is held against other processes, and freed by the death of its owner', async () => {
    const child = await holder(kind);
    expect(await codeOf(acquire(kind))).toBe('WAKE_CONFLICT');
    child.kill('SIGKILL');
    await once(child, 'exit');
    await (await acquire(kind)).release();
  });

  it('leaves no more behind after many owners than after one', async () => {
    for (let owner = 1; owner <= 3; owner += 1) await (await acquire(kind)).release();
    expect(await readdir(home.path)).toEqual(kind === 'socket' ? [] : ['wake.lock.3']);
  });
});

describe('the wake lock by file', () => {
  const write = (content: object | string): Promise<void> => writeFile(join(home.path, 'wake.lock.5'), typeof content === 'string' ? content : JSON.stringify(content));

  it.each<[string, () => Promise<object | string>]>([
    ['a process that is gone', async () => ({ pid: 2 ** 22 + 1, startedAt: '1', isReleased: false })],
    ['an earlier process with the same id', async () => ({ pid: process.pid, startedAt: 'long ago', isReleased: false })],
    ['nobody, being unreadable', async () => '{"pid":'],
  ])('of %s is taken over', async (_who, content) => {
    await write(await content());
    expect(await codeOf(acquire('file').then((right) => right.release()))).toBe('it succeeded');
  });

  it('of a dead owner goes to exactly one of many', async () => {
    await write({ pid: 2 ** 22 + 1, startedAt: '1', isReleased: false });
    const asked = await Promise.allSettled(Array.from({ length: 8 }, () => acquire('file')));
    const rights = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(rights).toHaveLength(1);
    await Promise.all(rights.map((right) => right.release()));
  });

  it('goes to one at a time, however often it changes hands', async () => {
    let holders = 0;
    let turns = 0;
    const worker = async (): Promise<void> => {
      while (turns < 40) {
        const right = await acquire('file').catch(() => undefined);
        if (right === undefined) continue;
        holders += 1;
        turns += 1;
        expect(holders).toBe(1);
        await new Promise((resolve) => setImmediate(resolve));
        holders -= 1;
        await right.release();
      }
    };
    await Promise.all(Array.from({ length: 6 }, worker));
  });

  it('is not taken from a living process', async () => {
    await write({ pid: process.pid, startedAt: await processStartTime(process.pid), isReleased: false });
    expect(await codeOf(acquire('file'))).toBe('WAKE_CONFLICT');
  });
});

describe.runIf(process.platform === 'linux')('the wake lock by socket', () => {
  it('sends away whoever connects, and is released all the same', async () => {
    const right = await acquire('socket');
    const client = connect(`\0wakechart-wake-${createHash('sha256').update(home.path).digest('hex')}`);
    await once(client, 'close');
    await right.release();
    expect(await codeOf(acquire('socket').then((next) => next.release()))).toBe('it succeeded');
  });
});
