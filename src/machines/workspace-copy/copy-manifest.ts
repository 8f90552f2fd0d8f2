/**
 * What lies in the workspace copy of a session, as data: its folders, files and links by path, the content of a file as
 * the SHA-256 hashes of its pieces.
 *
 * A manifest is kept in parts, cut where the hash of a path says so: when one file has changed, one part has, and the
 * others are there already. The index names the parts, and the hash of the index is the id of the manifest: the same
 * id, the same copy.
 */
import * as z from 'zod';
import { canonicalJson } from '../canonical-json.ts';
import { RuntimeError } from '../errors.ts';
import { describeIssues } from '../validate.ts';

/** Bytes of a piece; the last one of a file may be shorter. */
export const PIECE_BYTES = 1_048_576;

/** The folders that make up a workspace copy: where the session works, and what it keeps for itself. */
export const COPY_ROOTS = ['runtime', 'workspace'] as const;

export type CopyRoot = (typeof COPY_ROOTS)[number];

/** Facts that the runtime lays out anew for every wake are no part of it; files that the log names are. */
const LAID_OUT = 'workspace/.wakechart-runtime/';
const KEPT_THERE = /^workspace\/\.wakechart-runtime\/(?:attachments|outputs)(?:\/|$)/;

const VERSION = 1;
const MAX_PATH_CHARACTERS = 16_384;
/** On average so many entries make a part. */
const ENTRIES_PER_PART = 256;
const MAX_ENTRIES_PER_PART = 4_096;
const MAX_MODE = 0o777;

export const pieceHash = z.string().regex(/^[\da-f]{64}$/, 'expected 64 hexadecimal digits');
const path = z
  .string()
  .max(MAX_PATH_CHARACTERS)
  .refine(isCopyPath, 'expected a path in the workspace copy that cannot climb');
const mode = z.number().int().min(0).max(MAX_MODE);

export const copyFile = z.strictObject({
  kind: z.literal('file'),
  path,
  mode,
  size: z.number().int().nonnegative(),
  pieces: z.array(pieceHash),
});
const copyEntry = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('folder'), path, mode }),
  copyFile,
  z.strictObject({
    kind: z.literal('link'),
    path,
    target: z
      .string()
      .min(1)
      .max(MAX_PATH_CHARACTERS)
      .refine((target) => !target.includes('\0')),
  }),
]);
const copyIndex = z.strictObject({
  version: z.literal(VERSION),
  parts: z.array(pieceHash),
  files: z.number().int().nonnegative(),
  bytes: z.number().int().nonnegative(),
});

export type WorkspaceCopyFile = z.output<typeof copyFile>;
export type CopyEntry = z.output<typeof copyEntry>;
export type CopyIndex = z.output<typeof copyIndex>;

/** From the top of the copy: `workspace/notes.md`. */
export function isCopyPath(value: string): boolean {
  const [root, ...names] = value.split('/');
  if (!COPY_ROOTS.some((each) => each === root) || value.includes('\0')) return false;
  return names.every((name) => name !== '' && name !== '.' && name !== '..');
}

/** Whether the runtime makes what lies there for every wake. */
export function isLaidOut(value: string): boolean {
  return value.startsWith(LAID_OUT) && !KEPT_THERE.test(value);
}

/** In the order of a manifest: a folder before what is in it. */
export function byPath(one: Pick<CopyEntry, 'path'>, other: Pick<CopyEntry, 'path'>): number {
  return one.path < other.path ? -1 : one.path > other.path ? 1 : 0;
}

/** The texts of the parts, in order. @param entries in the order of a manifest */
export function partsOf(entries: readonly CopyEntry[]): readonly string[] {
  const parts: CopyEntry[][] = [];
  let open: CopyEntry[] | undefined;
  for (const entry of entries) {
    if (open === undefined) parts.push((open = []));
    open.push(entry);
    if (endsPart(entry.path) || open.length >= MAX_ENTRIES_PER_PART) open = undefined;
  }
  return parts.map(canonicalJson);
}

/** The text that the id of a manifest is the hash of. @param parts their hashes */
export function indexText(entries: readonly CopyEntry[], parts: readonly string[]): string {
  return canonicalJson({ version: VERSION, parts: [...parts], ...measureOf(entries) } satisfies CopyIndex);
}

export interface WorkspaceCopyMeasure {
  /** Files, folders and links. */
  readonly files: number;
  /** Of the contents of files. */
  readonly bytes: number;
}

export function measureOf(entries: readonly CopyEntry[]): WorkspaceCopyMeasure {
  return {
    files: entries.length,
    bytes: entries.reduce((sum, entry) => sum + (entry.kind === 'file' ? entry.size : 0), 0),
  };
}

/** How long a piece of a file is, by its place in it. */
export function bytesOfPiece({ size, pieces }: Pick<WorkspaceCopyFile, 'size' | 'pieces'>, index: number): number {
  return index < pieces.length - 1 ? PIECE_BYTES : size - index * PIECE_BYTES;
}

/** @throws RuntimeError WORKSPACE_COPY_DAMAGED */
export function readIndex(text: string): CopyIndex {
  return read(copyIndex, text);
}

/**
 * The entries of all parts, in order. @throws RuntimeError WORKSPACE_COPY_DAMAGED for whatever could not be laid out as
 * it is meant
 */
export function readParts(texts: readonly string[]): readonly CopyEntry[] {
  const entries = texts.flatMap((text) => read(z.array(copyEntry), text));
  const folders = new Set<string>();
  let before = '';
  for (const entry of entries) {
    const parent = entry.path.slice(0, Math.max(0, entry.path.lastIndexOf('/')));
    if (entry.path <= before)
      throw damaged(`expected paths in order, received ${JSON.stringify(entry.path)} after ${JSON.stringify(before)}`);
    if (parent !== '' && !folders.has(parent)) throw damaged(`expected a folder for ${JSON.stringify(entry.path)}`);
    if (parent === '' && entry.kind !== 'folder')
      throw damaged(`expected a folder, received ${JSON.stringify(entry.path)}`);
    if (entry.kind === 'file' && entry.pieces.length !== Math.ceil(entry.size / PIECE_BYTES))
      throw damaged(`expected as many pieces as make up ${JSON.stringify(entry.path)}`);
    if (entry.kind === 'folder') folders.add(entry.path);
    before = entry.path;
  }
  return entries;
}

export function damaged(what: string): RuntimeError {
  return new RuntimeError('WORKSPACE_COPY_DAMAGED', `the copy of the session's folder cannot be used: ${what}`, {
    category: 'storage',
    hint: 'Wake the session on the machine that was its home: the folder there is whole, and a new copy is made of it.',
  });
}

function read<Value>(schema: z.ZodType<Value>, text: string): Value {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw damaged('expected JSON');
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw damaged(describeIssues(parsed.error).join('; '));
}

/** FNV-1a over the path, its bits well mixed: the same for every caller, and nothing depends on who chooses it. */
function endsPart(value: string): boolean {
  let hash = 0x811c9dc5;
  for (let index = 0; index < value.length; index += 1) hash = Math.imul(hash ^ value.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % ENTRIES_PER_PART === 0;
}
