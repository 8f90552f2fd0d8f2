/**
 * The lease within one process: names, folders, strangers on the line. What needs several processes is in
 * lease-processes.test.ts.
 */
import { once } from 'node:events';
import { chmod, mkdir, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WakeClaim, WakeRight } from '../../../src/actors/session/event-store.ts';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { SimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { acquireLease, leaseFreed } from '../../../src/adapters/files/lease.ts';
import type { LeaseRequest } from '../../../src/adapters/files/lease.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { SESSION_ID } from '../../support/session-events.ts';
import { until } from '../../support/session-setup.ts';
import { openFilesOf } from '../../setup/open-files.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const LEASE_MS = 15_000;
const NEW: WakeClaim = { epoch: 0, isOpen: false };
const NEVER = new AbortController().signal;

let home: TemporaryHome;
let clock: SimulatedClock;
const rights: WakeRight[] = [];
const servers: Server[] = [];
const connections: Socket[] = [];

beforeEach(async () => {
  home = await temporaryHome();
  clock = createSimulatedClock();
});
afterEach(async () => {
  for (const connection of connections.splice(0)) connection.destroy();
  await Promise.all(rights.splice(0).map((right) => right.release()));
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  expect(clock.pendingTimers).toBe(0);
  await home.remove();
});

/** A request with the sockets in a folder of the test's, short enough to be reached by its plain path. */
const request = (more: Partial<LeaseRequest> = {}): LeaseRequest => ({
  sessionId: SESSION_ID,
  directory: home.path,
  clock,
  leaseMs: LEASE_MS,
  ...more,
});
const folder = (): string => join(home.path, 'runtime', 'lease');
const nameOf = (epoch: number): string => join(folder(), `${epoch}.sock`);

async function acquire(claim: WakeClaim = NEW, more: Partial<LeaseRequest> = {}): Promise<WakeRight> {
  const right = await acquireLease(request(more), claim);
  rights.push(right);
  return right;
}

/** Moves the clock until the promise has settled. */
async function withTime<Value>(promise: Promise<Value>): Promise<Value> {
  let isSettled = false;
  const settled = (): void => {
    isSettled = true;
  };
  promise.then(settled, settled);
  while (!isSettled) await clock.advance(LEASE_MS / 5);
  return promise;
}

/** Somebody else under this name, who does with connections whatever `onConnection` does. */
async function stranger(epoch: number, onConnection: (connection: Socket) => void = () => undefined): Promise<void> {
  await mkdir(folder(), { recursive: true });
  const server = createServer((connection) => {
    connections.push(connection);
    connection.on('error', () => undefined);
    onConnection(connection);
  });
  servers.push(server);
  server.listen(nameOf(epoch));
  await once(server, 'listening');
}

describe.runIf(process.platform === 'linux')('a lease', () => {
  it('is a socket in the session folder that only its owner can use, and leaves nothing', async () => {
    const right = await acquire();
    expect(await readdir(folder())).toEqual(['1.sock']);
    expect((await stat(nameOf(1))).mode & 0o777).toBe(0o600);
    expect((await stat(folder())).mode & 0o777).toBe(0o700);
    await right.release();
    expect(await readdir(folder())).toEqual([]);
  });

  it('works in a folder whose path is long, and has spaces and letters of all kinds in it', async () => {
    const directory = join(home.path, 'x'.repeat(200), 'ein Ordner – папка 📁', 'y'.repeat(200));
    await mkdir(directory, { recursive: true });
    await acquire(NEW, { directory });
    expect(await codeOf(acquire(NEW, { directory }))).toBe('WAKE_CONFLICT');
  });

  it('opens no more files after hundreds than before, and needs none of each other', async () => {
    const open = (): number => openFilesOf(home.path) + openFilesOf('socket:');
    const before = open();
    const directories = Array.from({ length: 300 }, (_, index) => join(home.path, `session-${index}`));
    await Promise.all(directories.map((directory) => mkdir(directory)));
    const all = await Promise.all(directories.map((directory) => acquire(NEW, { directory })));
    expect(all.map(({ epoch }) => epoch)).toEqual(Array.from({ length: 300 }, () => 1));
    await Promise.all(all.map((right) => right.release()));
    expect(open()).toBeLessThanOrEqual(before);
  });

  it('says who has it to those who are refused', async () => {
    await acquire();
    await expect(acquire()).rejects.toMatchObject({
      code: 'WAKE_CONFLICT',
      details: { sessionId: SESSION_ID, pid: process.pid, epoch: 1 },
    });
  });

  it('goes past the names of the dead, and takes them away once the log has gone past them', async () => {
    await mkdir(folder(), { recursive: true });
    for (const epoch of [1, 2, 3]) await writeFile(nameOf(epoch), '');
    await mkdir(nameOf(4));
    await symlink('nowhere', nameOf(5));
    const right = await acquire({ epoch: 1, isOpen: true });
    expect(right.epoch).toBe(6);
    expect((await readdir(folder())).toSorted()).toEqual(['2.sock', '3.sock', '4.sock', '5.sock', '6.sock']);
    await right.release();
    expect((await acquire({ epoch: 6, isOpen: false })).epoch).toBe(7);
    expect((await readdir(folder())).toSorted()).toEqual(['4.sock', '5.sock', '7.sock']);
  });

  it('is not confused by other things in its folder', async () => {
    await mkdir(folder(), { recursive: true });
    for (const name of ['0.sock', '01.sock', '-1.sock', '1.5.sock', '99999999999999999999.sock', 'x.sock', '7', 'é'])
      await writeFile(join(folder(), name), '');
    expect((await acquire()).epoch).toBe(1);
  });

  it('is refused to somebody with an old view of the log, while one with a newer view has it', async () => {
    await acquire({ epoch: 8, isOpen: false });
    expect(await codeOf(acquire({ epoch: 3, isOpen: true }))).toBe('WAKE_CONFLICT');
    expect(await readdir(folder())).toEqual(['9.sock']);
  });

  it('survives that its folder is taken away, and lets go without harm', async () => {
    const right = await acquire();
    await rm(join(home.path, 'runtime'), { recursive: true });
    const next = await acquire({ epoch: 1, isOpen: true });
    await right.release();
    expect(await readdir(folder())).toEqual(['2.sock']);
    expect(next.lost.aborted).toBe(false);
  });

  it('is not given for a session whose folder is gone', async () => {
    expect(await codeOf(acquire(NEW, { directory: join(home.path, 'gone') }))).toBe('SESSION_NOT_FOUND');
    await leaseFreed(request({ directory: join(home.path, 'gone') }), NEVER);
  });

  it('goes to one at a time, however often it changes hands and whatever view of the log they have', async () => {
    let holders = 0;
    let epoch = 0;
    let turns = 0;
    const worker = async (): Promise<void> => {
      while (turns < 60) {
        const claim = { epoch, isOpen: turns % 2 === 0 };
        await new Promise((resolve) => setImmediate(resolve));
        const right = await acquireLease(request(), claim).catch(() => undefined);
        // What the log does to those who come late.
        if (right === undefined || right.epoch <= epoch) {
          await right?.release();
          continue;
        }
        holders += 1;
        turns += 1;
        expect(holders).toBe(1);
        epoch = right.epoch;
        await new Promise((resolve) => setImmediate(resolve));
        holders -= 1;
        await right.release();
      }
    };
    await Promise.all(Array.from({ length: 6 }, worker));
  });
});

describe.runIf(process.platform === 'linux')('a lease that meets somebody silent', () => {
  it.each<[string, (connection: Socket) => void]>([
    ['says nothing', () => undefined],
    [
      'talks nonsense',
      (connection) => connection.write('\u0000{"type":"alive"}\nnull\n[1]\n"ask"\n{"type":"alive","phase":"king"}\n'),
    ],
    ['talks without end', (connection) => connection.write('x'.repeat(100_000))],
  ])('passes one that %s, after the length of the lease and not before', async (_what, onConnection) => {
    await stranger(1, onConnection);
    let outcome = 'waiting';
    const asked = acquire({ epoch: 1, isOpen: true });
    asked.then(
      () => {
        outcome = 'acquired';
      },
      () => {
        outcome = 'refused';
      },
    );
    await until(() => connections.length > 0);
    await clock.advance(LEASE_MS - 1);
    expect(outcome).toBe('waiting');
    await withTime(asked);
    expect((await asked).epoch).toBe(2);
  });

  it('takes a number above every silent one, so that none of them can void it by waking up', async () => {
    await stranger(2);
    await stranger(5);
    expect((await withTime(acquire({ epoch: 1, isOpen: false }))).epoch).toBe(6);
    expect((await readdir(folder())).toSorted()).toEqual(['2.sock', '5.sock', '6.sock']);
  });

  it('does not pass one that hangs up on everybody, since the dead do not', async () => {
    await stranger(1, (connection) => connection.destroy());
    expect(await codeOf(acquire({ epoch: 1, isOpen: true }))).toBe('WAKE_CONFLICT');
  });

  it('leaves word for it', async () => {
    let heard = '';
    await stranger(1, (connection) =>
      connection.setEncoding('utf8').on('data', (text: string) => {
        heard += text;
      }),
    );
    await withTime(acquire({ epoch: 1, isOpen: true }));
    await until(() => heard.includes('\n', heard.indexOf('\n') + 1));
    expect(heard).toBe('{"type":"ask"}\n{"type":"passed","by":2}\n');
  });

  it('is refused when that one speaks up in the last moment', async () => {
    let speak: () => void = () => undefined;
    await stranger(1, (connection) => {
      speak = () => connection.write('{"type":"alive","phase":"held","epoch":1,"pid":7,"host":"h"}\n');
    });
    await stranger(3);
    const asked = codeOf(acquire({ epoch: 1, isOpen: true }));
    await until(() => connections.length === 1);
    while (connections.length < 2) await clock.advance(LEASE_MS / 5);
    speak();
    expect(await withTime(asked)).toBe('WAKE_CONFLICT');
    expect((await readdir(folder())).toSorted()).toEqual(['1.sock', '3.sock']);
  });

  it('reads what has arrived before it judges', async () => {
    const armed: (() => void)[] = [];
    const byHand = {
      ...clock,
      setTimeout: (callback: () => void) => {
        armed.push(callback);
        return {};
      },
    };
    const asked = new Promise<Socket>((resolve) => {
      void stranger(1, (connection) => connection.on('data', () => resolve(connection)));
    });
    await until(() => servers.length === 1 && servers[0]?.listening === true);
    let isFreed = false;
    const freed = leaseFreed(request({ clock: byHand }), NEVER).then(() => {
      isFreed = true;
    });
    const connection = await asked;
    // The event loop has run its timers late, and has not come to its sockets yet.
    setTimeout(() => {
      connection.write('{"type":"alive","phase":"held","epoch":1,"pid":7,"host":"h"}\n');
      for (let part = 0; part < armed.length && part < 5; part += 1) armed[part]?.();
    }, 0);
    // The wait begins anew.
    await until(() => armed.length === 6 || isFreed);
    expect(isFreed).toBe(false);
    servers[0]?.close();
    connection.destroy();
    await freed;
  });

  it('does not count the time in which it was not awake itself', async () => {
    await stranger(1, (connection) =>
      connection.on('data', () => connection.write('{"type":"alive","phase":"held","epoch":1,"pid":7,"host":"h"}\n')),
    );
    const armed: (() => void)[] = [];
    // As after a night in which the machine slept: the first timer is due, and nothing that came meanwhile has been
    // read.
    const asleep = {
      ...clock,
      setTimeout: (callback: () => void) => {
        armed.push(callback);
        return {};
      },
    };
    const asked = codeOf(acquire({ epoch: 1, isOpen: true }, { clock: asleep }));
    await until(() => armed.length === 1);
    armed[0]?.();
    expect(await asked).toBe('WAKE_CONFLICT');
  });

  it.each([
    ['leaves when the other one turns out to hold the right', 'held', 'WAKE_CONFLICT', ['2.sock']],
    ['stays when the other one leaves', 'leaves', 'it succeeded', ['3.sock']],
  ] as const)('above somebody who contends as well, %s', async (_what, decision, code, names) => {
    const say = (connection: Socket, phase: string): boolean =>
      connection.write(`{"type":"alive","phase":"${phase}","epoch":2,"pid":7,"host":"h"}\n`);
    // Not there yet for those who search for a free number, and then there.
    await stranger(2, (connection) => say(connection, connections.length === 1 ? 'lost' : 'contending'));
    const asked = codeOf(acquire({ epoch: 1, isOpen: false }));
    await until(() => connections.length === 2);
    await clock.advance(LEASE_MS - 1);
    const [, last] = connections;
    if (decision === 'held') say(last as Socket, decision);
    else {
      servers[0]?.close();
      last?.destroy();
    }
    expect(await asked).toBe(code);
    expect(await readdir(folder())).toEqual(names);
  });

  it('tells those who wait for its end to try again', async () => {
    await stranger(1);
    let isFreed = false;
    const freed = leaseFreed(request(), NEVER).then(() => {
      isFreed = true;
    });
    await until(() => connections.length > 0);
    await clock.advance(LEASE_MS - 1);
    expect(isFreed).toBe(false);
    await withTime(freed);
  });
});

describe.runIf(process.platform === 'linux')('the holder of a lease', () => {
  const dial = async (epoch = 1): Promise<Socket> => {
    const connection = connect(nameOf(epoch)).setEncoding('utf8');
    connection.on('error', () => undefined);
    connections.push(connection);
    await once(connection, 'connect');
    return connection;
  };

  it('does not mind strangers, whatever they send, and answers everybody else', async () => {
    const right = await acquire();
    for (const noise of [
      '\n\n\n',
      '{"type":"passed","by":"7"}\n',
      '{"type":"passed","by":1}\n',
      '{"type":"passed","by":-5}\n',
      '[]\nnull\n',
      '\u0000\u0000'.repeat(50),
      '{"type":',
    ])
      (await dial()).write(noise);
    const endless = await dial();
    endless.write('x'.repeat(5_000));
    await once(endless, 'close');
    const polite = await Promise.all(Array.from({ length: 50 }, () => dial()));
    const answers = polite.map((connection) => once(connection, 'data'));
    for (const connection of polite) connection.write('{"type":"ask","and":"more"}\n');
    for (const [answer] of await Promise.all(answers))
      expect(JSON.parse(String(answer))).toMatchObject({ type: 'alive', phase: 'held', epoch: 1, pid: process.pid });
    expect(right.lost.aborted).toBe(false);
  });

  it('hangs up on one who asks without end and does not listen', async () => {
    await acquire();
    const deaf = await dial();
    deaf.pause();
    const closed = new Promise((resolve) => deaf.on('close', resolve));
    const keepAsking = (): void => {
      if (!deaf.destroyed) deaf.write('{"type":"ask"}\n'.repeat(1_000), () => setImmediate(keepAsking));
    };
    keepAsking();
    await until(() => deaf.writableLength > 0 || deaf.destroyed);
    deaf.resume();
    await closed;
    expect(await codeOf(acquire())).toBe('WAKE_CONFLICT');
  });

  it('that is told it was passed has lost the right, and keeps nobody from it', async () => {
    const right = await acquire();
    (await dial()).write('{"type":"passed","by":2}\n');
    if (!right.lost.aborted) await once(right.lost, 'abort');
    expect(right.lost.reason).toMatchObject({ code: 'WAKE_SUPERSEDED', details: { epoch: 1, by: 2 } });
    expect((await acquire({ epoch: 1, isOpen: true })).epoch).toBe(2);
    await right.release();
    expect(await readdir(folder())).toEqual(['2.sock']);
  });

  it('hangs up on everybody when it lets go', async () => {
    const right = await acquire();
    const line = await dial();
    const closed = once(line.resume(), 'close');
    await right.release();
    await closed;
    expect(await readdir(folder())).toEqual([]);
  });
});

describe('a lease in a folder of short path', () => {
  const sockets = (): string => join(home.path, 's');

  it('is met by everybody who names that folder, and leaves it empty', async () => {
    const right = await acquire(NEW, { socketDirectory: sockets() });
    expect(await codeOf(acquire(NEW, { socketDirectory: sockets() }))).toBe('WAKE_CONFLICT');
    expect((await acquire(NEW, { socketDirectory: sockets(), directory: `${home.path}/other` })).epoch).toBe(1);
    const freed = leaseFreed(request({ socketDirectory: sockets() }), NEVER);
    await right.release();
    await freed;
    await Promise.all(rights.splice(0).map((each) => each.release()));
    expect(await readdir(sockets())).toEqual([]);
    expect((await stat(sockets())).mode & 0o777).toBe(0o700);
  });

  it('goes to one at a time, though the folder comes and goes', async () => {
    let holders = 0;
    let turns = 0;
    const worker = async (): Promise<void> => {
      while (turns < 60) {
        const right = await acquireLease(request({ socketDirectory: sockets() }), NEW).catch((error: unknown) => {
          expect(error).toMatchObject({ code: 'WAKE_CONFLICT' });
        });
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

  it('is refused when others can use the folder, or it is none', async () => {
    await mkdir(sockets());
    await chmod(sockets(), 0o755);
    await expect(acquire(NEW, { socketDirectory: sockets() })).rejects.toMatchObject({
      code: 'SOCKET_DIRECTORY_UNSAFE',
      category: 'storage',
    });
    await rm(sockets(), { recursive: true });
    await symlink(home.path, sockets());
    expect(await codeOf(acquire(NEW, { socketDirectory: sockets() }))).toBe('SOCKET_DIRECTORY_UNSAFE');
  });

  it('works by plain paths where there are no descriptors to go through, and refuses one that the system would cut off', async () => {
    const { platform } = process;
    // Sockets on macOS differ in nothing else that this code relies on.
    Object.defineProperty(process, 'platform', { value: 'darwin' });
    try {
      const right = await acquire(NEW, { socketDirectory: sockets() });
      expect(await codeOf(acquire(NEW, { socketDirectory: sockets() }))).toBe('WAKE_CONFLICT');
      const freed = leaseFreed(request({ socketDirectory: sockets() }), NEVER);
      await right.release();
      await freed;
      expect(await readdir(sockets())).toEqual([]);
      await expect(acquire(NEW, { socketDirectory: join(home.path, 'x'.repeat(100)) })).rejects.toMatchObject({
        code: 'SOCKET_PATH_TOO_LONG',
        category: 'storage',
      });
    } finally {
      Object.defineProperty(process, 'platform', { value: platform });
    }
  });

  it('is refused when the folder cannot be made', async () => {
    await writeFile(sockets(), '');
    expect(await codeOf(acquire(NEW, { socketDirectory: join(sockets(), 'below') }))).toBe('STORAGE_FAILED');
    expect(await codeOf(acquire(NEW, { socketDirectory: join(home.path, 'no', 'such') }))).toBe('STORAGE_FAILED');
  });
});
