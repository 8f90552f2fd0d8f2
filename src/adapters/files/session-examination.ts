/**
 * Checks all of one session's files, byte by byte and trusting none of them: what is damaged, and what does not agree
 * with the log.
 */
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { SESSION_FOLD_VERSION, foldSession } from '../../machines/session/session-fold.ts';
import { initialSessionState } from '../../machines/session/session-state.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { MAX_READ_EVENTS } from '../../actors/session/event-store.ts';
import type { SessionIdentity } from '../../actors/session/event-store.ts';
import { systemFileOperations } from './file-operations.ts';
import { CHECKPOINT_FILE, END_FILE, HomeLayout, RUNTIME_FOLDER, VIEW_FILE, segmentFile } from './layout.ts';
import { CHECKPOINT_FORMAT, readCheckpoint } from './log-checkpoint.ts';
import type { LogFault } from './log-chain.ts';
import { damageIn } from './log-damage.ts';
import type { DamagedPlace } from './log-damage.ts';
import { endsOf } from './log-end.ts';
import { LogReader } from './log-reader.ts';
import { LogSegments } from './log-segments.ts';
import { DEFAULT_SEGMENT_BYTES } from './session-log.ts';
import { VIEW_FORMAT, readSessionView } from './session-view.ts';

/** Of this version. */
const FORMATS: ReadonlySet<string> = new Set([CHECKPOINT_FORMAT, VIEW_FORMAT]);

/** How often copies are read again that were replaced meanwhile. */
const MAX_CHECKS = 5;

const withFold = z.object({ format: z.string().optional(), foldVersion: z.number() });
const storedFold = z.union([z.object({ checkpoint: withFold }), withFold]);

export interface SessionExamination {
  readonly identity: SessionIdentity;
  /** Folded from the first event on. */
  readonly state: SessionState;
  /** What is gone from the log, in words; undefined when it is whole. */
  readonly loss: LogFault | undefined;
  readonly damage: readonly DamagedPlace[];
  /** Files beside the log that are there and do not agree with it. They can be made again. */
  readonly untrue: readonly string[];
  /** Files and folders that others than their owner may read or write. */
  readonly open: readonly string[];
  /** Files that are being written, or that a crash left half-written. */
  readonly leftovers: readonly string[];
}

/**
 * Others may write all of these files at the same time. What is found is what stayed wrong while no process changed it.
 * @throws what the system says when a file of the log cannot be read
 */
export async function examineSession(home: string, identity: SessionIdentity): Promise<SessionExamination> {
  const directory = new HomeLayout(home).session(identity);
  const names = [
    ...(await readdir(directory)),
    ...(await readdir(join(directory, RUNTIME_FOLDER)).catch(() => [])).map((name) => join(RUNTIME_FOLDER, name)),
  ];
  const segments = names
    .filter((name) => /^events(\.\d{6})?\.jsonl$/.test(name))
    .toSorted((one, other) => (one === segmentFile(1) ? -1 : other === segmentFile(1) ? 1 : one < other ? -1 : 1));
  const damage: DamagedPlace[] = [];
  for (const name of segments) damage.push(...(await damageIn(join(directory, name))));
  return {
    identity,
    ...(await compareCopies(identity, directory)),
    damage,
    open: await openFiles(directory, names),
    leftovers: names.filter((name) => name.endsWith('.tmp')).map((name) => join(directory, name)),
  };
}

/**
 * The session as its log says it is now, from the first event on. @throws what the system says when a file of the log
 * cannot be read
 */
export async function foldLog(home: string, identity: SessionIdentity): Promise<SessionState> {
  return (await foldWhole(identity, new HomeLayout(home).session(identity))).state;
}

interface FoldedLog {
  readonly state: SessionState;
  readonly loss: LogFault | undefined;
}

/** As far as it can be read, whatever is gone. */
async function foldWhole(identity: SessionIdentity, directory: string): Promise<FoldedLog> {
  const ends = await endsOf(join(directory, END_FILE));
  const segments = new LogSegments(directory, systemFileOperations);
  const reader = await LogReader.open(
    {
      sessionId: identity.sessionId,
      segments,
      segmentBytes: DEFAULT_SEGMENT_BYTES,
      ends,
      isNeverEmpty: true,
      onLoss: 'tell',
    },
    undefined,
  );
  try {
    let state = initialSessionState(identity);
    for (;;) {
      const events = await reader.read({ from: state.head + 1, limit: MAX_READ_EVENTS });
      for (const event of events) state = foldSession(state, event);
      if (events.length < MAX_READ_EVENTS) return { state, loss: reader.fault };
    }
  } finally {
    await reader.file.close();
  }
}

/** A file beside the log, as it was when it was read. */
interface Copy {
  readonly path: string;
  /** Another one for every file that takes its place; undefined when there is none. */
  readonly mark: string | undefined;
  /** Events that are in it. */
  readonly head: number;
  readonly agrees: (state: SessionState) => Promise<boolean>;
}

/** Views and checkpoints that say something else than the log. Those that lie behind are as they should be. */
async function compareCopies(
  identity: SessionIdentity,
  directory: string,
): Promise<Pick<SessionExamination, 'state' | 'loss' | 'untrue'>> {
  for (let checks = 1; ; checks += 1) {
    // Before the log: so none of them may be ahead of it.
    const copies = [await viewCopy(identity, directory), await checkpointCopy(identity, directory)];
    const { state, loss } = await foldWhole(identity, directory);
    // Of an older version there may be no other trace of what is gone.
    const ahead = copies.find(({ head }) => head > state.head);
    const what =
      loss ??
      (ahead === undefined ? undefined : `${ahead.path} was made of ${ahead.head} events, and ${state.head} are there`);
    // They may hold what the log has lost.
    if (what !== undefined) return { state, loss: what, untrue: [] };
    const untrue: string[] = [];
    let isReplaced = false;
    for (const { path, mark, agrees } of copies) {
      if (mark === undefined || (await agrees(state))) continue;
      if ((await markOf(path)) === mark) untrue.push(path);
      else isReplaced = true;
    }
    if (!isReplaced || checks === MAX_CHECKS) return { state, loss, untrue };
  }
}

async function viewCopy(identity: SessionIdentity, directory: string): Promise<Copy> {
  const path = join(directory, VIEW_FILE);
  const mark = await markOf(path);
  const view = await readSessionView({
    identity,
    directory,
    segments: new LogSegments(directory, systemFileOperations),
  });
  const agrees = (state: SessionState): boolean =>
    view !== undefined && (view.state.head < state.head || isSameState(view.state, state));
  return {
    path,
    mark,
    head: view?.state.head ?? 0,
    agrees: async (state) => agrees(state) || (view === undefined && (await isOfOtherFold(path))),
  };
}

async function checkpointCopy({ sessionId }: SessionIdentity, directory: string): Promise<Copy> {
  const path = join(directory, RUNTIME_FOLDER, CHECKPOINT_FILE);
  const mark = await markOf(path);
  const checkpoint = await readCheckpoint({
    sessionId,
    directory,
    segments: new LogSegments(directory, systemFileOperations),
    operations: systemFileOperations,
  });
  const isIndexWhole = (): Promise<boolean> =>
    checkpoint?.start.part.verify().then(
      () => true,
      () => false,
    ) ?? Promise.resolve(false);
  return {
    path,
    mark,
    head: checkpoint?.state.head ?? 0,
    agrees: async (state) =>
      checkpoint === undefined ? isOfOtherFold(path) : checkpoint.state.head <= state.head && (await isIndexWhole()),
  };
}

/**
 * Whether another version of Wakechart made it, by other rules: this version does not read it, and makes it again when
 * there is something new.
 */
async function isOfOtherFold(path: string): Promise<boolean> {
  try {
    const copy = storedFold.parse(JSON.parse(await readFile(path, 'utf8')));
    const { format, foldVersion } = 'checkpoint' in copy ? copy.checkpoint : copy;
    return foldVersion !== SESSION_FOLD_VERSION || (format !== undefined && !FORMATS.has(format));
  } catch {
    return false;
  }
}

async function markOf(path: string): Promise<string | undefined> {
  return stat(path, { bigint: true }).then(
    ({ ino, size, mtimeNs }) => `${ino} ${size} ${mtimeNs}`,
    () => undefined,
  );
}

/**
 * As they are stored, whatever the order of their parts: it differs by whether a state was folded on from a stored one.
 */
function isSameState(one: SessionState, other: SessionState): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)));
}

const OTHERS = 0o077;

async function openFiles(directory: string, names: readonly string[]): Promise<string[]> {
  if (process.platform === 'win32') return [];
  const paths = [directory, ...names.map((name) => join(directory, name))];
  const modes = await Promise.all(
    paths.map((path) =>
      stat(path).then(
        ({ mode }) => mode,
        () => 0,
      ),
    ),
  );
  return paths.filter((_, index) => ((modes[index] ?? 0) & OTHERS) !== 0);
}
