/**
 * Keeps what tools put out beyond what a model is given, as files in the workspace of the session, where the agent can
 * read them.
 */
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { lstat, opendir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { OutputFileStore, KeptBytes, KeptOutput, OutputStore } from '../../actors/turn/output-store.ts';
import type { SessionDirectories, SessionPlace } from '../../actors/session/session-directories.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import {
  MAX_OUTPUT_FILE_BYTES,
  MAX_SESSION_OUTPUT_BYTES,
  MAX_SESSION_OUTPUT_FILES,
} from '../../machines/turn/files/file-limits.ts';
import { cutOutput } from '../../machines/turn/output-cut.ts';
import { systemCodeOf } from '../system/error-codes.ts';
import { KeyedMutex } from '../../actors/concurrency/mutex.ts';
import type { HeldFolder } from '../system/held-folder.ts';
import { Places } from './places.ts';
import { RUNTIME_FOLDER, openRuntimeFolder } from './runtime-folder.ts';
import { putWholeFile } from '../system/held-file.ts';

/** From the workspace, one folder in the other. */
const FOLDERS = [RUNTIME_FOLDER, 'outputs'] as const;
const PRIVATE_FILE_MODE = 0o600;

/** What stands in place of an output that had to go. */
const GONE = `[This output was deleted: the outputs of a session are kept up to ${MAX_SESSION_OUTPUT_BYTES} bytes, and this was one of the oldest.]\n`;

/** Bytes up to which a file cannot be made smaller. */
const SMALL_BYTES = Buffer.byteLength(GONE);

/** Bytes of one UTF-16 unit in UTF-8, at most. */
const MAX_BYTES_PER_CHARACTER = 3;

export interface OutputFilesOptions extends Pick<SessionDirectories, 'workspaceDirectory'> {
  /** Bytes of all kept outputs of one session. Default: 256 MiB. */
  readonly maxSessionBytes?: number | undefined;
  /** Takes the secrets of a session out of texts. Bytes are left to their keeper: a change in an image breaks it. */
  readonly redacted?: ((session: SessionPlace, text: string) => string) | undefined;
}

/**
 * Files in `.wakechart-runtime/outputs`, readable by their owner only: `<callId>.txt` for text, and
 * `<callId>.<hash>.<extension>` for bytes, so that what the log refers to stays what it was when a provider uses a call
 * id twice.
 */
export function createOutputFiles({
  workspaceDirectory,
  maxSessionBytes = MAX_SESSION_OUTPUT_BYTES,
  redacted = (_session, text) => text,
}: OutputFilesOptions): OutputStore & OutputFileStore {
  const mutex = new KeyedMutex();
  const put = async (session: SessionPlace, name: string, content: Uint8Array): Promise<string> => {
    const places = await Places.open({ workspaceDirectory: await workspaceDirectory(session) });
    await mutex.run(places.workspace, async () => {
      const folder = await openRuntimeFolder(places, FOLDERS.slice(1));
      try {
        await putWholeFile(folder, { name, content, mode: PRIVATE_FILE_MODE, as: 'replace' });
        await makeRoom(folder, { kept: name, maxBytes: maxSessionBytes });
      } finally {
        await folder.close();
      }
    });
    return [...FOLDERS, name].join('/');
  };
  return {
    async keep({ session, callId, text }: KeptOutput): Promise<string> {
      try {
        return await put(session, `${fileNameOf(callId)}.txt`, bounded(redacted(session, text)));
      } catch (error) {
        throw storageFailed(callId, error);
      }
    },
    async keepBytes({ session, callId, bytes, extension }: KeptBytes): Promise<string> {
      // Half of an image is none, so nothing is cut here.
      if (bytes.length > MAX_OUTPUT_FILE_BYTES) throw tooLarge(callId, bytes.length);
      try {
        return await put(
          session,
          [fileNameOf(callId), contentName(bytes), EXTENSION.test(extension) ? extension : 'bin'].join('.'),
          bytes,
        );
      } catch (error) {
        throw storageFailed(callId, error);
      }
    },
  };
}

const EXTENSION = /^[a-z0-9]{1,8}$/;

/** Of the hash of some bytes, as many digits as tell those of one call apart. */
const CONTENT_NAME_DIGITS = 16;

function contentName(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, CONTENT_NAME_DIGITS);
}

/**
 * Call ids come from providers and may hold anything; one that is no plain name, or could be taken for another, is told
 * by its hash.
 */
function fileNameOf(callId: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(callId)
    ? callId
    : `call-${createHash('sha256').update(callId).digest('hex')}`;
}

function bounded(text: string): Buffer {
  if (
    text.length * MAX_BYTES_PER_CHARACTER > MAX_OUTPUT_FILE_BYTES &&
    Buffer.byteLength(text) > MAX_OUTPUT_FILE_BYTES
  ) {
    const note = `[This output was cut: the file of one output holds ${MAX_OUTPUT_FILE_BYTES} bytes at most.]\n`;
    const maxCharacters = Math.floor((MAX_OUTPUT_FILE_BYTES - note.length) / (Buffer.byteLength(text) / text.length));
    const cut = Buffer.from(note + cutOutput(text, { maxCharacters }));
    // Where characters of many bytes stand together at both ends, what is kept of them is larger than their share.
    return cut.length <= MAX_OUTPUT_FILE_BYTES
      ? cut
      : Buffer.from(
          note +
            cutOutput(text, {
              maxCharacters: Math.floor((MAX_OUTPUT_FILE_BYTES - note.length) / MAX_BYTES_PER_CHARACTER),
            }),
        );
  }
  return Buffer.from(text);
}

interface OutputFile {
  readonly name: string;
  readonly bytes: number;
  readonly changedAtMs: number;
}

interface Room {
  /** The file that must stay. */
  readonly kept: string;
  readonly maxBytes: number;
}

/** The name of a text. A note in any other file would be taken for what the name says it is. */
const TEXT_NAME = /^[\w-]+\.txt$/;

/**
 * Replaces the oldest texts by a note until the rest fits; other files, and beyond a number of files the oldest, go
 * without one.
 */
async function makeRoom(folder: HeldFolder, { kept, maxBytes }: Room): Promise<void> {
  const files = (await outputsIn(folder)).toSorted(
    (one, other) => one.changedAtMs - other.changedAtMs || (one.name < other.name ? -1 : 1),
  );
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  let count = files.length;
  for (const file of files) {
    if (bytes <= maxBytes && count <= MAX_SESSION_OUTPUT_FILES) return;
    if (file.name === kept) continue;
    if (count > MAX_SESSION_OUTPUT_FILES || !TEXT_NAME.test(file.name)) {
      await unlink(folder.at(file.name));
      count -= 1;
      bytes -= file.bytes;
    } else if (file.bytes > SMALL_BYTES) {
      await putWholeFile(folder, {
        name: file.name,
        content: Buffer.from(GONE),
        mode: PRIVATE_FILE_MODE,
        as: 'replace',
      });
      bytes -= file.bytes - SMALL_BYTES;
    }
  }
}

/** Drafts that a killed process left are among them, and so go in time. */
async function outputsIn(folder: HeldFolder): Promise<readonly OutputFile[]> {
  const files: OutputFile[] = [];
  for await (const { name } of await opendir(folder.at())) {
    const stats = await lstat(folder.at(name)).catch(() => undefined);
    if (stats?.isFile() === true) files.push({ name, bytes: stats.size, changedAtMs: stats.mtimeMs });
  }
  return files;
}

function tooLarge(callId: string, bytes: number): RuntimeError {
  return new RuntimeError(
    'OUTPUT_TOO_LARGE',
    `a file of tool call ${JSON.stringify(callId)} has ${bytes} bytes, and ${MAX_OUTPUT_FILE_BYTES} are kept at most`,
    {
      category: 'capacity',
      hint: 'Let the tool put out less.',
      details: { callId, bytes, maxBytes: MAX_OUTPUT_FILE_BYTES },
    },
  );
}

function storageFailed(callId: string, error: unknown): RuntimeError {
  const reason = systemCodeOf(error) ?? messageOf(error);
  return new RuntimeError(
    'STORAGE_FAILED',
    `could not keep the output of tool call ${JSON.stringify(callId)}: ${reason}`,
    {
      category: 'storage',
      hint: `Check that ${join(...FOLDERS)} in the workspace is a folder that can be written, and that the disk is not full.`,
      details: { callId, reason },
      cause: error,
    },
  );
}
