/**
 * Hints as names of an empty file in folders by time: making one is linking a name, removing one is unlinking it, and
 * what is far away is not read. Any number of processes may do so at once. Nothing is put on the disk for sure; after a
 * power failure the index is suspect.
 *
 * All of them are names of one file, since a name costs a file system a part of what a file does. Where it has no such
 * names, or no more of them for this file, a hint is a file of its own.
 */
import { readdirSync } from 'node:fs';
import { opendir, readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { dueSessions } from '../../machines/session/due-sessions.ts';
import type { DueSession } from '../../machines/session/due-sessions.ts';
import type { Activation } from '../../machines/session/activation.ts';
import { checkActivation, isActivation } from '../../machines/session/activation.ts';
import type { ActivationIndex, DueActivations, DueQuery } from '../../actors/session/activation-index.ts';
import type { Clock } from '../../actors/clock/clock.ts';
import { systemCodeOf } from '../system/error-codes.ts';
import { raiseActivationSignal, watchActivationSignal } from './activation-signal.ts';
import { isStamped, stampBoot } from './activation-boot.ts';
import { bucketOf, isBucket, nameOf, readName, startOfBucket } from './activation-name.ts';
import { ActivationReservations } from './activation-reservations.ts';
import { systemFileOperations } from './file-operations.ts';
import type { FileOperations } from './file-operations.ts';
import { storageFailed } from './storage-errors.ts';

/** The empty file that hints are names of. */
const HINT_FILE = '.hint';

/** How often a folder may be taken away under us, as an empty one, before we give up. */
const MAX_ATTEMPTS = 1_000;

/** Hints that are made or removed at the same time. */
const PARALLEL_HINTS = 16;

/**
 * A folder that held no more names than this when it was read last is read by the thread that asks: it takes a few
 * microseconds.
 */
const FEW_NAMES = 128;
/** Folders of which that is remembered. */
const MAX_SHORT_FOLDERS = 16;

const NONE: ReadonlySet<string> = new Set();

/** Names of the future that one check reads. */
const MAX_NAMES_AHEAD = 1_024;

export interface FileActivationIndexOptions {
  /** Made with the first hint. */
  readonly directory: string;
  readonly clock: Clock;
  readonly operations?: FileOperations | undefined;
}

export class FileActivationIndex implements ActivationIndex {
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #operations: FileOperations;
  readonly #listeners = new Set<() => void>();
  readonly #reservations: ActivationReservations;
  /** Folders that held few names. */
  readonly #shortFolders = new Set<string>();
  #ringing: Promise<void> | undefined;
  #nextRing: Promise<void> | undefined;

  constructor({ directory, clock, operations = systemFileOperations }: FileActivationIndexOptions) {
    this.#directory = directory;
    this.#clock = clock;
    this.#operations = operations;
    this.#reservations = new ActivationReservations({ directory, file: join(directory, HINT_FILE), clock });
  }

  async add(activations: readonly Activation[]): Promise<void> {
    if (await this.#makeAll(activations)) await this.#ring();
  }

  /** Makes hints of what is about to be written. No worker is told before it is: `announce` does, or `add`. */
  async foretell(activations: readonly Activation[]): Promise<void> {
    await this.#makeAll(activations);
  }

  /**
   * What was foretold is written. If this process dies before it can say so, the check that a worker makes every now
   * and then finds it.
   */
  announce(): void {
    void this.#ring();
  }

  /** Resolves when every worker has been told of what was announced. */
  async settled(): Promise<void> {
    while (this.#nextRing !== undefined) await this.#nextRing;
    await this.#ringing;
  }

  async remove(activations: readonly Activation[]): Promise<void> {
    await this.#eachOf(activations.filter(isActivation), 'remove', (activation) => this.#unmake(activation));
  }

  async due(query: DueQuery): Promise<DueActivations> {
    const { nowMs } = query;
    const present = bucketOf(nowMs);
    const found: Activation[] = [];
    const reserved = query.claims === undefined ? NONE : this.#reservations.others();
    const elsewhere = new Set<string>();
    let nextDueAtMs: number | undefined;
    try {
      // Most of what is due lies in the present folder: it is read meanwhile. One that is made between the two comes
      // with a ring of the bell.
      const [buckets, atPresent] = await Promise.all([this.#buckets(), this.#read(present)]);
      for (const bucket of buckets.filter((name) => name <= present)) {
        const activations = bucket === present ? atPresent : await this.#read(bucket);
        if (activations.length === 0 && bucket < present) await this.#removeEmpty(bucket);
        for (const activation of activations) {
          if (!isMeant(activation, query)) continue;
          if (activation.dueAtMs <= nowMs && reserved.has(activation.sessionId)) elsewhere.add(activation.sessionId);
          else if (activation.dueAtMs <= nowMs) found.push(activation);
          else nextDueAtMs = Math.min(nextDueAtMs ?? Infinity, activation.dueAtMs);
        }
      }
      // What is due later in this folder comes before all that lies in others.
      nextDueAtMs ??= await this.#nextAfter(
        buckets.filter((name) => name > present),
        query,
      );
    } catch (error) {
      throw storageFailed(`search for what is due in ${this.#directory}`, error);
    }
    return {
      due: dueSessions(found, query.limit),
      nextDueAtMs,
      ...(elsewhere.size === 0 ? {} : { elsewhere: elsewhere.size }),
    };
  }

  reserve({ sessionId, activations: [hint] }: DueSession): boolean {
    return this.#reservations.reserve(sessionId, this.#pathOf(hint));
  }

  release(sessionId: string): void {
    this.#reservations.release(sessionId);
  }

  watch(onChange: () => void): () => void {
    const listener = (): void => onChange();
    this.#listeners.add(listener);
    const stop = watchActivationSignal({ directory: this.#directory, clock: this.#clock, onRing: listener });
    return () => {
      this.#listeners.delete(listener);
      stop();
    };
  }

  async isSuspect(): Promise<boolean> {
    try {
      return !(await isStamped(this.#directory));
    } catch (error) {
      throw storageFailed(`read the stamp in ${this.#directory}`, error);
    }
  }

  async rebuilt(activations: AsyncIterable<Activation>): Promise<void> {
    let batch: Activation[] = [];
    for await (const activation of activations) {
      batch.push(activation);
      if (batch.length < PARALLEL_HINTS) continue;
      await this.add(batch);
      batch = [];
    }
    await this.add(batch);
    try {
      await this.#operations.makeDirectories(this.#directory);
      await stampBoot(this.#directory, this.#operations);
    } catch (error) {
      throw storageFailed(`stamp ${this.#directory}`, error);
    }
  }

  /** @returns whether there were any */
  async #makeAll(activations: readonly Activation[]): Promise<boolean> {
    const checked = activations.map(checkActivation);
    await this.#eachOf(checked, 'make', (activation) => this.#make(activation));
    return checked.length > 0;
  }

  async #eachOf(
    activations: readonly Activation[],
    doing: string,
    work: (activation: Activation) => Promise<void>,
  ): Promise<void> {
    try {
      for (let start = 0; start < activations.length; start += PARALLEL_HINTS) {
        const results = await Promise.allSettled(activations.slice(start, start + PARALLEL_HINTS).map(work));
        for (const result of results) if (result.status === 'rejected') throw result.reason;
      }
    } catch (error) {
      throw storageFailed(`${doing} a hint in ${this.#directory}`, error);
    }
  }

  async #make(activation: Activation): Promise<void> {
    const path = this.#pathOf(activation);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#makeName(path);
      } catch (error) {
        if (systemCodeOf(error) !== 'ENOENT' || attempt === MAX_ATTEMPTS) throw error;
        await this.#makeFolder(bucketOf(activation.dueAtMs));
        await this.#makeFile(join(this.#directory, HINT_FILE)).catch((missing: unknown) => {
          // Its folder was taken away once more: the next attempt makes both again.
          if (systemCodeOf(missing) !== 'ENOENT') throw missing;
        });
      }
    }
  }

  /** @throws ENOENT when its folder is not there, or the file whose name it is to be */
  async #makeName(path: string): Promise<void> {
    try {
      await this.#operations.linkFile(join(this.#directory, HINT_FILE), path);
    } catch (error) {
      const code = systemCodeOf(error);
      if (code === 'EEXIST') return;
      if (code === 'ENOENT') throw error;
      await this.#makeFile(path);
    }
  }

  async #makeFile(path: string): Promise<void> {
    try {
      await this.#operations.createFile(path, '');
    } catch (error) {
      // One whose folder was taken away is made again by the next attempt.
      if (systemCodeOf(error) !== 'EEXIST') throw error;
    }
  }

  async #makeFolder(bucket: string): Promise<void> {
    try {
      await this.#operations.makeDirectories(join(this.#directory, bucket));
    } catch (error) {
      // Taken away while it was being made: the next attempt makes it again.
      if (systemCodeOf(error) !== 'ENOENT') throw error;
    }
  }

  async #unmake(activation: Activation): Promise<void> {
    try {
      await this.#operations.removeFile(this.#pathOf(activation));
    } catch (error) {
      if (!isAbsence(error)) throw error;
    }
  }

  /**
   * At once, and after that at most once in a turn of the event loop: a ring is for every hint that was made before it.
   */
  #ring(): Promise<void> {
    this.#nextRing ??= (this.#ringing ?? Promise.resolve()).then(() => {
      this.#nextRing = undefined;
      this.#ringing = new Promise((resolve) => {
        setImmediate(resolve);
      });
      // Those in this process need not wait for the system.
      for (const listener of this.#listeners) listener();
      raiseActivationSignal(this.#directory);
    });
    return this.#nextRing;
  }

  #pathOf(activation: Activation): string {
    return join(this.#directory, bucketOf(activation.dueAtMs), nameOf(activation));
  }

  async #buckets(): Promise<string[]> {
    return (await this.#namesIn(this.#directory)).filter(isBucket).sort();
  }

  async #read(bucket: string): Promise<Activation[]> {
    const names = await this.#namesIn(join(this.#directory, bucket));
    return names.flatMap((name) => readName(name, bucket) ?? []);
  }

  async #namesIn(directory: string): Promise<string[]> {
    const names = this.#shortFolders.has(directory) ? fewNamesIn(directory) : await namesIn(directory);
    if (this.#shortFolders.size >= MAX_SHORT_FOLDERS) this.#shortFolders.clear();
    if (names.length <= FEW_NAMES) this.#shortFolders.add(directory);
    else this.#shortFolders.delete(directory);
    return names;
  }

  /** When something may be due that lies in the first of these folders that is not empty. */
  async #nextAfter(buckets: readonly string[], query: DueQuery): Promise<number | undefined> {
    let namesLeft = MAX_NAMES_AHEAD;
    for (const bucket of buckets) {
      const names = await someNamesIn(join(this.#directory, bucket), namesLeft);
      namesLeft -= names.length;
      if (namesLeft === 0) return startOfBucket(bucket);
      const times = names.flatMap((name) => {
        const activation = readName(name, bucket);
        return activation !== undefined && isMeant(activation, query) ? [activation.dueAtMs] : [];
      });
      if (times.length > 0) return times.reduce((soonest, time) => Math.min(soonest, time));
    }
    return undefined;
  }

  /** A process may make a hint in it at this moment: then it stays, or is made again. */
  async #removeEmpty(bucket: string): Promise<void> {
    await rmdir(join(this.#directory, bucket)).catch(() => undefined);
  }
}

function isMeant({ sessionId, agentId }: Activation, { except, agentId: wanted }: DueQuery): boolean {
  return (wanted === undefined || agentId === wanted) && except?.has(sessionId) !== true;
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isAbsence(error)) return [];
    throw error;
  }
}

/** The same at once. */
function fewNamesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isAbsence(error)) return [];
    throw error;
  }
}

async function someNamesIn(directory: string, limit: number): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name } of await opendir(directory, { bufferSize: limit })) {
      names.push(name);
      if (names.length === limit) break;
    }
  } catch (error) {
    if (!isAbsence(error)) throw error;
  }
  return names;
}

function isAbsence(error: unknown): boolean {
  const code = systemCodeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}
