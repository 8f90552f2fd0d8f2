/**
 * What agents have learned, as files: `learnings/learnings.jsonl`, which only grows, and `learnings/learnings.md` for
 * reading, made from it. A record that is torn or damaged is left out; the logs of the sessions have what it held.
 */
import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { Clock } from '../../actors/clock/clock.ts';
import { isoTimeOf } from '../../actors/clock/iso-time.ts';
import type { LearningsExamination, LearningStore } from '../../actors/memory/learning-store.ts';
import { filteredLearnings, learningsFull } from '../../actors/memory/learning-store.ts';
import type { ExclusiveWork } from '../../actors/run/exclusive-work.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { agentId as agentIdSchema } from '../../machines/ids.ts';
import type { Keeping, LearningRecord } from '../../machines/memory/learning-ledger.ts';
import { LearningLedger, learningRecord } from '../../machines/memory/learning-ledger.ts';
import type { CapturedLearning, KeptLearning } from '../../machines/memory/learning.ts';
import { capturedLearning, MAX_LEARNINGS } from '../../machines/memory/learning.ts';
import { learningsText } from '../../machines/memory/learnings-text.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import { isNoPlainFile } from '../system/own-files.ts';
import { PRIVATE_FILE_MODE, syncFolder } from '../system/whole-files.ts';
import { makeFolder, readIfThere, replaceFile, sha256Of, storageFailed, storing } from './storage.ts';

// learnings.jsonl: one record a line, with a checksum over it. Records are only ever added, each behind a line end of
// its own, so that a torn one stays alone on its line.
//
// {"sum":"0123456789abcdef","record":{"type":"captured","learning":{…}}}

const SUM_CHARACTERS = 16;

const line = z.strictObject({ sum: z.string().length(SUM_CHARACTERS), record: z.unknown() });

function lineOf(record: LearningRecord): string {
  const text = JSON.stringify(record);
  return `{"sum":"${sumOf(text)}","record":${text}}\n`;
}

interface LinesReading {
  readonly records: readonly LearningRecord[];
  readonly damaged: number;
}

/** What lines hold, and how many cannot be read. Empty lines do not count. */
function readLines(text: string): LinesReading {
  const records: LearningRecord[] = [];
  let damaged = 0;
  for (const each of text.split('\n')) {
    if (each.trim() === '') continue;
    const record = recordOf(each);
    if (record === undefined) damaged += 1;
    else records.push(record);
  }
  return { records, damaged };
}

function recordOf(text: string): LearningRecord | undefined {
  try {
    const { sum, record } = line.parse(JSON.parse(text));
    return sum === sumOf(JSON.stringify(record)) ? learningRecord.parse(record) : undefined;
  } catch {
    return undefined;
  }
}

function sumOf(text: string): string {
  return sha256Of(text).slice(0, SUM_CHARACTERS);
}

const FOLDER = 'learnings';
const LINES_FILE = 'learnings.jsonl';
const TEXT_FILE = 'learnings.md';
const LOCK = '.lock';

/** More than any number of learnings takes that may be kept. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

const APPENDING = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);

export interface FileLearningStoreOptions {
  /** Absolute: where an agent's file lies. */
  readonly agentDirectory: (agentId: string) => string;
  readonly clock: Pick<Clock, 'now'>;
  readonly exclusively: ExclusiveWork;
}

interface Folded {
  /** Of the file that was read. */
  readonly stamp: string;
  readonly ledger: LearningLedger;
  readonly damaged: number;
}

export class FileLearningStore implements LearningStore {
  readonly #options: FileLearningStoreOptions;
  /** By agent, as long as the file stays as it was. */
  readonly #folded = new Map<string, Folded>();

  constructor(options: FileLearningStoreOptions) {
    this.#options = options;
  }

  async keep(agentId: string, learning: CapturedLearning): Promise<Keeping> {
    const id = checkedAgent(agentId);
    const captured = parseOrThrow(capturedLearning, learning, { what: 'learning', code: 'LEARNING_INVALID' });
    const known = (await this.#fold(id)).ledger.keepingOf(captured.learningId);
    if (known !== undefined) return known;
    return this.#alone(id, async () => {
      const { ledger } = await this.#fold(id);
      const keeping = ledger.foresee(captured);
      if (ledger.keepingOf(captured.learningId) !== undefined) return keeping;
      if (keeping.as === 'new' && ledger.size >= MAX_LEARNINGS) throw learningsFull(id, MAX_LEARNINGS);
      await this.#add(id, { type: 'captured', learning: captured });
      return keeping;
    });
  }

  async list(agentId: string, filter: Parameters<LearningStore['list']>[1] = {}): Promise<readonly KeptLearning[]> {
    return filteredLearnings((await this.#fold(checkedAgent(agentId))).ledger.all, filter);
  }

  async get(agentId: string, learningId: string): Promise<KeptLearning | undefined> {
    const found = (await this.#fold(checkedAgent(agentId))).ledger.get(learningId);
    return found?.isForgotten === true ? undefined : found;
  }

  async forget(agentId: string, learningId: string): Promise<boolean> {
    const id = checkedAgent(agentId);
    if ((await this.get(id, learningId)) === undefined) return false;
    return this.#alone(id, async () => {
      if ((await this.get(id, learningId)) === undefined) return false;
      await this.#add(id, { type: 'forgotten', learningId, at: isoTimeOf(this.#options.clock.now()) });
      return true;
    });
  }

  async rebuild(agentId: string, captured: AsyncIterable<CapturedLearning>): Promise<LearningsExamination> {
    const id = checkedAgent(agentId);
    const found: CapturedLearning[] = [];
    for await (const learning of captured)
      found.push(parseOrThrow(capturedLearning, learning, { what: 'learning', code: 'LEARNING_INVALID' }));
    return this.#alone(id, async () => {
      const before = (await this.#fold(id)).ledger;
      const ledger = new LearningLedger();
      const records: LearningRecord[] = [];
      const take = (record: LearningRecord): void => {
        ledger.take(record);
        records.push(record);
      };
      // In the order of time; what a session that is gone has taught stays.
      const all = new Map<string, CapturedLearning>(
        [...before.all.map(capturedPart), ...found].map((each) => [each.learningId, each]),
      );
      for (const record of recordsInOrder(before, [...all.values()])) {
        if (record.type === 'forgotten') take({ ...record, learningId: whoseNow(ledger, record.learningId) });
        else if (ledger.size < MAX_LEARNINGS || ledger.foresee(record.learning).as === 'duplicate') take(record);
      }
      // Clocks differ: whatever the order was, what was taken out stays out.
      const at = isoTimeOf(this.#options.clock.now());
      for (const { learningId, isForgotten } of before.all) {
        const holder = whoseNow(ledger, learningId);
        if (isForgotten && ledger.get(holder)?.isForgotten === false)
          take({ type: 'forgotten', learningId: holder, at });
      }
      await replaceFile(this.#pathOf(id), records.map(lineOf).join(''));
      await this.#render(id);
      return { learnings: ledger.all.filter(({ isForgotten }) => !isForgotten).length, damagedLines: 0 };
    });
  }

  async examine(agentId: string): Promise<LearningsExamination> {
    const { ledger, damaged } = await this.#fold(checkedAgent(agentId));
    return { learnings: ledger.all.filter(({ isForgotten }) => !isForgotten).length, damagedLines: damaged };
  }

  async #add(agentId: string, record: LearningRecord): Promise<void> {
    const path = this.#pathOf(agentId);
    await storing(`write ${path}`, async () => {
      const handle = await open(path, APPENDING, PRIVATE_FILE_MODE);
      try {
        const stats = await handle.stat();
        if (!stats.isFile()) throw new Error('it is no file');
        const last =
          stats.size === 0 ? '\n' : (await handle.read(Buffer.alloc(1), 0, 1, stats.size - 1)).buffer.toString();
        // What a crash has torn stays alone on its line.
        await handle.appendFile((last === '\n' ? '' : '\n') + lineOf(record));
        await handle.datasync();
        if (stats.size === 0) await syncFolder(this.#directoryOf(agentId));
      } finally {
        await handle.close();
      }
    });
    await this.#render(agentId);
  }

  /** It is made from the records, so whatever comes of it, they count. */
  async #render(agentId: string): Promise<void> {
    const { ledger } = await this.#fold(agentId);
    await replaceFile(join(this.#directoryOf(agentId), TEXT_FILE), learningsText(ledger.all)).catch(() => undefined);
  }

  async #fold(agentId: string): Promise<Folded> {
    const path = this.#pathOf(agentId);
    const stamp = await stampOf(path);
    const known = this.#folded.get(agentId);
    if (known?.stamp === stamp) return known;
    const { records, damaged } = readLines((await readIfThere(path, MAX_FILE_BYTES))?.toString() ?? '');
    const ledger = new LearningLedger();
    for (const record of records) ledger.take(record);
    const folded = { stamp, ledger, damaged };
    this.#folded.set(agentId, folded);
    return folded;
  }

  async #alone<Result>(agentId: string, work: () => Promise<Result>): Promise<Result> {
    const directory = this.#directoryOf(agentId);
    await makeFolder(directory);
    return this.#options.exclusively(
      join(directory, LOCK),
      work,
      (waitedMs) =>
        new RuntimeError(
          'LEARNINGS_BUSY',
          `the learnings of agent ${agentId} were being changed by others for ${waitedMs} ms`,
          { category: 'conflict', hint: 'Try again.', details: { agentId, waitedMs } },
        ),
    );
  }

  #directoryOf(agentId: string): string {
    return join(this.#options.agentDirectory(agentId), FOLDER);
  }

  #pathOf(agentId: string): string {
    return join(this.#directoryOf(agentId), LINES_FILE);
  }
}

/** A file only grows, so its size tells one content from another; a rebuilt one is another file. */
async function stampOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs } = await stat(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch (error) {
    if (isNoPlainFile(error)) return 'none';
    throw storageFailed(`read ${path}`, error);
  }
}

function capturedPart({
  count: _count,
  lastSeenAt: _lastSeenAt,
  sessionIds: _sessionIds,
  isForgotten: _isForgotten,
  ...captured
}: KeptLearning): CapturedLearning {
  return captured;
}

/** The learning that holds what was forgotten: an earlier capture may have come back. */
function whoseNow(ledger: LearningLedger, learningId: string): string {
  const keeping = ledger.keepingOf(learningId);
  return keeping?.as === 'duplicate' ? keeping.duplicateOf : learningId;
}

/** What was kept goes before what was taken out at the same time, and that before everything else. */
function recordsInOrder(before: LearningLedger, captured: readonly CapturedLearning[]): readonly LearningRecord[] {
  const learned = captured.map((learning) => ({
    at: learning.at,
    rank: before.get(learning.learningId) === undefined ? 2 : 0,
    seq: learning.seq,
    record: { type: 'captured' as const, learning },
  }));
  const forgotten = before.all.flatMap(({ learningId }) => {
    const at = before.forgottenAt(learningId);
    return at === undefined ? [] : [{ at, rank: 1, seq: 0, record: { type: 'forgotten' as const, learningId, at } }];
  });
  return [...learned, ...forgotten]
    .toSorted((one, other) =>
      one.at < other.at ? -1 : one.at > other.at ? 1 : one.rank - other.rank || one.seq - other.seq,
    )
    .map(({ record }) => record);
}

function checkedAgent(agentId: string): string {
  return parseOrThrow(agentIdSchema, agentId, { what: 'agent id', code: 'AGENT_ID_INVALID' });
}
