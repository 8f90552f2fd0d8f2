/**
 * The file of one session's part of the index: a line that says what it is, then a line for each document. Whole or as good as not there:
 * the first line holds the hash of everything. It is put in its place by a rename, so a reader never sees half of it.
 */
import { createHash, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { canonicalJson } from '../../machines/canonical-json.ts';
import { retrievalDocument } from '../../machines/retrieval/retrieval-document.ts';
import type { RetrievalDocument } from '../../machines/retrieval/retrieval-document.ts';
import { MAX_DOCUMENTS_PER_SESSION } from '../../machines/retrieval/retrieval-limits.ts';
import { sessionCursor } from '../../machines/retrieval/session-documents.ts';
import type { SessionCursor } from '../../machines/retrieval/session-documents.ts';
import type { Slices } from './slices.ts';

/** Changes with whatever changes what documents are made of a log: a file of another format is made anew. */
export const PART_FORMAT = 'wakechart-retrieval/1';

const FILE_MODE = 0o600;
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** More than the first line ever takes. */
const MAX_HEAD_BYTES = 512 * 1024;

/** A link is not followed, and a pipe does not keep anybody waiting. */
const READING = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

const headSchema = z.strictObject({
  format: z.literal(PART_FORMAT),
  sessionId: z.string(),
  cursor: sessionCursor,
  documents: z.number().int().nonnegative().max(MAX_DOCUMENTS_PER_SESSION),
  sha256: z.string(),
});

export interface Part {
  readonly cursor: SessionCursor;
  readonly documents: readonly RetrievalDocument[];
}

/** Undefined for what is not there, is damaged, of another format or another session's. @throws what the system says when it cannot be read */
export async function readPart(path: string, sessionId: string, slices: Slices): Promise<Part | undefined> {
  const text = await textOf(path);
  if (text === undefined) return undefined;
  const end = text.indexOf('\n');
  const head = headSchema.safeParse(jsonOf(text.slice(0, end)));
  const body = text.slice(end + 1);
  if (end < 0 || !head.success || head.data.sessionId !== sessionId || hashOf(head.data.cursor, body) !== head.data.sha256) return undefined;
  const documents: RetrievalDocument[] = [];
  for (const line of body.split('\n')) {
    if (line === '') continue;
    const document = retrievalDocument.safeParse(jsonOf(line));
    if (!document.success || document.data.sessionId !== sessionId) return undefined;
    documents.push(document.data);
    await slices.breathe();
  }
  return documents.length === head.data.documents ? { cursor: head.data.cursor, documents } : undefined;
}

export interface PartPlace {
  readonly path: string;
  readonly sessionId: string;
  /** Whatever is there is of another log. Default false: what another process has brought further already stays. */
  readonly isAnew?: boolean | undefined;
}

/** @throws what the system says when it cannot be written */
export async function writePart({ path, sessionId, isAnew = false }: PartPlace, { cursor, documents }: Part, slices: Slices): Promise<void> {
  if (!isAnew && (await seqOf(path, sessionId)) > cursor.seq) return;
  const lines: string[] = [];
  for (const document of documents) {
    lines.push(JSON.stringify(document));
    await slices.breathe();
  }
  const body = lines.length === 0 ? '' : `${lines.join('\n')}\n`;
  const head: z.output<typeof headSchema> = { format: PART_FORMAT, sessionId, cursor, documents: documents.length, sha256: hashOf(cursor, body) };
  await replaceFile(path, `${JSON.stringify(head)}\n${body}`);
}

async function replaceFile(path: string, text: string): Promise<void> {
  const draft = join(dirname(path), `.${basename(path)}.${randomUUID()}.draft`);
  try {
    const handle = await open(draft, 'wx', FILE_MODE);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, path);
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw error;
  }
}

/** How far the log was read of which the file tells; 0 when it tells nothing. */
async function seqOf(path: string, sessionId: string): Promise<number> {
  const handle = await open(path, READING).catch(() => undefined);
  if (handle === undefined) return 0;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_HEAD_BYTES), 0, MAX_HEAD_BYTES, 0);
    const text = buffer.toString('utf8', 0, bytesRead);
    const head = headSchema.safeParse(jsonOf(text.slice(0, Math.max(0, text.indexOf('\n')))));
    return head.success && head.data.sessionId === sessionId ? head.data.cursor.seq : 0;
  } catch {
    return 0;
  } finally {
    await handle.close();
  }
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    const handle = await open(path, READING);
    try {
      const stats = await handle.stat();
      return stats.isFile() && stats.size <= MAX_FILE_BYTES ? await handle.readFile('utf8') : undefined;
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ELOOP')) return undefined;
    throw error;
  }
}

export function isCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function hashOf(cursor: SessionCursor, body: string): string {
  return createHash('sha256').update(canonicalJson(cursor)).update('\n').update(body).digest('base64');
}
