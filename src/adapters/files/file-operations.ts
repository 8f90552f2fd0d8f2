/**
 * Everything that the files store does to a disk, one method for each change. All of its changes go through here, so
 * that a test can let any of them fail, or end the process before or after it. Errors are those of the system.
 */
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  linkSync,
  openSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { systemCodeOf } from '../system/error-codes.ts';
import { makeFolder, syncFolder } from '../system/whole-files.ts';

/** Only the owner may read: logs hold whatever was said. */
export const PRIVATE_FOLDER_MODE = 0o700;
const PRIVATE_FILE_MODE = 0o600;

/**
 * Up to so many bytes are written by the thread that asks. The system copies them to its memory in a few microseconds;
 * to pass them to another thread and to hear from it takes ten times as long. Whatever waits for the disk itself is
 * done by another thread.
 */
const SHORT_BYTES = 64 * 1024;

const APPENDING = constants.O_RDWR | constants.O_APPEND;

const OVERWRITING = constants.O_WRONLY | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);

/** What the system says of a file that may be there to be read only. */
const WRITING_REFUSED: ReadonlySet<string> = new Set(['EROFS', 'EACCES', 'EPERM']);

export interface ReadableFile {
  /** @throws ENOENT when the file was removed while it is open */
  size(): Promise<number>;
  /** Up to `length` bytes from `position`; fewer at the end of the file. */
  read(position: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
}

export interface LogFile extends ReadableFile {
  /**
   * Writes at the end in one call, also while another process appends. Resolves with how many bytes got there, which
   * may be fewer.
   */
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
  /**
   * Writes over a file where it lies, or makes it, for its owner only. Who reads meanwhile may see a part: for what
   * tells by itself whether it is whole.
   */
  overwriteFile(path: string, content: string): Promise<void>;
  syncFile(path: string): Promise<void>;
  /** Puts a folder's entries on the disk: a file that was made or renamed is found again after a power failure. */
  syncDirectory(path: string): Promise<void>;
  /** Takes the place of what is there. */
  rename(from: string, to: string): Promise<void>;
  /**
   * Another name for a file that is there. @throws ENOENT, EEXIST, and whatever a file system says that has no such
   * names
   */
  linkFile(from: string, to: string): Promise<void>;
  removeFile(path: string): Promise<void>;
  /** Removes a folder with all that is in it. */
  removeTree(path: string): Promise<void>;
  /** Opens a log that is there. One that may only be read opens too, and its first append says so. @throws ENOENT */
  openLog(path: string): Promise<LogFile>;
  /** Opens a file that is there, to write anywhere in it. @throws ENOENT */
  openWritable(path: string): Promise<WritableFile>;
}

export const systemFileOperations: FileOperations = {
  async makeDirectory(path) {
    await mkdir(path, { mode: PRIVATE_FOLDER_MODE });
  },
  makeDirectories: (path) => makeFolder(path, { durability: 'os' }),
  async createFile(path, content) {
    if (content.length > SHORT_BYTES) return withFile(path, 'wx', (handle) => handle.writeFile(content));
    createSmall(path, content);
  },
  async overwriteFile(path, content) {
    const descriptor = openSync(path, OVERWRITING, PRIVATE_FILE_MODE);
    try {
      const bytes = Buffer.from(content, 'utf8');
      const { size } = fstatSync(descriptor);
      writeAll(descriptor, bytes);
      if (size > bytes.length) ftruncateSync(descriptor, bytes.length);
    } finally {
      closeSync(descriptor);
    }
  },
  syncFile: (path) => withFile(path, 'r+', (handle) => handle.sync()),
  syncDirectory: (path) => syncFolder(path),
  async rename(from, to) {
    renameSync(from, to);
  },
  async linkFile(from, to) {
    linkSync(from, to);
  },
  async removeFile(path) {
    unlinkSync(path);
  },
  removeTree: (path) => rm(path, { recursive: true, force: true }),
  async openLog(path) {
    let handle: FileHandle;
    try {
      handle = await open(path, APPENDING);
    } catch (error) {
      if (!WRITING_REFUSED.has(systemCodeOf(error) ?? '')) throw error;
      return logToRead(path);
    }
    return { ...readable(handle), append: (bytes) => appendTo(handle, bytes), sync: () => handle.datasync() };
  },
  async openWritable(path) {
    const handle = await open(path, constants.O_RDWR);
    return {
      ...readable(handle),
      write: (bytes, position) => writeAt(handle, bytes, position),
      sync: () => handle.datasync(),
    };
  },
};

function createSmall(path: string, content: string | Uint8Array): void {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  const descriptor = openSync(path, 'wx', PRIVATE_FILE_MODE);
  try {
    writeAll(descriptor, bytes);
  } finally {
    closeSync(descriptor);
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) {
    const written = writeSync(descriptor, bytes, done);
    if (written === 0) throw new Error('the file takes no more bytes');
    done += written;
  }
}

/** @throws ENOENT */
export async function openToRead(path: string): Promise<ReadableFile> {
  return readable(await open(path, 'r'));
}

/** Each append tries anew to open it for writing: a disk is mounted again, permissions change. */
async function logToRead(path: string): Promise<LogFile> {
  const handle = await open(path, 'r');
  let writer: FileHandle | undefined;
  return {
    ...readable(handle),
    async append(bytes) {
      writer ??= await openSame(path, handle);
      return appendTo(writer, bytes);
    },
    sync: async () => writer?.datasync(),
    async close() {
      await handle.close();
      await writer?.close();
    },
  };
}

/** @throws ENOENT when another file has taken the place of the one that is open */
async function openSame(path: string, known: FileHandle): Promise<FileHandle> {
  const handle = await open(path, APPENDING);
  const [one, other] = [fstatSync(handle.fd), fstatSync(known.fd)];
  if (one.ino === other.ino && one.dev === other.dev) return handle;
  await handle.close();
  throw Object.assign(new Error('the file was removed'), { code: 'ENOENT' });
}

async function appendTo(handle: FileHandle, bytes: Uint8Array): Promise<number> {
  if (bytes.length <= SHORT_BYTES) return writeSync(handle.fd, bytes, 0, bytes.length, null);
  return (await handle.write(bytes, 0, bytes.length, null)).bytesWritten;
}

function readable(handle: FileHandle): ReadableFile {
  return {
    // Not handed to a thread: an open file's size is in memory, and every read of a log asks for it first.
    async size() {
      const { size, nlink } = fstatSync(handle.fd);
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
  for (let done = 0; done < bytes.length;) {
    const left = bytes.length - done;
    const bytesWritten =
      left <= SHORT_BYTES
        ? writeSync(handle.fd, bytes, done, left, position + done)
        : (await handle.write(bytes, done, left, position + done)).bytesWritten;
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
