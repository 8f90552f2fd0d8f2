/** The lease among processes that die, are stopped and go on, block their event loop, race, and live in containers. */
import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { Socket, connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WakeClaim, WakeRight } from '../../../src/actors/session/event-store.ts';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { Clock } from '../../../src/actors/clock/clock.ts';
import { acquireLease, leaseFreed } from '../../../src/adapters/files/lease.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { SESSION_ID } from '../../support/session-events.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const dist = (path: string): string => JSON.stringify(fileURLToPath(new URL(`../../../dist/${path}`, import.meta.url)));

/** Longer than any test lasts: what happens before it has passed did not wait for it. */
const FOREVER_MS = 3_600_000;
/**
 * Short, for those who wait it out; whoever lives answers within a turn of its event loop, however long that takes us.
 */
const SHORT_MS = 300;

const NEW: WakeClaim = { epoch: 0, isOpen: false };
const OPEN: WakeClaim = { epoch: 1, isOpen: true };
const NEVER = new AbortController().signal;

/** Time in which nothing is ever due: whoever waits for it, waits for ever. */
const stoppedClock: Clock = createSimulatedClock();

let home: TemporaryHome;
const children: ChildProcess[] = [];
const rights: WakeRight[] = [];
beforeEach(async () => {
  home = await temporaryHome();
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await Promise.all(rights.splice(0).map((right) => right.release()));
  await home.remove();
});

interface Child {
  readonly process: ChildProcess;
  readonly ended: Promise<unknown>;
  /** The next line that it prints. */
  next(): Promise<string>;
}

/** A program with `acquire(claim, leaseMs?)` and `say(text)` at hand, in a process of its own. */
function start(
  program: string,
  { command = [process.execPath] }: { readonly command?: readonly [string, ...string[]] } = {},
): Child {
  const script = `
    const { acquireLease } = await import(${dist('adapters/files/lease.js')});
    const { createSystemClock } = await import(${dist('actors/clock/system-clock.js')});
    const { appendFileSync, readFileSync, writeFileSync, writeSync } = await import('node:fs');
    const { spawn } = await import('node:child_process');
    const directory = ${JSON.stringify(home.path)};
    const clock = createSystemClock();
    const say = (text) => writeSync(1, text + '\\n');
    const acquire = (claim, leaseMs = ${FOREVER_MS}) => acquireLease({ sessionId: ${JSON.stringify(SESSION_ID)}, directory, clock, leaseMs }, claim);
    const stay = () => setInterval(() => undefined, 60_000);
    ${program}`;
  const [file, ...before] = command;
  const child = spawn(file, [...before, '--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { process: child, ended: once(child, 'exit'), next: async () => String((await lines.next()).value) };
}

/** A process that has the right under epoch 1, and says so, and says when it has lost it. */
const HOLD = `
  const right = await acquire(${JSON.stringify(NEW)});
  right.lost.addEventListener('abort', () => say('lost ' + right.lost.reason.code));
  say('held ' + right.epoch);
  stay();`;

async function acquire(
  claim: WakeClaim,
  { leaseMs = FOREVER_MS, clock = stoppedClock }: { readonly leaseMs?: number; readonly clock?: Clock } = {},
): Promise<WakeRight> {
  const right = await acquireLease({ sessionId: SESSION_ID, directory: home.path, clock, leaseMs }, claim);
  rights.push(right);
  return right;
}

const freed = (leaseMs = FOREVER_MS, clock = stoppedClock): Promise<void> =>
  leaseFreed({ sessionId: SESSION_ID, directory: home.path, clock, leaseMs }, NEVER);

/** Resolves when the system has stopped it. */
async function stopped({ process: { pid } }: Child): Promise<void> {
  for (;;) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    if (stat.slice(stat.lastIndexOf(')') + 2).startsWith('T')) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Asks a stopped process until its queue is full; `answered` resolves when the last one that got in has its answer. */
async function fillQueue(
  address: string,
): Promise<{ readonly connections: readonly Socket[]; readonly answered: Promise<unknown> }> {
  const connections: Socket[] = [];
  for (;;) {
    const connection = connect(address);
    const code = await new Promise<string>((resolve) => {
      connection.once('connect', () => resolve('connected'));
      connection.once('error', (error) => resolve('code' in error ? String(error.code) : error.message));
    });
    if (code === 'EAGAIN') break;
    expect(code).toBe('connected');
    connection.on('error', () => undefined);
    connection.write('{"type":"ask"}\n');
    connections.push(connection);
  }
  return { connections, answered: once(connections.at(-1) ?? new Socket(), 'data') };
}

/** Starts a program in namespaces of its own. Part of Linux, and allowed to root only. */
const UNSHARE = 'unshare';

function canUnshare(namespace: '-n' | '-m', test: string): boolean {
  try {
    execFileSync(UNSHARE, [namespace, 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    process.stderr.write(`lease: ${UNSHARE} ${namespace} does not work here, so nobody tests ${test}\n`);
    return false;
  }
}

const canHaveNetworkNamespaces = canUnshare('-n', 'a lease among network namespaces');
const canMountReadOnly = canUnshare('-m', 'a home on a read-only file system');

describe.runIf(process.platform === 'linux')('a lease whose holder is killed', () => {
  it('is free at once, without a clock, and tells those who wait', async () => {
    const child = start(HOLD);
    expect(await child.next()).toBe('held 1');
    expect(await codeOf(acquire(OPEN))).toBe('WAKE_CONFLICT');
    const waiting = [freed(), freed()];
    child.process.kill('SIGKILL');
    await Promise.all(waiting);
    expect((await acquire(OPEN)).epoch).toBe(2);
    expect(await readdir(join(home.path, 'runtime', 'lease'))).toEqual(['2.sock']);
  });

  it('is free at once though a child of its lives on', async () => {
    const child = start(`
      const right = await acquire(${JSON.stringify(NEW)});
      const survivor = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
      say(String(survivor.pid));
      stay();`);
    const survivor = Number(await child.next());
    try {
      child.process.kill('SIGKILL');
      await freed();
      expect((await acquire(OPEN)).epoch).toBe(2);
    } finally {
      process.kill(survivor, 'SIGKILL');
    }
  });

  it('before its wake was in the log goes to the next under a number above', async () => {
    for (let crash = 1; crash <= 3; crash += 1) {
      const child = start(HOLD);
      expect(await child.next()).toBe(`held ${crash}`);
      child.process.kill('SIGKILL');
      await child.ended;
    }
    expect((await acquire(NEW)).epoch).toBe(4);
  });
});

describe.runIf(process.platform === 'linux')('a lease whose holder is stopped', () => {
  it('stays with it for the length of the lease, then goes to the next, and the old one learns it when it goes on', async () => {
    const child = start(HOLD);
    expect(await child.next()).toBe('held 1');
    child.process.kill('SIGSTOP');
    await stopped(child);
    let hasTaken = false;
    const patient = codeOf(
      acquire(OPEN).then(() => {
        hasTaken = true;
      }),
    );
    expect((await acquire(OPEN, { leaseMs: SHORT_MS, clock: createSystemClock() })).epoch).toBe(2);
    expect(hasTaken).toBe(false);
    child.process.kill('SIGCONT');
    expect(await child.next()).toBe('lost WAKE_SUPERSEDED');
    expect(await patient).toBe('WAKE_CONFLICT');
  });

  it('learns it even when the one who took over has died since', async () => {
    const child = start(HOLD);
    expect(await child.next()).toBe('held 1');
    child.process.kill('SIGSTOP');
    await stopped(child);
    const taker = start(
      `const right = await acquire(${JSON.stringify(OPEN)}, ${SHORT_MS}); say('held ' + right.epoch); stay();`,
    );
    expect(await taker.next()).toBe('held 2');
    taker.process.kill('SIGKILL');
    await taker.ended;
    child.process.kill('SIGCONT');
    expect(await child.next()).toBe('lost WAKE_SUPERSEDED');
  });

  it('stays with it when it goes on in time', async () => {
    const child = start(HOLD);
    expect(await child.next()).toBe('held 1');
    child.process.kill('SIGSTOP');
    await stopped(child);
    const asked = codeOf(acquire(OPEN));
    child.process.kill('SIGCONT');
    expect(await asked).toBe('WAKE_CONFLICT');
  });

  it('may be tried again by those who wait for it', async () => {
    const child = start(HOLD);
    expect(await child.next()).toBe('held 1');
    child.process.kill('SIGSTOP');
    await stopped(child);
    await freed(SHORT_MS, createSystemClock());
    expect(await codeOf(acquire(OPEN, { leaseMs: SHORT_MS, clock: createSystemClock() }))).toBe('it succeeded');
  });

  it('is not lost when more ask it than its queue takes', async () => {
    const child = start(HOLD);
    expect(await child.next()).toBe('held 1');
    child.process.kill('SIGSTOP');
    await stopped(child);
    const { connections, answered } = await fillQueue(join(home.path, 'runtime', 'lease', '1.sock'));
    const parts: (() => void)[] = [];
    const byHand = {
      ...stoppedClock,
      setTimeout: (callback: () => void) => {
        parts.push(callback);
        return {};
      },
    };
    const asked = codeOf(acquire(OPEN, { clock: byHand }));
    while (parts.length === 0) await new Promise((resolve) => setImmediate(resolve));
    // Enough for the refusal to be heard.
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    child.process.kill('SIGCONT');
    await answered;
    parts[0]?.();
    expect(await asked).toBe('WAKE_CONFLICT');
    for (const connection of connections) connection.destroy();
  });

  it('stays with a holder whose event loop is blocked for less than the lease', async () => {
    const child = start(`
      const right = await acquire(${JSON.stringify(NEW)});
      right.lost.addEventListener('abort', () => say('lost'));
      say('held');
      process.stdin.once('data', () => {
        say('blocked');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
        setImmediate(() => setImmediate(() => say('awake ' + right.lost.aborted)));
      });`);
    expect(await child.next()).toBe('held');
    child.process.stdin?.write('block\n');
    expect(await child.next()).toBe('blocked');
    expect(await codeOf(acquire(OPEN))).toBe('WAKE_CONFLICT');
    expect(await child.next()).toBe('awake false');
  });
});

describe.runIf(process.platform === 'linux')('a lease', () => {
  it('does not keep its process alive', async () => {
    const child = start(`await acquire(${JSON.stringify(NEW)}); say('held');`);
    expect(await child.next()).toBe('held');
    expect(await child.ended).toEqual([0, null]);
  });

  it('does not keep its process alive for those who wait for it', async () => {
    const child = start(
      `await acquire(${JSON.stringify(NEW)}); say('held'); process.stdin.once('data', () => process.stdin.destroy());`,
    );
    expect(await child.next()).toBe('held');
    const waiting = freed();
    expect(await codeOf(acquire(OPEN))).toBe('WAKE_CONFLICT');
    child.process.stdin?.write('end\n');
    await waiting;
    expect(await child.ended).toEqual([0, null]);
  });

  it('has one holder at any time among eight processes that race for it, and goes round until all is done', async () => {
    await writeFile(join(home.path, 'log'), '{"epoch":0,"isOpen":false}');
    const racer = `
      // The file stands for the log: the holder reads it again, and says in it when its wake begins and when it has
      // ended.
      const { renameSync } = await import('node:fs');
      const log = () => JSON.parse(readFileSync(directory + '/log', 'utf8'));
      const write = (claim) => {
        writeFileSync(directory + '/log.' + process.pid, JSON.stringify(claim));
        renameSync(directory + '/log.' + process.pid, directory + '/log');
      };
      let turns = 0;
      while (log().epoch < 400) {
        let right;
        try {
          right = await acquire(log());
        } catch (error) {
          if (error.code !== 'WAKE_CONFLICT') throw error;
          await new Promise((resolve) => setImmediate(resolve));
          continue;
        }
        if (right.epoch > log().epoch) {
          write({ epoch: right.epoch, isOpen: true });
          appendFileSync(directory + '/history', 'begin ' + right.epoch + '\\n');
          await new Promise((resolve) => setTimeout(resolve, turns % 3));
          appendFileSync(directory + '/history', 'end ' + right.epoch + '\\n');
          write({ epoch: right.epoch, isOpen: false });
          turns += 1;
        }
        await right.release();
      }
      say(String(turns));`;
    const racers = Array.from({ length: 8 }, () => start(racer));
    const turns = (await Promise.all(racers.map((child) => child.next()))).map(Number);
    const history = (await readFile(join(home.path, 'history'), 'utf8')).trim().split('\n');
    expect(turns.reduce((sum, each) => sum + each, 0)).toBe(history.length / 2);
    expect(history.length).toBeGreaterThanOrEqual(100);
    const overlaps = history.filter((line, index) =>
      index % 2 === 0 ? !line.startsWith('begin') : line !== history[index - 1]?.replace('begin', 'end'),
    );
    expect(overlaps).toEqual([]);
    const epochs = history.filter((line) => line.startsWith('begin')).map((line) => Number(line.slice(6)));
    expect(epochs).toEqual(epochs.toSorted((one, other) => one - other));
    expect(new Set(epochs).size).toBe(epochs.length);
    await Promise.all(racers.map(({ ended }) => ended));
    expect(await readdir(join(home.path, 'runtime', 'lease'))).toEqual([]);
  });

  it.runIf(canHaveNetworkNamespaces)('is seen from another network namespace', async () => {
    const child = start(HOLD, { command: [UNSHARE, '-n', process.execPath] });
    expect(await child.next()).toBe('held 1');
    expect(await codeOf(acquire(OPEN))).toBe('WAKE_CONFLICT');
    child.process.kill('SIGKILL');
    await freed();
    expect((await acquire(OPEN)).epoch).toBe(2);
  });

  it.runIf(canMountReadOnly)(
    'cannot be had in a home on a read-only file system, whether its folder is there or not',
    async () => {
      const program = `await acquire(${JSON.stringify(NEW)}).then(() => say('held'), (error) => say(error.code + ' ' + error.details?.systemCode));`;
      const command = [
        UNSHARE,
        '-m',
        'sh',
        '-c',
        `mount --bind "${home.path}" "${home.path}" && mount -o remount,ro,bind "${home.path}" && exec "$@"`,
        'sh',
        process.execPath,
      ] as const;
      expect(await start(program, { command: [...command] }).next()).toBe('STORAGE_FAILED EROFS');
      await mkdir(join(home.path, 'runtime', 'lease'), { recursive: true });
      expect(await start(program, { command: [...command] }).next()).toBe('STORAGE_FAILED EROFS');
    },
  );
});
