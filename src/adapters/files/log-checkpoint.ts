/**
 * A checkpoint: a point of a session's log, the state folded up to there, and an index of the records before. A process
 * that opens the session reads on from there. `runtime/checkpoint.json` says all of it; the index lies beside it in
 * `runtime/log-index.<generation>.bin`.
 *
 * Several processes may make checkpoints of one log at once, without a lock:
 * - checkpoint.json is replaced as a whole, and each one stands for itself. An older one that comes last costs a
 *   longer tail.
 * - The index is only added to, and what belongs at a place of it follows from the log alone: every writer there writes
 *   the same bytes. A writer first reads what is there beyond the length it knows. What is the same stays; a
 *   half-written end is completed. What differs (the log was damaged between two readers) no writer overwrites: it
 *   begins a new generation under a name of its own.
 * - The writer of a newer generation removes the old ones. One that is missed, or does not agree with its checkpoint,
 *   costs reading the log from the start.
 */
import { randomUUID } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import * as z from 'zod';
import { SESSION_FOLD_VERSION } from '../../machines/session/session-fold.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { replaceFile, writeNewFile } from './durable-files.ts';
import type { FileOperations } from './file-operations.ts';
import { ENTRY_BYTES, IndexDamaged, encodeEntries } from './index-entry.ts';
import type { NamedRecord } from './index-entry.ts';
import { IndexedPart } from './indexed-part.ts';
import type { IndexExtent } from './indexed-part.ts';
import { CHECKPOINT_FILE, RUNTIME_FOLDER } from './layout.ts';
import type { LogExtent, LogIndex, LogStart } from './log-index.ts';
import type { LogSegments } from './log-segments.ts';

export const CHECKPOINT_FORMAT = 'wakechart-checkpoint/2';
const INDEX_FILE = /^log-index\.[0-9a-f-]{36}\.bin$/;

const count = z.number().int().nonnegative();
const place = { segment: count, offset: count };

/**
 * A state that was stored. It stays the object it is, since its checksum depends on the order of its parts; and by that
 * it is what was written.
 */
export const storedState = z.custom<SessionState>(
  (value) => typeof value === 'object' && value !== null && 'sessionId' in value && 'head' in value,
);

const storedCheckpoint = z.object({
  format: z.literal(CHECKPOINT_FORMAT),
  foldVersion: z.literal(SESSION_FOLD_VERSION),
  ...place,
  head: count.positive(),
  headId: z.string(),
  last: z.object({ ...place, checksum: count }),
  epoch: count,
  afterDamage: z.boolean(),
  damagedLines: count,
  chain: z.object({ records: count, chain: count }),
  index: z.object({ generation: z.uuid(), records: count.positive(), checksum: count, greatestId: z.string() }),
  state: storedState,
});

const storedFile = z.object({ crc: count, checkpoint: z.unknown() });

type StoredCheckpoint = z.output<typeof storedCheckpoint>;

export interface CheckpointPlace {
  readonly sessionId: string;
  /** Of the session. */
  readonly directory: string;
  readonly segments: LogSegments;
  readonly operations: FileOperations;
}

export interface Checkpoint {
  readonly start: LogStart;
  readonly state: SessionState;
}

/**
 * The checkpoint of a log, if there is one that is whole and agrees with the log. What is wrong with it never matters:
 * the log is there.
 */
export async function readCheckpoint({
  sessionId,
  directory,
  segments,
}: CheckpointPlace): Promise<Checkpoint | undefined> {
  try {
    const stored = parse(await readFile(join(directory, RUNTIME_FOLDER, CHECKPOINT_FILE), 'utf8'));
    if (stored === undefined || stored.state.sessionId !== sessionId || stored.state.head !== stored.head)
      return undefined;
    const { index, head } = stored;
    const part = new IndexedPart({ path: indexPath(directory, index.generation), segments, extent: index, head });
    const last = await part.last();
    const isOfThisPart =
      last.firstSeq + last.count - 1 === head &&
      last.segment === stored.last.segment &&
      last.offset === stored.last.offset;
    if (!isOfThisPart || !(await standsIn(stored, segments))) return undefined;
    return { start: { ...stored, part }, state: stored.state };
  } catch {
    return undefined;
  }
}

/** Whether a log goes as far as `extent` says and holds the same last record there. */
async function standsIn({ segment, offset, headId, last }: LogExtent, segments: LogSegments): Promise<boolean> {
  if (last === undefined || ((await segments.sizeOf(segment)) ?? -1) < offset) return false;
  const record = await segments.recordAt(last);
  return record?.checksum === last.checksum && record.events.at(-1)?.id === headId;
}

/**
 * Keeps `state` as that of the point that `index` has come to. Undefined when another process's goes further.
 * @throws IndexDamaged when the index on the disk cannot be gone on with
 */
export async function writeCheckpoint(
  where: CheckpointPlace,
  index: LogIndex,
  state: SessionState,
): Promise<Checkpoint | undefined> {
  const known = index.part?.extent ?? (await extentOfOthers(where, index));
  const listed = index.part?.extent.records ?? 0;
  if (known !== undefined && known.records > listed + index.tailSize.records) return undefined;
  const { tail } = index;
  const extent = await writeIndex(where, known, tail.slice((known?.records ?? 0) - listed));
  const point = index.point;
  const checkpoint = { format: CHECKPOINT_FORMAT, foldVersion: SESSION_FOLD_VERSION, ...point, index: extent, state };
  const folder = join(where.directory, RUNTIME_FOLDER);
  await replaceFile(
    join(folder, CHECKPOINT_FILE),
    `${JSON.stringify({ crc: crc32(JSON.stringify(checkpoint)), checkpoint })}\n`,
    where.operations,
  );
  if (extent.generation !== known?.generation) await removeOthers(folder, extent.generation, where.operations);
  // Only now: a part that was added to must not be used when the checkpoint could not be written.
  const path = indexPath(where.directory, extent.generation);
  const part =
    index.part?.extended({ path, extent, head: point.head }, tail) ??
    new IndexedPart({ path, segments: where.segments, extent, head: point.head });
  return { start: { ...point, part }, state };
}

function parse(text: string): StoredCheckpoint | undefined {
  const { crc, checkpoint } = storedFile.parse(JSON.parse(text));
  if (crc32(JSON.stringify(checkpoint)) !== crc) return undefined;
  return storedCheckpoint.parse(checkpoint);
}

/**
 * The index that another process has begun, for one that has read all of the log, if it lists the same records as far
 * as it goes.
 */
async function extentOfOthers(where: CheckpointPlace, index: LogIndex): Promise<IndexExtent | undefined> {
  const extent = (await readCheckpoint(where))?.start.part.extent;
  if (extent === undefined || extent.records > index.tailSize.records) return extent;
  return crc32(encodeEntries(index.tail.slice(0, extent.records), 0)) === extent.checksum ? extent : undefined;
}

async function writeIndex(
  where: CheckpointPlace,
  known: IndexExtent | undefined,
  records: readonly NamedRecord[],
): Promise<IndexExtent> {
  const bytes = encodeEntries(records, known?.records ?? 0);
  const grown = {
    records: (known?.records ?? 0) + records.length,
    checksum: crc32(bytes, known?.checksum ?? 0),
    greatestId: records.reduce((greatest, { id }) => (id > greatest ? id : greatest), known?.greatestId ?? ''),
  };
  const before = known === undefined ? Buffer.alloc(0) : await addTo(where, known, bytes);
  if (before === undefined) return { ...grown, generation: known?.generation ?? '' };
  const generation = randomUUID();
  await writeNewFile(indexPath(where.directory, generation), Buffer.concat([before, bytes]), where.operations);
  return { ...grown, generation };
}

/**
 * Adds `bytes` to an index that holds at least what is known of it. Gives back what is known when something else stands
 * behind that.
 */
async function addTo(
  { directory, operations }: CheckpointPlace,
  known: IndexExtent,
  bytes: Buffer,
): Promise<Buffer | undefined> {
  const end = known.records * ENTRY_BYTES;
  const file = await operations.openWritable(indexPath(directory, known.generation)).catch(() => {
    throw new IndexDamaged();
  });
  try {
    const size = await file.size();
    if (size < end) throw new IndexDamaged();
    const there = await file.read(end, Math.min(size - end, bytes.length));
    if (there.equals(bytes.subarray(0, there.length))) {
      await file.write(bytes.subarray(there.length), end + there.length);
      await file.sync();
      return undefined;
    }
    const before = await file.read(0, end);
    if (before.length !== end || crc32(before) !== known.checksum) throw new IndexDamaged();
    return before;
  } finally {
    await file.close();
  }
}

async function removeOthers(folder: string, generation: string, operations: FileOperations): Promise<void> {
  const others = (await readdir(folder)).filter((name) => INDEX_FILE.test(name) && !name.includes(generation));
  for (const name of others) await operations.removeFile(join(folder, name)).catch(() => undefined);
}

function indexPath(directory: string, generation: string): string {
  return join(directory, RUNTIME_FOLDER, `log-index.${generation}.bin`);
}
