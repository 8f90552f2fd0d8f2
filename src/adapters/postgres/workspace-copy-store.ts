/**
 * Copies of the folders that sessions work in, in PostgreSQL: pieces as rows of up to one mebibyte, and one row that
 * says where each workspace is.
 */
import { Buffer } from 'node:buffer';
import * as z from 'zod';
import { WORKSPACE_COPY_GRACE_MS } from '../../actors/workspace-copy/copy-store.ts';
import type {
  WorkspaceCopyStore,
  WorkspaceCopyPiece,
  WorkspaceCopyRecord,
  PrunedPieces,
} from '../../actors/workspace-copy/copy-store.ts';
import { copyFile } from '../../machines/workspace-copy/copy-manifest.ts';
import type { WorkspaceCopyFile } from '../../machines/workspace-copy/copy-manifest.ts';
import { copyState, copySuperseded } from '../../machines/workspace-copy/copy-state.ts';
import type { WorkspaceCopyState } from '../../machines/workspace-copy/copy-state.ts';
import { frequent } from './postgres-database.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { keyOf } from './revised-rows.ts';
import { ADDED_TABLE, COPY_TABLE, PIECE_TABLE } from './workspace-copy-tables.ts';

interface PostgresWorkspaceCopyStoreOptions {
  readonly database: PostgresDatabase;
  /** How long a piece that nothing names is left alone, in milliseconds. Default: one day. */
  readonly graceMs?: number | undefined;
}

/** Bytes and pieces of one statement. */
const MAX_BATCH_BYTES = 4_194_304;
const MAX_BATCH_PIECES = 512;

const count = z.coerce.number().int().nonnegative();
const copyRow = z.object({
  epoch: count,
  host_id: z.string().nullable(),
  host_name: z.string().nullable(),
  bound: z.string().nullable(),
  copy_epoch: count.nullable(),
  manifest_id: z.string().nullable(),
  files: count.nullable(),
  bytes: count.nullable(),
  added: z.array(z.string()),
});
const pieceRow = z.object({ hash: z.instanceof(Uint8Array), bytes: z.instanceof(Uint8Array) });
const releasedRow = z.object({ was_home: z.boolean() });
const prunedRow = z.object({ pieces: count, bytes: count });

const latestOrRow = copyRow.extend({ is_known: z.boolean(), is_said: z.boolean() });

const latest = (
  ...more: readonly string[]
): string => `SELECT ${['coalesce(h.epoch, 0) AS epoch', 'h.host_id, h.host_name, h.bound, h.copy_epoch, h.manifest_id, h.files, h.bytes, a.added', ...more].join(', ')}
  FROM (SELECT array_agg(file ORDER BY added_at, path) AS added FROM $s.${ADDED_TABLE} WHERE session_id = $1) a0
  CROSS JOIN LATERAL (SELECT coalesce(a0.added, '{}') AS added) a LEFT JOIN $s.${COPY_TABLE} h ON h.session_id = $1`;

/**
 * The row is locked by the insertion: of two wakes that speak at once the earlier one finds that the later one has, or
 * comes before it.
 */
const SAID = `said AS (
    INSERT INTO $s.${COPY_TABLE} AS h (session_id, epoch, host_id, host_name, bound, copy_epoch, manifest_id, files, bytes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT (session_id) DO UPDATE SET epoch = excluded.epoch, host_id = excluded.host_id, host_name = excluded.host_name, bound = excluded.bound,
      copy_epoch = coalesce(excluded.copy_epoch, h.copy_epoch), manifest_id = coalesce(excluded.manifest_id, h.manifest_id),
      files = coalesce(excluded.files, h.files), bytes = coalesce(excluded.bytes, h.bytes), changed_at = clock_timestamp()
    WHERE h.epoch < excluded.epoch OR (h.epoch = excluded.epoch AND (h.host_id IS NULL OR h.host_id = excluded.host_id))
    RETURNING 1
  ), settled AS (
    DELETE FROM $s.${ADDED_TABLE} a WHERE a.session_id = $1 AND a.path = ANY ($10::text[]) AND EXISTS (SELECT 1 FROM said)
  )`;

function saidValues(
  sessionId: string,
  { epoch, host, copy, bound, settled = [] }: WorkspaceCopyRecord,
): readonly unknown[] {
  const { epoch: copyEpoch = null, manifestId = null, files = null, bytes = null } = copy ?? {};
  return [
    sessionId,
    epoch,
    host.id,
    host.name,
    bound ?? null,
    copyEpoch,
    manifestId,
    files,
    bytes,
    [...settled].map(keyOf),
  ];
}

/** In one order for all that put the same: no two of them wait for each other. */
function putting(hashes: string, bytes: string, condition = ''): string {
  return `INSERT INTO $s.${PIECE_TABLE} (session_id, hash, bytes) SELECT $1, u.hash, u.bytes FROM unnest(${hashes}::bytea[], ${bytes}::bytea[]) AS u (hash, bytes) ${condition} ORDER BY u.hash
    ON CONFLICT (session_id, hash) DO UPDATE SET put_at = clock_timestamp()`;
}

function pieceColumns(pieces: readonly WorkspaceCopyPiece[]): readonly (readonly Buffer[])[] {
  return [
    pieces.map(({ hash }) => bytesOf(hash)),
    pieces.map(({ bytes }) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
  ];
}

export function createPostgresWorkspaceCopyStore({
  database,
  graceMs = WORKSPACE_COPY_GRACE_MS,
}: PostgresWorkspaceCopyStoreOptions): WorkspaceCopyStore {
  return new PostgresWorkspaceCopyStore(database, graceMs);
}

class PostgresWorkspaceCopyStore implements WorkspaceCopyStore {
  readonly #database: PostgresDatabase;
  readonly #graceMs: number;

  constructor(database: PostgresDatabase, graceMs: number) {
    this.#database = database;
    this.#graceMs = graceMs;
  }

  async has(sessionId: string, hashes: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.#run(
      `SELECT p.hash FROM $s.${PIECE_TABLE} p WHERE p.session_id = $1 AND p.hash = ANY ($2::bytea[]) AND p.put_at > clock_timestamp() - $3 * interval '1 millisecond'`,
      [sessionId, hashes.map(bytesOf), this.#graceMs / 2],
    );
    return new Set(rows.map((row) => textOf(pieceRow.pick({ hash: true }).parse(row).hash)));
  }

  async put(sessionId: string, pieces: readonly WorkspaceCopyPiece[]): Promise<void> {
    for (const batch of batchesOf(pieces)) {
      await this.#run(putting('$2', '$3'), [sessionId, ...pieceColumns(batch)]);
    }
  }

  async get(sessionId: string, hashes: readonly string[]): Promise<readonly WorkspaceCopyPiece[]> {
    const rows = await this.#run(
      `SELECT p.hash, p.bytes FROM $s.${PIECE_TABLE} p WHERE p.session_id = $1 AND p.hash = ANY ($2::bytea[])`,
      [sessionId, hashes.map(bytesOf)],
    );
    return rows.map((row) => {
      const { hash, bytes } = pieceRow.parse(row);
      return { hash: textOf(hash), bytes };
    });
  }

  async prune(sessionId: string, { epoch, keep }: Parameters<WorkspaceCopyStore['prune']>[1]): Promise<PrunedPieces> {
    const [row] = await this.#run(
      `WITH gone AS (
         DELETE FROM $s.${PIECE_TABLE} p WHERE p.session_id = $1 AND p.put_at <= clock_timestamp() - $4 * interval '1 millisecond'
           AND NOT EXISTS (SELECT 1 FROM unnest($3::bytea[]) AS k (hash) WHERE k.hash = p.hash)
           AND EXISTS (SELECT 1 FROM $s.${COPY_TABLE} h WHERE h.session_id = $1 AND h.epoch = $2)
         RETURNING length(p.bytes) AS length
       ) SELECT count(*) AS pieces, coalesce(sum(length), 0) AS bytes FROM gone`,
      [sessionId, epoch, [...keep].map(bytesOf), this.#graceMs],
    );
    return prunedRow.parse(row);
  }

  async latest(sessionId: string): Promise<WorkspaceCopyState | undefined> {
    const [row] = await this.#run(`${latest()} WHERE h.session_id IS NOT NULL OR cardinality(a.added) > 0`, [
      sessionId,
    ]);
    return row === undefined ? undefined : stateOf(copyRow.parse(row));
  }

  /** Run again after its answer was lost it finds what it has said: then the workspace is where it was said to be. */
  async latestOr(
    sessionId: string,
    { epoch, host, bound }: Pick<WorkspaceCopyRecord, 'epoch' | 'host' | 'bound'>,
  ): Promise<{ readonly state: WorkspaceCopyState | undefined; readonly isSaid: boolean }> {
    const [row] = await this.#run(
      `WITH first AS (INSERT INTO $s.${COPY_TABLE} (session_id, epoch, host_id, host_name, bound) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING 1)
       ${latest('h.session_id IS NOT NULL OR cardinality(a.added) > 0 AS is_known, EXISTS (SELECT 1 FROM first) AS is_said')}`,
      [sessionId, epoch, host.id, host.name, bound ?? null],
    );
    const { is_known: isKnown, is_said: isSaid, ...state } = latestOrRow.parse(row);
    return { state: isKnown ? stateOf(state) : undefined, isSaid };
  }

  async record(sessionId: string, record: WorkspaceCopyRecord): Promise<void> {
    const rows = await this.#run(`WITH ${SAID} SELECT 1 FROM said`, saidValues(sessionId, record));
    if (rows.length === 0) throw copySuperseded(sessionId, record.epoch);
  }

  async recordWith(
    sessionId: string,
    record: WorkspaceCopyRecord,
    pieces: readonly WorkspaceCopyPiece[],
  ): Promise<void> {
    const batches = [...batchesOf(pieces)];
    const last = batches.pop() ?? [];
    await this.put(sessionId, batches.flat());
    const statement = `WITH ${SAID}, put AS (${putting('$11', '$12', 'WHERE EXISTS (SELECT 1 FROM said)')}) SELECT 1 FROM said`;
    const rows = await this.#run(statement, [...saidValues(sessionId, record), ...pieceColumns(last)]);
    if (rows.length === 0) throw copySuperseded(sessionId, record.epoch);
  }

  async add(sessionId: string, file: WorkspaceCopyFile): Promise<void> {
    // The whole path is in the file. A path may be longer than an index takes, and hold bytes that are no text.
    await this.#run(
      `INSERT INTO $s.${ADDED_TABLE} (session_id, path, file) VALUES ($1, $2, $3) ON CONFLICT (session_id, path) DO UPDATE SET file = excluded.file`,
      [sessionId, keyOf(file.path), JSON.stringify(file)],
    );
  }

  async release(sessionId: string, nextEpoch: number): Promise<boolean> {
    // Run again after its answer was lost it finds no host there: the caller that unbound it is told that none was
    // there, which is so by then.
    const [row] = await this.#run(
      `WITH before AS (SELECT h.session_id, h.host_id FROM $s.${COPY_TABLE} h WHERE h.session_id = $1 FOR UPDATE)
       UPDATE $s.${COPY_TABLE} h SET epoch = $2, host_id = NULL, host_name = NULL, bound = NULL, changed_at = clock_timestamp() FROM before b WHERE h.session_id = b.session_id
       RETURNING b.host_id IS NOT NULL AS was_home`,
      [sessionId, nextEpoch],
    );
    return row !== undefined && releasedRow.parse(row).was_home;
  }

  async forget(sessionId: string): Promise<void> {
    await this.#run(
      `WITH a AS (DELETE FROM $s.${ADDED_TABLE} WHERE session_id = $1), p AS (DELETE FROM $s.${PIECE_TABLE} WHERE session_id = $1) DELETE FROM $s.${COPY_TABLE} WHERE session_id = $1`,
      [sessionId],
    );
  }

  /** Prepared: to plan one of these takes longer than to run it, and each wake asks for some. */
  #run(statement: string, values: readonly unknown[]): Promise<readonly unknown[]> {
    return this.#database.run(frequent(statement.replaceAll('$s.', `${this.#database.schema}.`)), values);
  }
}

function stateOf({
  epoch,
  host_id: id,
  host_name: name,
  bound,
  copy_epoch: copyEpoch,
  manifest_id: manifestId,
  files,
  bytes,
  added,
}: z.output<typeof copyRow>): WorkspaceCopyState {
  return copyState.parse({
    epoch,
    ...(id === null ? {} : { host: { id, name } }),
    ...(manifestId === null ? {} : { copy: { epoch: copyEpoch, manifestId, files, bytes } }),
    ...(bound === null ? {} : { bound }),
    added: added.map((text) => copyFile.parse(JSON.parse(text))),
  });
}

function* batchesOf(pieces: readonly WorkspaceCopyPiece[]): Generator<readonly WorkspaceCopyPiece[]> {
  let batch: WorkspaceCopyPiece[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    if (batch.length > 0 && (bytes + piece.bytes.length > MAX_BATCH_BYTES || batch.length >= MAX_BATCH_PIECES)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(piece);
    bytes += piece.bytes.length;
  }
  if (batch.length > 0) yield batch;
}

function bytesOf(hash: string): Buffer {
  return Buffer.from(hash, 'hex');
}

function textOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString('hex');
}
