/**
 * The file of one session's part of the index: a line that says what it is, then the part as it is in memory. Whole or
 * as good as not there: the first line holds the hash of everything. It is put in its place by a rename, so a reader
 * never sees half of it, and it is not synced (docs/decisions/0012): after a power failure it may be torn, and is made
 * anew.
 */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { endianness } from 'node:os';
import * as z from 'zod';
import { canonicalJson } from '../../machines/canonical-json.ts';
import { sessionCursor } from '../../machines/retrieval/session-documents.ts';
import type { SessionCursor } from '../../machines/retrieval/session-documents.ts';
import { READING_NO_LINK, withPlainFile } from '../system/own-files.ts';
import { replaceFile } from '../system/whole-files.ts';
import { Part } from './part.ts';
import { bodySize, partCounts } from './part-layout.ts';

/**
 * Changes with whatever changes what documents are made of a log, or how parts are laid out: a file of another format
 * is made anew.
 */
const PART_FORMAT = `wakechart-retrieval/2-${endianness()}`;

const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** More than the first line ever takes. */
const MAX_HEAD_BYTES = 1024 * 1024;

/** The numbers after the first line begin at a multiple of this. */
const ALIGNMENT = 8;

const NEW_LINE = 0x0a;

const headSchema = z.strictObject({
  format: z.literal(PART_FORMAT),
  sessionId: z.string(),
  cursor: sessionCursor,
  counts: partCounts,
  sha256: z.string(),
});

type Head = Readonly<z.output<typeof headSchema>>;

export interface KeptPart {
  readonly cursor: SessionCursor;
  readonly part: Part;
}

/**
 * Undefined for what is not there, is damaged, of another format or another session's. @throws what the system says
 * when it cannot be read
 */
export async function readPart(path: string, sessionId: string): Promise<KeptPart | undefined> {
  const bytes = await bytesOf(path);
  if (bytes === undefined) return undefined;
  const end = bytes.indexOf(NEW_LINE) + 1;
  const head = headOf(bytes.subarray(0, end));
  const body = bytes.subarray(end);
  if (
    head === undefined ||
    head.sessionId !== sessionId ||
    body.length !== bodySize(head.counts) ||
    hashOf(head, body) !== head.sha256
  )
    return undefined;
  const part = Part.of(sessionId, head.counts, body);
  return part === undefined ? undefined : { cursor: head.cursor, part };
}

export interface PartPlace {
  readonly path: string;
  readonly sessionId: string;
  /** Whatever is there is of another log. Default false: what another process has brought further already stays. */
  readonly isAnew?: boolean | undefined;
}

/** @throws what the system says when it cannot be written */
export async function writePart(
  { path, sessionId, isAnew = false }: PartPlace,
  { cursor, part }: KeptPart,
): Promise<void> {
  if (!isAnew && (await seqOf(path, sessionId)) > cursor.seq) return;
  const known: Omit<Head, 'sha256'> = { format: PART_FORMAT, sessionId, cursor, counts: part.counts };
  const line = JSON.stringify({ ...known, sha256: hashOf(known, part.body) });
  const length = Buffer.byteLength(line) + 1;
  const head = `${line}${' '.repeat((ALIGNMENT - (length % ALIGNMENT)) % ALIGNMENT)}\n`;
  await replaceFile(path, [Buffer.from(head), part.body], { durability: 'os' });
}

/** How far the log was read of which the file tells; 0 when it tells nothing. */
async function seqOf(path: string, sessionId: string): Promise<number> {
  const handle = await open(path, READING_NO_LINK).catch(() => undefined);
  if (handle === undefined) return 0;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(MAX_HEAD_BYTES), 0, MAX_HEAD_BYTES, 0);
    const head = headOf(buffer.subarray(0, buffer.subarray(0, bytesRead).indexOf(NEW_LINE) + 1));
    return head?.sessionId === sessionId ? head.cursor.seq : 0;
  } catch {
    return 0;
  } finally {
    await handle.close();
  }
}

function bytesOf(path: string): Promise<Buffer | undefined> {
  return withPlainFile(path, async (file, size) => (size <= MAX_FILE_BYTES ? readWhole(file, size) : undefined));
}

/** Into memory of its own, so that its numbers can be read where they stand. */
async function readWhole(handle: FileHandle, size: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(size);
  let length = 0;
  for (let read = -1; read !== 0 && length < size; length += read)
    read = (await handle.read(bytes, length, size - length, length)).bytesRead;
  return bytes.subarray(0, length);
}

function headOf(line: Buffer): Head | undefined {
  try {
    return headSchema.safeParse(JSON.parse(line.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

function hashOf({ format, sessionId, cursor, counts }: Omit<Head, 'sha256'>, body: Buffer): string {
  return createHash('sha256')
    .update(canonicalJson({ format, sessionId, cursor, counts }))
    .update('\n')
    .update(body)
    .digest('base64');
}
