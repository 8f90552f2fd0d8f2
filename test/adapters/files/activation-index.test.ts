import { mkdir, readFile, readdir, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { SimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { FileActivationIndex } from '../../../src/adapters/files/activation-index.ts';
import { bucketOf, nameOf, readName } from '../../../src/adapters/files/activation-name.ts';
import { systemFileOperations } from '../../../src/adapters/files/file-operations.ts';
import { START_MS } from '../../support/session-events.ts';
import { describeActivationIndex, hint } from '../../contracts/activation-index.contract.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { openFilesOf } from '../../setup/open-files.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const MINUTE_MS = 60_000;

let home: TemporaryHome;
let directory: string;
let clock: SimulatedClock;
const watches: (() => void)[] = [];

const setUp = async (): Promise<void> => {
  home = await temporaryHome();
  directory = join(home.path, 'activations');
  clock = createSimulatedClock();
};
const tearDown = async (): Promise<void> => {
  for (const stop of watches.splice(0)) stop();
  await home.remove();
};
const open = (): FileActivationIndex => new FileActivationIndex({ directory, clock });

/** Resolves with how often it was told once `stop` is called; `heard()` waits for the next time. */
function listen(index: FileActivationIndex): { heard(): Promise<void>; readonly rings: number } {
  let rings = 0;
  let tell = (): void => undefined;
  watches.push(
    index.watch(() => {
      rings += 1;
      tell();
    }),
  );
  return {
    heard: () =>
      new Promise((resolve) => {
        tell = resolve;
      }),
    get rings() {
      return rings;
    },
  };
}

describeActivationIndex('files', async () => {
  await setUp();
  return { index: open(), elsewhere: open(), clock, dispose: tearDown };
});

describe('hints as files', () => {
  beforeEach(setUp);
  afterEach(tearDown);

  it('are empty, private, and sorted by time in folders of ten minutes', async () => {
    const one = hint();
    await open().add([one, hint({ dueAtMs: START_MS + 15 * MINUTE_MS })]);
    expect((await readdir(directory)).sort()).toEqual(['.bell', '.hint', '2026-01-01T0000', '2026-01-01T0010']);
    const path = join(directory, '2026-01-01T0000', nameOf(one));
    expect(nameOf(one)).toBe(`00${START_MS}.n0.${one.sessionId}.tester.${one.causeId}`);
    expect(await readFile(path, 'utf8')).toBe('');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect((await stat(join(directory, '2026-01-01T0000'))).mode & 0o777).toBe(0o700);
  });

  it('keep causes apart where file systems do not tell capital letters', () => {
    const names = ['Queued_1', 'queued_1', 'QUEUED.1'].map((causeId) => nameOf(hint({ causeId })));
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(3);
    for (const [n, causeId] of ['Queued_1', 'queued_1', 'QUEUED.1'].entries())
      expect(readName(names[n] ?? '', bucketOf(START_MS))).toEqual(hint({ causeId }));
  });

  it('pass over whatever else lies there', async () => {
    const index = open();
    await index.add([hint()]);
    const bucket = join(directory, '2026-01-01T0000');
    const good = nameOf(hint());
    const strange = [
      'x',
      '.tmp',
      good.replace('.n0.', '.z0.'),
      good.replace('.n0.', '.n9.'),
      `${good}.extra/`.slice(0, -1).toUpperCase(),
      good.replace('00', '99'),
      nameOf(hint({ dueAtMs: START_MS + 60 * MINUTE_MS })),
      good.replace('tester', 'Tester'),
      'é'.repeat(60),
    ];
    for (const name of strange) await writeFile(join(bucket, name), 'x');
    await mkdir(join(directory, 'no-bucket'));
    await writeFile(join(directory, '2026-01-01T0005'), 'not ten minutes');
    await writeFile(join(directory, '2026-01-01T0020'), 'a file');
    expect(await index.due({ nowMs: START_MS + 60 * MINUTE_MS, limit: 10 })).toMatchObject({
      due: [{ activations: [hint()] }],
      nextDueAtMs: undefined,
    });
  });

  it('leave no folder of the past behind, and keep those that are to come', async () => {
    const index = open();
    const past = hint();
    const future = hint({ dueAtMs: START_MS + 90 * MINUTE_MS });
    await index.add([past, future]);
    await index.remove([past, future]);
    const nowMs = START_MS + 20 * MINUTE_MS;
    expect((await index.due({ nowMs, limit: 10 })).nextDueAtMs).toBeUndefined();
    expect((await readdir(directory)).sort()).toEqual(['.bell', '.hint', '2026-01-01T0130']);
  });

  it('are made though their folder is taken away again and again', async () => {
    const index = open();
    const bucket = join(directory, bucketOf(START_MS));
    let isMaking = true;
    const takeAway = async (): Promise<void> => {
      // Fewer times than an attempt is repeated: calls that take turns in the thread pool could otherwise go on for
      // ever.
      for (let taken = 0; isMaking && taken < 200;) {
        taken += await rmdir(bucket).then(
          () => 1,
          () => 0,
        );
        await turnOfLoop();
      }
    };
    const taking = takeAway();
    const hints = Array.from({ length: 50 }, (_, n) => hint({ causeId: `n${n}` }));
    try {
      for (const each of hints) await index.add([each]).then(() => index.remove([each]));
      await index.add(hints);
    } finally {
      isMaking = false;
      await taking;
    }
    expect((await index.due({ nowMs: START_MS, limit: 1 })).due[0]?.activations).toHaveLength(50);
  });

  it('of a time with very many cost a check ahead no more than of one with a few', async () => {
    const index = open();
    const bucketMs = START_MS + 60 * MINUTE_MS;
    await index.add(
      Array.from({ length: 1_500 }, (_, n) => hint({ causeId: `n${n}`, dueAtMs: bucketMs + 30_000 + n })),
    );
    // It did not read all of them, and says when to check again.
    expect((await index.due({ nowMs: START_MS, limit: 10 })).nextDueAtMs).toBe(bucketMs);
    expect((await index.due({ nowMs: bucketMs, limit: 10 })).nextDueAtMs).toBe(bucketMs + 30_000);
  });

  it('that cannot be written refuse with what the system said', async () => {
    const noSpace = (): Promise<never> => Promise.reject(Object.assign(new Error('no space left'), { code: 'ENOSPC' }));
    const operations = { ...systemFileOperations, createFile: noSpace, linkFile: noSpace };
    const index = new FileActivationIndex({ directory, clock, operations });
    expect(await codeOf(index.add([hint()]))).toBe('STORAGE_FAILED');
    await writeFile(join(home.path, 'in-the-way'), '');
    const blocked = new FileActivationIndex({ directory: join(home.path, 'in-the-way'), clock });
    expect(await codeOf(blocked.add([hint()]))).toBe('STORAGE_FAILED');
    expect(await codeOf(blocked.isSuspect())).toBe('STORAGE_FAILED');
    expect(await codeOf(blocked.remove([hint()]))).toBe('it succeeded');
    expect(await blocked.due({ nowMs: START_MS, limit: 1 })).toEqual({ due: [], nextDueAtMs: undefined });
  });
});

describe('the index in files', () => {
  beforeEach(setUp);
  afterEach(tearDown);

  it('is suspect until it was made again under the boot we live in', async () => {
    const index = open();
    expect(await index.isSuspect()).toBe(true);
    await index.add([hint()]);
    expect(await index.isSuspect()).toBe(true);
    await index.rebuilt((async function* () {})());
    expect(await open().isSuspect()).toBe(false);
    const stamp = join(directory, '.boot');
    expect((await stat(stamp)).mode & 0o777).toBe(0o600);
    await writeFile(stamp, 'another-boot\n');
    expect(await index.isSuspect()).toBe(true);
    await writeFile(stamp, '');
    expect(await index.isSuspect()).toBe(true);
  });

  it('stays suspect when making it again breaks off', async () => {
    const index = open();
    const broken = async function* (): AsyncGenerator<ReturnType<typeof hint>> {
      yield hint();
      throw new Error('cannot read on');
    };
    await expect(index.rebuilt(broken())).rejects.toThrow('cannot read on');
    expect(await index.isSuspect()).toBe(true);
  });

  it('opens one watch, however many times things are due at', async () => {
    const index = open();
    const listener = listen(index);
    await listener.heard();
    const before = openFilesOf('anon_inode:inotify');
    for (let n = 0; n < 30; n += 1) {
      await index.add([hint({ dueAtMs: START_MS + n * 10 * MINUTE_MS })]);
      await index.due({ nowMs: START_MS + n * 10 * MINUTE_MS, limit: 1 });
    }
    expect(openFilesOf('anon_inode:inotify')).toBeLessThanOrEqual(before + 1);
  });

  it('goes on telling after its folder was removed and made again', async () => {
    const listener = listen(open());
    await listener.heard();
    const other = open();
    await other.add([hint()]);
    const reopened = listener.heard();
    await rm(directory, { recursive: true });
    await reopened;
    // The removal itself is told too, in as many pieces as it has; what counts is that hints are heard again.
    const made = async (): Promise<void> => {
      for (;;) {
        const heard = listener.heard();
        await other.add([hint()]);
        const isHeard = await Promise.race([
          heard.then(() => true),
          new Promise<false>((resolve) => setImmediate(() => setImmediate(() => resolve(false)))),
        ]);
        if (isHeard && (await stat(directory).catch(() => undefined)) !== undefined) return;
      }
    };
    await made();
    expect(await other.due({ nowMs: START_MS, limit: 1 })).toMatchObject({ due: [{ sessionId: hint().sessionId }] });
  });

  it('checks now and then where the system cannot notify', async () => {
    // A place that no folder can be made in: there is nothing to watch yet.
    const inTheWay = join(home.path, 'later');
    await writeFile(inTheWay, '');
    const index = new FileActivationIndex({ directory: inTheWay, clock });
    const listener = listen(index);
    await listener.heard();
    await rm(inTheWay);
    await new FileActivationIndex({ directory: inTheWay, clock }).add([hint()]);
    const before = listener.rings;
    // Each check asks the disk, which takes real time.
    while (listener.rings === before) await clock.advance(500);
    for (const stop of watches.splice(0)) stop();
    await clock.advance(10_000);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is whole while four write and remove at once', async () => {
    const indexes = Array.from({ length: 4 }, open);
    const mine = (writer: number, n: number): ReturnType<typeof hint> =>
      hint({ causeId: `w${writer}-${n}`, dueAtMs: START_MS - n * MINUTE_MS });
    await Promise.all(
      indexes.map(async (index, writer) => {
        for (let n = 0; n < 60; n += 1) {
          await index.add([mine(writer, n)]);
          await index.due({ nowMs: START_MS + 10 * MINUTE_MS, limit: 1 });
          if (n % 2 === 0) await index.remove([mine(writer, n)]);
        }
      }),
    );
    const { due } = await open().due({ nowMs: START_MS + 10 * MINUTE_MS, limit: 1 });
    const expected = [0, 1, 2, 3].flatMap((writer) => Array.from({ length: 30 }, (_, n) => `w${writer}-${2 * n + 1}`));
    expect(due[0]?.activations.map(({ causeId }) => causeId).sort()).toEqual(expected.sort());
  });
});

describe('a session that a worker is about to wake', () => {
  beforeEach(setUp);
  afterEach(tearDown);

  const CLAIMING = { nowMs: START_MS, limit: 10, claims: 1 };

  it('is left to it by the others until it is released', async () => {
    const [one, other] = [open(), open()];
    await one.add([hint()]);
    const [session] = (await one.due(CLAIMING)).due;
    if (session === undefined) throw new Error('nothing is due');
    expect(one.reserve(session)).toBe(true);
    expect(other.reserve(session)).toBe(false);
    expect(await other.due(CLAIMING)).toEqual({ due: [], nextDueAtMs: undefined, elsewhere: 1 });
    one.release(session.sessionId);
    expect(await other.due(CLAIMING)).toMatchObject({ due: [{ sessionId: session.sessionId }] });
    expect(other.reserve(session)).toBe(true);
  });

  it('is shown all the same to whoever only checks', async () => {
    const index = open();
    await index.add([hint()]);
    const { due } = await index.due({ nowMs: START_MS, limit: 10 });
    for (const session of due) index.reserve(session);
    expect(await open().due({ nowMs: START_MS, limit: 10 })).toEqual({ due, nextDueAtMs: undefined });
  });

  it("is anybody's again a second after others saw it: the worker may be dead", async () => {
    const [dead, other] = [open(), open()];
    await dead.add([hint()]);
    const [session] = (await dead.due(CLAIMING)).due;
    if (session === undefined) throw new Error('nothing is due');
    dead.reserve(session);
    expect((await other.due(CLAIMING)).due).toEqual([]);
    await clock.advance(999);
    expect(other.reserve(session)).toBe(false);
    await clock.advance(1);
    expect((await other.due(CLAIMING)).due).toHaveLength(1);
    expect(other.reserve(session)).toBe(true);
    other.release(session.sessionId);
    expect(await readdir(join(directory, '.reserved'))).toEqual([]);
  });

  it('leaves no name behind for ever when its worker was killed and it is never due again', async () => {
    const [dead, other] = [open(), open()];
    await dead.add([hint()]);
    const [session] = (await dead.due(CLAIMING)).due;
    if (session === undefined) throw new Error('nothing is due');
    dead.reserve(session);
    await dead.remove([hint()]);
    await other.due(CLAIMING);
    await clock.advance(60_000);
    await other.due(CLAIMING);
    expect(await readdir(join(directory, '.reserved'))).toEqual([session.sessionId]);
    await clock.advance(1);
    await other.due(CLAIMING);
    expect(await readdir(join(directory, '.reserved'))).toEqual([]);
  });

  it('is not begun when what made it due is gone', async () => {
    const [one, other] = [open(), open()];
    await one.add([hint()]);
    const [session] = (await one.due(CLAIMING)).due;
    if (session === undefined) throw new Error('nothing is due');
    await other.remove([hint()]);
    expect(one.reserve(session)).toBe(false);
  });

  it('is woken where no reservation can be made', async () => {
    const index = open();
    await index.add([hint()]);
    await writeFile(join(directory, '.reserved'), 'in the way');
    const [session] = (await index.due(CLAIMING)).due;
    if (session === undefined) throw new Error('nothing is due');
    expect(index.reserve(session)).toBe(true);
    index.release(session.sessionId);
  });
});
