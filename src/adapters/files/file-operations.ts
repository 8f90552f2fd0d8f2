/**
 * Everything that the files store does to a disk, one method for each change. All of its changes go through here, so that a test can let
 * any of them fail, or end the process before or after it. Errors are those of the system.
 */
import { constants } from 'node:fs';
import { mkdir, open, rename, rm, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

/** Only the owner may look: logs hold whatever was said. */
export const PRIVATE_FOLDER_MODE = 0o700;
const PRIVATE_FILE_MODE = 0o600;

export interface ReadableFile {
  /** @throws ENOENT when the file was removed while it is open */
  size(): Promise<number>;
  /** Up to `length` bytes from `position`; fewer at the end of the file. */
  read(position: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
}

export interface LogFile extends ReadableFile {
  /** Writes at the end in one call, whoever else appends. Resolves with how many bytes got there, which may be fewer. */
  append(bytes: Uint8Array): Promise<number>;
  /** Puts what was written on the disk. */
  sync(): Promise<void>;
}

export interface WritableFile extends ReadableFile {
  /** Writes all of `bytes` at `position`. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** Puts what was written on the disk. */
  sync(): Promise<void>;
}

export interface FileOperations {
  /** Makes one folder, for its owner only. @throws EEXIST */
  makeDirectory(path: string): Promise<void>;
  /** Makes a folder and those above it. One that is there already is left as it is. */
  makeDirectories(path: string): Promise<void>;
  /** Makes a file with this content, for its owner only. @throws EEXIST */
  createFile(path: string, content: string | Uint8Array): Promise<void>;
  syncFile(path: string): Promise<void>;
  /** Puts a folder's entries on the disk: a file that was made or renamed is found again after a power failure. */
  syncDirectory(path: string): Promise<void>;
  /** Takes the place of what is there. */
  rename(from: string, to: string): Promise<void>;
  removeFile(path: string): Promise<void>;
  /** Removes a folder with all that is in it. */
  removeTree(path: string): Promise<void>;
  /** Opens a log that is there. @throws ENOENT */
  openLog(path: string): Promise<LogFile>;
  /** Opens a file that is there, to write anywhere in it. @throws ENOENT */
  openWritable(path: string): Promise<WritableFile>;
}

export const systemFileOperations: FileOperations = {
  async makeDirectory(path) {
    await mkdir(path, { mode: PRIVATE_FOLDER_MODE });
  },
  async makeDirectories(path) {
    await mkdir(path, { recursive: true, mode: PRIVATE_FOLDER_MODE });
  },
  createFile: (path, content) => withFile(path, 'wx', (handle) => handle.writeFile(content)),
  syncFile: (path) => withFile(path, 'r+', (handle) => handle.sync()),
  async syncDirectory(path) {
    // Windows cannot open a folder, and has no need to.
    if (process.platform !== 'win32') await withFile(path, 'r', (handle) => handle.sync());
  },
  rename,
  removeFile: unlink,
  removeTree: (path) => rm(path, { recursive: true, force: true }),
  async openLog(path) {
    const handle = await open(path, constants.O_RDWR | constants.O_APPEND);
    return { ...readable(handle), append: async (bytes) => (await handle.write(bytes, 0, bytes.length, null)).bytesWritten, sync: () => handle.datasync() };
  },
  async openWritable(path) {
    const handle = await open(path, constants.O_RDWR);
    return { ...readable(handle), write: (bytes, position) => writeAt(handle, bytes, position), sync: () => handle.datasync() };
  },
};

/** @throws ENOENT */
export async function openToRead(path: string): Promise<ReadableFile> {
  return readable(await open(path, 'r'));
}

function readable(handle: FileHandle): ReadableFile {
  return {
    async size() {
      const { size, nlink } = await handle.stat();
      if (nlink === 0) throw Object.assign(new Error('the file was removed'), { code: 'ENOENT' });
      return size;
    },
    async read(position, length) {
      const buffer = Buffer.allocUnsafe(length);
      const { bytesRead } = await handle.read(buffer, 0, length, position);
      return buffer.subarray(0, bytesRead);
    },
    close: () => handle.close(),
  };
}

async function writeAt(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    if (bytesWritten === 0) throw new Error('the file takes no more bytes');
    done += bytesWritten;
  }
}

async function withFile(path: string, flags: string, work: (handle: FileHandle) => Promise<void>): Promise<void> {
  const handle = await open(path, flags, PRIVATE_FILE_MODE);
  try {
    await work(handle);
  } finally {
    await handle.close();
  }
}
