/**
 * A folder that is held open while what is in it is read or written. On Linux that is reached through its descriptor,
 * so that nobody who works in it can lead us elsewhere by a link that is put in between.
 */
import { Buffer } from 'node:buffer';
import { constants } from 'node:fs';
import { mkdir, open, readdir } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { bytesOfName, nameOfBytes } from '../../machines/hand/hand-names.ts';
import { hasCode } from '../system/error-codes.ts';

const FLAGS = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);
const PRIVATE_FOLDER_MODE = 0o700;

/** As the system takes it: bytes where a name is no proper text. */
export type NativePath = string | Buffer;

export class OpenFolder {
  readonly handle: FileHandle;
  readonly #path: string;

  private constructor(handle: FileHandle, path: string) {
    this.handle = handle;
    this.#path = path;
  }

  /** @throws ELOOP or ENOTDIR when a link or something else is in its place */
  static async open(path: string): Promise<OpenFolder> {
    return new OpenFolder(await open(nativePath(path), FLAGS), path);
  }

  /** How to reach something in it, for as long as it is open. */
  at(name: string): NativePath {
    return nativePath(this.#textOf(name));
  }

  async enter(name: string): Promise<OpenFolder> {
    return OpenFolder.open(this.#textOf(name));
  }

  /** Opens a folder in it, which is made when it is not there. */
  async enterOrMake(name: string): Promise<OpenFolder> {
    await mkdir(this.at(name), { mode: PRIVATE_FOLDER_MODE }).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error;
    });
    return this.enter(name);
  }

  async names(): Promise<string[]> {
    const names = await readdir(nativePath(this.#textOf('.')), { encoding: 'buffer' });
    return names.map(nameOfBytes);
  }

  /** Puts its entries on the disk. */
  async sync(): Promise<void> {
    if (process.platform !== 'win32') await this.handle.sync();
  }

  async close(): Promise<void> {
    await this.handle.close();
  }

  #textOf(name: string): string {
    return `${process.platform === 'linux' ? `/proc/self/fd/${this.handle.fd}` : this.#path}/${name}`;
  }
}

export function nativePath(path: string): NativePath {
  const bytes = bytesOfName(path);
  return bytes === undefined ? path : Buffer.from(bytes);
}

/** The folder that a path leads to, link by link refused. @param names from `top`, one in the other */
export async function walkTo(top: string, names: readonly string[], make: boolean): Promise<OpenFolder> {
  let folder = await OpenFolder.open(top);
  for (const name of names) {
    const parent = folder;
    try {
      folder = await (make ? parent.enterOrMake(name) : parent.enter(name));
    } finally {
      await parent.close();
    }
  }
  return folder;
}
