/**
 * Reads all that is known of one session of another runtime: its log, its state, its queue, and the files that go along
 * as they are.
 */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { MAX_IMPORT_FILE_BYTES, MAX_IMPORT_LOG_BYTES } from '../../machines/import/import-limits.ts';
import type { Digest } from '../../machines/import/imported-ids.ts';
import { asObject, firstText } from '../../machines/import/lenient.ts';
import type { JsonObject } from '../../machines/import/lenient.ts';
import { queueFact } from '../../machines/import/openboa-directive.ts';
import { openboaIdentity, openboaOutcome, readOpenboaRecord } from '../../machines/import/openboa-records.ts';
import { readRowboatRecord } from '../../machines/import/rowboat-records.ts';
import type { RecordReading, SourceFact, SourceIdentity, SourceRuntime } from '../../machines/import/source-fact.ts';
import { SourceLog, merged } from '../../machines/import/source-log.ts';
import { SOURCE_LOG, SOURCE_STATE } from './find-sessions.ts';
import type { SourceSession } from './find-sessions.ts';
import { readLines } from './source-lines.ts';
import type { SourceTree } from './source-tree.ts';

export interface ReadSession {
  readonly log: SourceLog;
  readonly identity: SourceIdentity;
  /** Names the source, whatever is in it. */
  readonly source: string;
  /** Digest of what is in it. */
  readonly content: Uint8Array;
  readonly queue: readonly SourceFact[] | undefined;
  /** Of the queue, what is no wake. */
  readonly queueLog: SourceLog | undefined;
  readonly outcome: SourceFact | undefined;
  readonly isTerminated: boolean;
  /** Files that go along as they are, by their paths in the folder. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Files that do not, and why. */
  readonly notBrought: readonly { readonly path: string; readonly because: string }[];
  /** When the log was last written, in milliseconds since the epoch. */
  readonly writtenAtMs: number;
}

const QUEUE = 'wake-queue.jsonl';
const RUNTIME = 'runtime';
const ALONG = [
  SOURCE_STATE,
  join(RUNTIME, 'checkpoint.json'),
  join(RUNTIME, 'session-state.md'),
  join(RUNTIME, 'working-buffer.md'),
];
/** How often a log is read again that is written meanwhile. */
const MAX_CHECKS = 3;

export const sha256: Digest = (text) => createHash('sha256').update(text).digest();

/** @throws RuntimeError IMPORT_UNREADABLE, IMPORT_TOO_LARGE, IMPORT_BEING_WRITTEN */
export async function readSession(tree: SourceTree, session: SourceSession, from: SourceRuntime): Promise<ReadSession> {
  const isThere = (await tree.kindOf(session.log)) !== undefined;
  const events = isThere
    ? await readLog(tree, session.log, from === 'openboa' ? readOpenboaRecord : readRowboatRecord)
    : { log: new SourceLog(readOpenboaRecord, sha256), content: sha256(''), writtenAtMs: 0 };
  const { files, notBrought } = await filesOf(tree, session);
  const state = stateIn(files.get(SOURCE_STATE), notBrought);
  const queued = await readQueue(tree, session);
  const identity = merged(
    state === undefined ? {} : openboaIdentity({ ...state, sessionId: state['sessionId'] ?? state['id'] }),
    events.log.identity,
  );
  return {
    log: events.log,
    identity,
    source: sourceName(from, session, { identity, log: events.log }),
    content:
      queued === undefined
        ? events.content
        : createHash('sha256').update(events.content).update(queued.content).digest(),
    queue: queued === undefined ? undefined : queued.log.entries.flatMap(({ reading }) => reading.facts),
    queueLog: queued?.log,
    outcome: state === undefined ? undefined : openboaOutcome(state['outcome']),
    isTerminated: state !== undefined && firstText(state, ['status']) === 'terminated',
    files,
    notBrought,
    writtenAtMs: events.writtenAtMs,
  };
}

/** Ids are unique for an agent at least; a log that has none is known by how it begins. */
function sourceName(
  from: SourceRuntime,
  { name, agentName, folder }: SourceSession,
  { identity, log }: { readonly identity: SourceIdentity; readonly log: SourceLog },
): string {
  const sessionId = identity.sessionId ?? (folder === undefined ? undefined : name);
  const agent = from === 'openboa' ? (agentName ?? identity.agentId ?? '') : '';
  const beginning = sessionId === undefined ? JSON.stringify([name, log.entries[0]?.record]) : sessionId;
  return [from, agent, beginning].join('\n');
}

interface LogRead {
  readonly log: SourceLog;
  readonly content: Uint8Array;
  readonly writtenAtMs: number;
}

async function readLog(tree: SourceTree, path: string, read: (record: JsonObject) => RecordReading): Promise<LogRead> {
  return tree.read(path, async (handle) => {
    for (let checks = 1; ; checks += 1) {
      const before = await handle.stat({ bigint: true });
      if (before.size > MAX_IMPORT_LOG_BYTES) throw tooLarge(tree.shown(path), before.size);
      const found = await readOnce(handle, read);
      const after = await handle.stat({ bigint: true });
      if (after.size === before.size && after.mtimeNs === before.mtimeNs)
        return { ...found, writtenAtMs: Number(after.mtimeMs) };
      if (checks === MAX_CHECKS) throw beingWritten(tree.shown(path));
    }
  });
}

async function readOnce(
  handle: FileHandle,
  read: (record: JsonObject) => RecordReading,
): Promise<Pick<LogRead, 'log' | 'content'>> {
  const log = new SourceLog(read, sha256);
  const { digest, hasMark, carriageReturns } = await readLines(handle, (line) => log.ingest(line));
  if (hasMark) log.noteWhole('it begins with a byte order mark, which was left out');
  if (carriageReturns > 0) log.noteWhole(`${carriageReturns} lines end with a carriage return, which was left out`);
  return { log, content: digest };
}

async function readQueue(tree: SourceTree, { folder }: SourceSession): Promise<LogRead | undefined> {
  if (folder === undefined || (await tree.kindOf(join(folder, QUEUE))) === undefined) return undefined;
  return readLog(tree, join(folder, QUEUE), (record) => {
    const fact = queueFact(record);
    return {
      type: 'queued wake',
      id: firstText(record, ['id', 'queuedWakeId', 'wakeId']),
      facts: fact === undefined ? [] : [fact],
      ...(fact === undefined ? { leftOver: 'a queued wake without a time' } : {}),
    };
  });
}

type NotBrought = { path: string; because: string };

async function filesOf(
  tree: SourceTree,
  { folder }: SourceSession,
): Promise<{ readonly files: ReadonlyMap<string, Uint8Array>; readonly notBrought: NotBrought[] }> {
  const files = new Map<string, Uint8Array>();
  const notBrought: NotBrought[] = [];
  if (folder === undefined) return { files, notBrought };
  for (const path of ALONG) {
    try {
      const bytes = await tree.readSmall(join(folder, path), MAX_IMPORT_FILE_BYTES);
      if (bytes !== undefined) files.set(path, bytes);
    } catch (error) {
      notBrought.push({ path, because: messageOf(error) });
    }
  }
  const known = new Set([SOURCE_LOG, QUEUE, RUNTIME, ...ALONG]);
  for (const { name } of await tree.list(folder))
    if (!known.has(name)) notBrought.push({ path: name, because: 'it is no part of what is known of a session' });
  const runtime = await tree.list(join(folder, RUNTIME)).catch(() => []);
  for (const { name } of runtime)
    if (!known.has(join(RUNTIME, name)))
      notBrought.push({ path: join(RUNTIME, name), because: 'it is no part of what is known of a session' });
  return { files, notBrought };
}

function stateIn(bytes: Uint8Array | undefined, notBrought: NotBrought[]): JsonObject | undefined {
  if (bytes === undefined) return undefined;
  try {
    const state = asObject(
      JSON.parse(
        Buffer.from(bytes)
          .toString('utf8')
          .replace(/^\uFEFF/, ''),
      ),
    );
    if (state !== undefined) return state;
    notBrought.push({ path: basename(SOURCE_STATE), because: 'it is no object; it goes along as a file' });
  } catch (error) {
    notBrought.push({
      path: basename(SOURCE_STATE),
      because: `it is damaged (${messageOf(error)}); it goes along as a file`,
    });
  }
  return undefined;
}

function tooLarge(path: string, bytes: bigint): RuntimeError {
  return new RuntimeError(
    'IMPORT_TOO_LARGE',
    `expected a log of at most ${MAX_IMPORT_LOG_BYTES} bytes, ${path} has ${bytes}`,
    { category: 'capacity', hint: 'Import a part of it: a copy with its last lines.' },
  );
}

function beingWritten(path: string): RuntimeError {
  return new RuntimeError('IMPORT_BEING_WRITTEN', `${path} is being written`, {
    category: 'conflict',
    hint: 'Stop the other runtime, then import it again.',
  });
}
