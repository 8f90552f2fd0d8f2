/** Looks at all of one session's files, byte by byte and trusting none of them: what is damaged, and what does not agree with the log. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { foldSession } from '../../machines/session/session-fold.ts';
import { initialSessionState } from '../../machines/session/session-state.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { MAX_READ_EVENTS } from '../../actors/session/event-store.ts';
import type { SessionIdentity } from '../../actors/session/event-store.ts';
import { openToRead, systemFileOperations } from './file-operations.ts';
import { CHECKPOINT_FILE, HomeLayout, RUNTIME_FOLDER, VIEW_FILE, segmentFile } from './layout.ts';
import { scanLines } from './line-scanner.ts';
import { readCheckpoint } from './log-checkpoint.ts';
import { LogReader } from './log-reader.ts';
import { LogSegments } from './log-segments.ts';
import { decodeLine } from './record-codec.ts';
import { DEFAULT_SEGMENT_BYTES } from './session-log.ts';
import { readSessionView } from './session-view.ts';

/** A line of a log that is no record, or bytes at its end that are no line. */
export interface DamagedPlace {
  readonly file: string;
  /** In bytes, from the start of the file. */
  readonly offset: number;
  readonly length: number;
  /** The end of a write that a crash cut off. The next append isolates it; nothing was acknowledged for it. */
  readonly isTornEnd: boolean;
}

export interface SessionExamination {
  readonly identity: SessionIdentity;
  /** Folded from the first event on. */
  readonly state: SessionState;
  readonly damage: readonly DamagedPlace[];
  /** Files beside the log that are there and do not agree with it. They can be made again. */
  readonly untrue: readonly string[];
  /** Files and folders that others than their owner may read or write. */
  readonly open: readonly string[];
  /** What a crash left half-written. */
  readonly leftovers: readonly string[];
}

/** @throws what the system says when a file of the log cannot be read */
export async function examineSession(home: string, identity: SessionIdentity): Promise<SessionExamination> {
  const directory = new HomeLayout(home).session(identity);
  const names = [...(await readdir(directory)), ...(await readdir(join(directory, RUNTIME_FOLDER)).catch(() => [])).map((name) => join(RUNTIME_FOLDER, name))];
  const segments = names.filter((name) => /^events(\.\d{6})?\.jsonl$/.test(name)).toSorted((one, other) => (one === segmentFile(1) ? -1 : other === segmentFile(1) ? 1 : one < other ? -1 : 1));
  const damage: DamagedPlace[] = [];
  for (const name of segments) damage.push(...(await damageIn(join(directory, name))));
  const state = await foldWhole(identity, directory);
  return {
    identity,
    state,
    damage,
    untrue: await untrueFiles(identity, directory, state),
    open: await openFiles(directory, names),
    leftovers: names.filter((name) => name.endsWith('.tmp')).map((name) => join(directory, name)),
  };
}

async function damageIn(file: string): Promise<DamagedPlace[]> {
  const log = await openToRead(file);
  try {
    const size = await log.size();
    const places: DamagedPlace[] = [];
    let read = 0;
    for await (const { lines, end } of scanLines(log, 0, size)) {
      for (const line of lines) {
        const isRecord = line.bytes !== undefined && decodeLine(line.bytes) !== undefined;
        if (!isRecord) places.push({ file, offset: line.start, length: line.end - line.start, isTornEnd: false });
      }
      read = end;
    }
    return read < size ? [...places, { file, offset: read, length: size - read, isTornEnd: true }] : places;
  } finally {
    await log.close();
  }
}

async function foldWhole(identity: SessionIdentity, directory: string): Promise<SessionState> {
  const segments = new LogSegments(directory, systemFileOperations);
  const reader = await LogReader.open({ sessionId: identity.sessionId, segments, segmentBytes: DEFAULT_SEGMENT_BYTES }, undefined);
  try {
    let state = initialSessionState(identity);
    for (;;) {
      const events = await reader.read({ from: state.head + 1, limit: MAX_READ_EVENTS });
      for (const event of events) state = foldSession(state, event);
      if (events.length < MAX_READ_EVENTS) return state;
    }
  } finally {
    await reader.file.close();
  }
}

/** Views and checkpoints that say something else than the log. Those that lie behind are as they should be. */
async function untrueFiles(identity: SessionIdentity, directory: string, state: SessionState): Promise<string[]> {
  const segments = new LogSegments(directory, systemFileOperations);
  const untrue: string[] = [];
  if (await isThere(join(directory, VIEW_FILE))) {
    const view = await readSessionView({ identity, directory, segments });
    if (view === undefined || (view.state.head === state.head && !isSameState(view.state, state))) untrue.push(join(directory, VIEW_FILE));
  }
  const path = join(directory, RUNTIME_FOLDER, CHECKPOINT_FILE);
  if (await isThere(path)) {
    const checkpoint = await readCheckpoint({ sessionId: identity.sessionId, directory, segments, operations: systemFileOperations });
    const isWhole = checkpoint !== undefined && checkpoint.state.head <= state.head && (await checkpoint.start.part.verify().then(() => true, () => false));
    if (!isWhole) untrue.push(path);
  }
  return untrue;
}

/** As they are stored, whatever the order of their parts: it differs by whether a state was folded on from a stored one. */
function isSameState(one: SessionState, other: SessionState): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)));
}

const OTHERS = 0o077;

async function openFiles(directory: string, names: readonly string[]): Promise<string[]> {
  if (process.platform === 'win32') return [];
  const paths = [directory, ...names.map((name) => join(directory, name))];
  const modes = await Promise.all(paths.map((path) => stat(path).then(({ mode }) => mode, () => 0)));
  return paths.filter((_, index) => ((modes[index] ?? 0) & OTHERS) !== 0);
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
