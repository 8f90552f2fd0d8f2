/**
 * A socket that is there while its process lives: the kernel answers for a process that is busy or stopped, and for
 * none that is gone.
 */
import { chmod, rename, rm } from 'node:fs/promises';
import type { Server } from 'node:net';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import type { HostAnswerer } from '../../actors/host/host-exchange.ts';
import { hasCode, systemCodeOf } from '../system/error-codes.ts';
import { HostDesk } from './host-desk.ts';
import { withShortWay } from './short-way.ts';

/** Only the owner may connect. */
const PRIVATE_SOCKET_MODE = 0o600;

export const SOCKET_ENDING = '.sock';
/** Of one that does not listen yet. */
export const DRAFT_ENDING = '.new';

/**
 * What the system says when no process listens: no such name, one whose owner died, or one that is no socket at all.
 */
const NOBODY_LISTENS: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTSOCK', 'EPROTOTYPE']);
/** What it says of a process that listens and is slow to let others in, or hangs up on them. */
const SOMEBODY_LISTENS: ReadonlySet<string> = new Set(['EAGAIN', 'ECONNRESET', 'EPIPE']);

export interface LifeSocket {
  /** Takes its name away and stops listening. */
  close(): Promise<void>;
}

/**
 * Listens as `<name>.sock` in `folder`, which is there. It gets that name when it listens: under it, one that does not
 * answer is dead. Never keeps the process alive. Who connects may ask one question, where there is an answerer.
 * @throws the system's error
 */
export async function openLifeSocket(
  folder: string,
  name: string,
  answerer: () => HostAnswerer | undefined = () => undefined,
): Promise<LifeSocket> {
  const draft = `${name}${DRAFT_ENDING}`;
  const path = join(folder, `${name}${SOCKET_ENDING}`);
  const desk = new HostDesk(answerer);
  const server = createServer((connection) => desk.admit(connection));
  try {
    await withShortWay(folder, draft, (address) => listen(server, address));
    await chmod(join(folder, draft), PRIVATE_SOCKET_MODE);
    await rename(join(folder, draft), path);
  } catch (error) {
    await rm(join(folder, draft), { force: true }).catch(() => undefined);
    await closed(server);
    throw error;
  }
  return {
    async close() {
      await rm(path, { force: true }).catch(() => undefined);
      await Promise.all([closed(server), desk.close()]);
    },
  };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // Exclusive: workers of a cluster would otherwise share it.
    server.listen({ path, exclusive: true }, () => {
      server.off('error', reject);
      // An accept that fails (too many open files) takes nothing away from who asks: the connection was made.
      server.on('error', () => undefined);
      server.unref();
      resolve();
    });
  });
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

/** Whether a process of this kernel listens as `name` in `folder`; undefined when the system does not let us ask. */
export async function doesListen(folder: string, name: string): Promise<boolean | undefined> {
  try {
    return await withShortWay(folder, `${name}${SOCKET_ENDING}`, ask);
  } catch (error) {
    // The folder itself: where it is not, no process is in it.
    return hasCode(error, 'ENOENT') ? false : undefined;
  }
}

function ask(path: string): Promise<boolean | undefined> {
  return new Promise((resolve) => {
    const connection = connect(path);
    connection.on('error', (error) => resolve(verdictOf(systemCodeOf(error) ?? '')));
    connection.on('connect', () => {
      resolve(true);
      connection.destroy();
    });
  });
}

function verdictOf(code: string): boolean | undefined {
  if (SOMEBODY_LISTENS.has(code)) return true;
  return NOBODY_LISTENS.has(code) ? false : undefined;
}
