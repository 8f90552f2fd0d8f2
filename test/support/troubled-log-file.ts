/** A real disk whose logs fail when the test says so. */
import { systemFileOperations } from '../../src/adapters/files/file-operations.ts';
import type { FileOperations, LogFile } from '../../src/adapters/files/file-operations.ts';

export type Trouble =
  /** The next write puts only so many bytes on the disk, and fails or says so. */
  | { readonly kind: 'torn_write' | 'short_write'; readonly bytes: number; readonly code?: string }
  | { readonly kind: 'failed_sync'; readonly code: string };

export class TroubledDisk {
  /** Taken one by one, each by the next operation it is about. */
  readonly troubles: Trouble[] = [];
  writes = 0;
  syncs = 0;
  /** Awaited by every sync; lets a test hold one up. */
  beforeSync: () => Promise<void> = async () => undefined;
  /** Called after every write, before the sync. */
  afterWrite: () => Promise<void> = async () => undefined;

  readonly operations: FileOperations = {
    ...systemFileOperations,
    openLog: async (path) => {
      const file = await systemFileOperations.openLog(path);
      return { ...file, append: (bytes) => this.#append(file, bytes), sync: () => this.#sync(file) } satisfies LogFile;
    },
  };

  async #append(file: LogFile, bytes: Uint8Array): Promise<number> {
    this.writes += 1;
    const trouble = this.#next('torn_write', 'short_write');
    if (trouble === undefined || trouble.kind === 'failed_sync') {
      const written = await file.append(bytes);
      await this.afterWrite();
      return written;
    }
    const written = trouble.bytes === 0 ? 0 : await file.append(bytes.subarray(0, trouble.bytes));
    if (trouble.kind === 'torn_write') throw systemError(trouble.code ?? 'ENOSPC');
    return written;
  }

  async #sync(file: LogFile): Promise<void> {
    this.syncs += 1;
    await this.beforeSync();
    const trouble = this.#next('failed_sync');
    if (trouble?.kind === 'failed_sync') throw systemError(trouble.code);
    await file.sync();
  }

  #next(...kinds: readonly Trouble['kind'][]): Trouble | undefined {
    const [first] = this.troubles;
    return first !== undefined && kinds.includes(first.kind) ? this.troubles.shift() : undefined;
  }
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: the disk is in trouble`), { code });
}
