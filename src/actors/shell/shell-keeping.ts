/**
 * Keeps the record of one shell up to date: the newest state, one write at a time, and none over that of a shell that
 * took its place.
 */
import type { ShellRecord } from '../../machines/turn/shell/shell-record.ts';
import type { SessionIdentity } from '../session/event-store.ts';
import type { ShellRecords } from './shell-host.ts';

export interface ShellKeepingOptions {
  readonly records: ShellRecords | undefined;
  readonly session: SessionIdentity;
  readonly name: string;
  readonly instance: string;
}

export class ShellKeeping {
  readonly #options: ShellKeepingOptions;
  #wanted: (() => ShellRecord) | 'nothing' | undefined;
  #working: Promise<void> | undefined;
  /** The first record takes the place of whatever was there. */
  #hasBegun = false;

  constructor(options: ShellKeepingOptions) {
    this.#options = options;
  }

  save(record: () => ShellRecord): void {
    if (this.#options.records === undefined || this.#wanted === 'nothing') return;
    this.#wanted = record;
    this.#working ??= this.#work();
  }

  /** For good. */
  remove(): void {
    if (this.#options.records === undefined) return;
    this.#wanted = 'nothing';
    this.#working ??= this.#work();
  }

  /** Resolves when what was asked for is done, or could not be. */
  settled(): Promise<void> {
    return this.#working ?? Promise.resolve();
  }

  async #work(): Promise<void> {
    const { records, session, name } = this.#options;
    for (let wanted = this.#wanted; wanted !== undefined && records !== undefined; wanted = this.#wanted) {
      if (wanted !== 'nothing') this.#wanted = undefined;
      if (!this.#isOurs()) break;
      this.#hasBegun = true;
      try {
        if (wanted === 'nothing') await records.remove(session, name);
        else await records.write(session, name, wanted());
      } catch {
        // A shell works without a record. One that says what is not true any more would be worse than none.
        await records.remove(session, name).catch(() => undefined);
        this.#hasBegun = false;
      }
      if (wanted === 'nothing') break;
    }
    this.#working = undefined;
  }

  #isOurs(): boolean {
    const { records, session, name, instance } = this.#options;
    return !this.#hasBegun || records?.read(session, name)?.instance === instance;
  }
}
