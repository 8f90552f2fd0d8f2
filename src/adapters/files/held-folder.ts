/**
 * A folder that is held open while files are put into it. On Linux they are reached through its descriptor, so that
 * nobody who works beside it can put a link in its place in between.
 */
import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '../system/error-codes.ts';

const FLAGS = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);
const PRIVATE_FOLDER_MODE = 0o700;

export class HeldFolder {
  readonly #handle: FileHandle;
  readonly #path: string;

  private constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.#path = path;
  }

  /** @throws ELOOP or ENOTDIR when a link or something else is in its place */
  static async open(path: string, shownPath = path): Promise<HeldFolder> {
    return new HeldFolder(await open(path, FLAGS), shownPath);
  }

  /** How to reach something in it, for as long as it is open. */
  at(name: string): string {
    return process.platform === 'linux' ? join(`/proc/self/fd/${this.#handle.fd}`, name) : join(this.#path, name);
  }

  /** Opens a folder in it, which is made when it is not there. */
  async enterOrMake(name: string): Promise<HeldFolder> {
    try {
      await mkdir(this.at(name), { mode: PRIVATE_FOLDER_MODE });
      await this.sync();
    } catch (error) {
      if (systemCodeOf(error) !== 'EEXIST') throw error;
    }
    return HeldFolder.open(this.at(name), join(this.#path, name));
  }

  /** Puts its entries on the disk. */
  async sync(): Promise<void> {
    if (process.platform !== 'win32') await this.#handle.sync();
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}
