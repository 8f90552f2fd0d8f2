/**
 * A socket that is there while its process lives: the kernel answers for a process that is busy or stopped, and for
 * none that is gone.
 */
import { chmod, mkdtemp, open, rename, rm, stat, symlink } from 'node:fs/promises';
import type { Server } from 'node:net';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { hasCode, systemCodeOf } from '../system/error-codes.ts';
import { descriptorPath, hasDescriptorPaths } from '../system/held-folder.ts';

// A way to a folder that is short enough for a socket: the path of one may have some hundred bytes, and a home may have
// more. On Linux it leads through a descriptor of the folder, elsewhere through a link in a folder of this user's own.

/** Longest path that every system takes for a socket, in bytes: 104 with the zero at its end, on macOS. */
const MAX_SOCKET_PATH_BYTES = 103;
/** Not the folder for temporary files of this system: that may be long itself. */
const SHORT_FOLDER = '/tmp/wakechart-';

/**
 * Lets `use` reach `name` in `folder` under a path that a socket can have. @throws the system's error, ENOENT when the
 * folder is not there
 */
async function withShortWay<Result>(
  folder: string,
  name: string,
  use: (path: string) => Promise<Result>,
): Promise<Result> {
  const plain = join(folder, name);
  if (Buffer.byteLength(plain) <= MAX_SOCKET_PATH_BYTES) return use(plain);
  return hasDescriptorPaths() ? throughDescriptor(folder, name, use) : throughLink(folder, name, use);
}

async function throughDescriptor<Result>(
  folder: string,
  name: string,
  use: (path: string) => Promise<Result>,
): Promise<Result> {
  const handle = await open(folder, 'r');
  try {
    return await use(join(descriptorPath(handle.fd), name));
  } finally {
    await handle.close();
  }
}

async function throughLink<Result>(
  folder: string,
  name: string,
  use: (path: string) => Promise<Result>,
): Promise<Result> {
  await stat(folder);
  const own = await mkdtemp(SHORT_FOLDER);
  try {
    const link = join(own, 'f');
    await symlink(folder, link);
    return await use(join(link, name));
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

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
 * answer is dead. Never keeps the process alive.
 * @throws the system's error
 */
export async function openLifeSocket(folder: string, name: string): Promise<LifeSocket> {
  const draft = `${name}${DRAFT_ENDING}`;
  const path = join(folder, `${name}${SOCKET_ENDING}`);
  const server = createServer((connection) => connection.on('error', () => undefined).destroy());
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
      await closed(server);
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
