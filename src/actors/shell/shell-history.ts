/** What has been run in a shell, the newest of it, and the names of variables that were set. */
import { MAX_HISTORY_COMMAND_CHARACTERS, MAX_HISTORY_ENTRIES } from '../../machines/turn/shell/shell-limits.ts';
import type { ShellHistoryEntry } from '../../machines/turn/shell/shell-results.ts';
import type { Clock } from '../clock/clock.ts';
import { isoTimeOf } from '../clock/iso-time.ts';

type Ended = Pick<ShellHistoryEntry, 'exitCode'> & { readonly status: Exclude<ShellHistoryEntry['status'], 'running'> };

/** Ends the entry that it was given for. */
export type EndEntry = (ended: Ended) => void;

export class ShellHistoryBook {
  readonly #clock: Clock;
  readonly #entries: ShellHistoryEntry[] = [];
  readonly #variables = new Set<string>();
  #forgotten = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get entries(): readonly ShellHistoryEntry[] {
    return [...this.#entries];
  }

  /** Entries that were there and are not kept. */
  get forgotten(): number {
    return this.#forgotten;
  }

  get variables(): readonly string[] {
    return [...this.#variables];
  }

  begin(command: string): EndEntry {
    const isLong = command.length > MAX_HISTORY_COMMAND_CHARACTERS;
    let entry: ShellHistoryEntry = {
      command: isLong ? `${command.slice(0, MAX_HISTORY_COMMAND_CHARACTERS)} [and ${command.length - MAX_HISTORY_COMMAND_CHARACTERS} more characters]` : command,
      startedAt: this.#now(),
      status: 'running',
    };
    this.#entries.push(entry);
    if (this.#entries.length > MAX_HISTORY_ENTRIES) {
      this.#entries.shift();
      this.#forgotten += 1;
    }
    return (ended) => {
      const at = this.#entries.indexOf(entry);
      if (at === -1) return;
      entry = { ...entry, ...ended, endedAt: this.#now() };
      this.#entries[at] = entry;
    };
  }

  noteVariable(name: string, isSet: boolean): void {
    if (isSet) this.#variables.add(name);
    else this.#variables.delete(name);
  }

  #now(): string {
    return isoTimeOf(this.#clock.now());
  }
}
