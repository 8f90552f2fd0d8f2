/** The few things a log asks of its file. A port of this folder, so that tests can let a disk fail. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

export interface LogFile {
  /** Writes at the end in one call, whoever else appends. Resolves with how many bytes got there, which may be fewer. */
  append(bytes: Uint8Array): Promise<number>;
  /** Puts what was written on the disk. */
  sync(): Promise<void>;
  size(): Promise<number>;
  /** Up to `length` bytes from `position`. */
  read(position: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
}

export type OpenLogFile = (path: string) => Promise<LogFile>;

/** @throws ENOENT when there is no such file: a log is made together with its session */
export const openLogFile: OpenLogFile = async (path) => {
  const handle = await open(path, constants.O_RDWR | constants.O_APPEND);
  return {
    async append(bytes) {
      const { bytesWritten } = await handle.write(bytes, 0, bytes.length, null);
      return bytesWritten;
    },
    sync: () => handle.datasync(),
    async size() {
      return (await handle.stat()).size;
    },
    async read(position, length) {
      const buffer = Buffer.allocUnsafe(length);
      const { bytesRead } = await handle.read(buffer, 0, length, position);
      return buffer.subarray(0, bytesRead);
    },
    close: () => handle.close(),
  };
};
