/**
 * Which due sessions a worker is about to wake, for the workers of other processes: a name beside the hints, made
 * before the wake and removed after it. Only a hint, as those are: the lease decides who wakes. It spares the others to
 * open a session that is taken.
 *
 * A process that dies leaves its names behind, so one that has been there for a while says nothing any more.
 */
import { existsSync, linkSync, mkdirSync, readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../actors/clock/clock.ts';
import { PRIVATE_FOLDER_MODE } from './file-operations.ts';
import { systemCodeOf } from '../system/error-codes.ts';

const RESERVED_FOLDER = '.reserved';

/**
 * For so long others believe a name that they have seen, in milliseconds; the lease tells them about a wake that takes
 * longer.
 */
const BELIEVED_MS = 1_000;

/** After so long a name of another process is removed. */
const ABANDONED_MS = 60_000;

export interface ReservationOptions {
  /** The folder of hints. */
  readonly directory: string;
  /** The file whose name a reservation is. */
  readonly file: string;
  readonly clock: Clock;
}

export class ActivationReservations {
  readonly #directory: string;
  readonly #file: string;
  readonly #clock: Clock;
  /** When each name was seen first, on the steady clock: all of them are names of one file, which tells no time. */
  readonly #seen = new Map<string, number>();
  readonly #own = new Set<string>();

  constructor({ directory, file, clock }: ReservationOptions) {
    this.#directory = join(directory, RESERVED_FOLDER);
    this.#file = file;
    this.#clock = clock;
  }

  /** The sessions that others are about to wake, as far as that is believed. */
  others(): ReadonlySet<string> {
    const names = this.#names();
    const present = new Set(names);
    for (const name of this.#seen.keys()) if (!present.has(name)) this.#seen.delete(name);
    for (const name of names) if (this.#isAbandoned(name)) this.#remove(name);
    return new Set(names.filter((name) => this.#isBelieved(name)));
  }

  /** @param hint the path of one of the session's hints. False when that is gone, or when another worker came first. */
  reserve(sessionId: string, hint: string): boolean {
    if (!existsSync(hint)) return false;
    if (this.#link(sessionId) === 'EEXIST' && this.#isBelieved(sessionId)) return false;
    this.#seen.delete(sessionId);
    this.#own.add(sessionId);
    return true;
  }

  /** Of what was reserved here, also in place of a worker that was not believed any more. */
  release(sessionId: string): void {
    if (this.#own.delete(sessionId)) this.#remove(sessionId);
  }

  #remove(sessionId: string): void {
    try {
      unlinkSync(join(this.#directory, sessionId));
    } catch {
      // It was not made, or its folder was taken away. One that cannot be removed is not believed for long.
    }
  }

  /** Left by a process that died, or by a wake that takes so long that its lease has told every process since. */
  #isAbandoned(name: string): boolean {
    const seenMs = this.#seen.get(name);
    return seenMs !== undefined && !this.#own.has(name) && this.#clock.steadyNow() - seenMs > ABANDONED_MS;
  }

  #isBelieved(name: string): boolean {
    const nowMs = this.#clock.steadyNow();
    const seenMs = this.#seen.get(name) ?? nowMs;
    this.#seen.set(name, seenMs);
    return nowMs - seenMs < BELIEVED_MS;
  }

  #names(): string[] {
    try {
      return readdirSync(this.#directory);
    } catch {
      // No folder, no reservations; without them the lease decides alone.
      return [];
    }
  }

  /** @returns what the system said against it */
  #link(sessionId: string): string | undefined {
    const path = join(this.#directory, sessionId);
    const code = codeOf(() => linkSync(this.#file, path));
    if (code !== 'ENOENT') return code;
    codeOf(() => mkdirSync(this.#directory, { mode: PRIVATE_FOLDER_MODE }));
    return codeOf(() => linkSync(this.#file, path));
  }
}

function codeOf(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return systemCodeOf(error) ?? 'unknown';
  }
}
