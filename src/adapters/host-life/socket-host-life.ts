/**
 * Tells who lives by sockets, `<home>/hosts/<token>.sock` each: a process listens under its token as long as it lives,
 * and the kernel answers for it. So it can be asked from any container and any namespace of the machine that sees the
 * folder, by whatever path.
 */
import { readdir, rm, stat, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { HostLife } from '../../actors/host/host-life.ts';
import { makeFolder } from '../system/whole-files.ts';
import { isEarlierBoot, isSameKernel, newToken, placeHere, placeOf } from './host-token.ts';
import type { HostPlace } from './host-token.ts';
import { DRAFT_ENDING, SOCKET_ENDING, doesListen, openLifeSocket } from './life-socket.ts';
import type { LifeSocket } from './life-socket.ts';

/** In a home. */
export const HOSTS_FOLDER = 'hosts';

/** A socket that does not listen yet is that for milliseconds; one this old has no maker. */
const DRAFT_AGE_MS = 3_600_000;

export interface SocketHostLifeOptions {
  /** Such as `<home>/hosts`. Made with the first token. */
  readonly directory: string;
  /** Where this process runs. Default: what the system says. */
  readonly place?: HostPlace | undefined;
}

export function createHostLife(options: SocketHostLifeOptions): HostLife {
  return new SocketHostLife(options);
}

interface OpenLife {
  readonly token: string;
  readonly socket: LifeSocket;
}

class SocketHostLife implements HostLife {
  readonly #directory: string;
  readonly #place: HostPlace;
  #open: Promise<OpenLife | undefined> | undefined;
  #sweeping: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor({ directory, place = placeHere() }: SocketHostLifeOptions) {
    this.#directory = resolve(directory);
    this.#place = place;
  }

  async token(): Promise<string | undefined> {
    if (this.#isClosed) return undefined;
    this.#open ??= this.#begin();
    return (await this.#open)?.token;
  }

  async isAlive(token: string): Promise<boolean | undefined> {
    const there = placeOf(token);
    if (there === undefined) return undefined;
    if (isSameKernel(there, this.#place)) return doesListen(this.#directory, token);
    return isEarlierBoot(there, this.#place) || (await isLocal(this.#directory)) ? false : undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const open = await this.#open;
    await this.#sweeping;
    await open?.socket.close();
  }

  async #begin(): Promise<OpenLife | undefined> {
    if (process.platform === 'win32') return undefined;
    const token = newToken(this.#place);
    try {
      await makeFolder(this.#directory, { durability: 'os' });
      const socket = await openLifeSocket(this.#directory, token);
      this.#sweeping = this.#sweep().catch(() => undefined);
      return { token, socket };
    } catch {
      // A process that cannot write here hears so from what it was going to write.
      return undefined;
    }
  }

  /** Removes what the dead left. */
  async #sweep(): Promise<void> {
    for (const name of await readdir(this.#directory)) {
      if (await this.#isLeft(name)) await rm(join(this.#directory, name), { force: true });
    }
  }

  async #isLeft(name: string): Promise<boolean> {
    if (name.endsWith(SOCKET_ENDING)) return (await this.isAlive(name.slice(0, -SOCKET_ENDING.length))) === false;
    if (!name.endsWith(DRAFT_ENDING)) return false;
    const made = await stat(join(this.#directory, name)).catch(() => undefined);
    return made !== undefined && Date.now() - made.mtimeMs > DRAFT_AGE_MS;
  }
}

/** Magic numbers of statfs(2) on Linux: ext2 to ext4, XFS, Btrfs, F2FS, ZFS, bcachefs, tmpfs, ramfs, overlayfs. */
const LOCAL: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0xca451a4e, 0x01021994, 0x858458f6, 0x794c7630,
]);

/**
 * Whether the folder lies on a file system that one machine at a time has: then a process that made something in it on
 * another boot is gone. Any other file system, and any other system's, may be shared by several machines.
 */
async function isLocal(folder: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  return statfs(folder).then(
    ({ type }) => LOCAL.has(type >>> 0),
    () => false,
  );
}
