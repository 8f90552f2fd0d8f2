/** What has been run in a shell, the newest of it, and the names of variables that were set. */
import { beginningOf } from '../../machines/cut-text.ts';
import {
  MAX_HISTORY_COMMAND_CHARACTERS,
  MAX_HISTORY_ENTRIES,
  MAX_SHELL_VARIABLES,
} from '../../machines/turn/shell/shell-limits.ts';
import type { ShellHistoryEntry } from '../../machines/turn/shell/shell-results.ts';
import type { ShellRecord, ShellRecordVariable } from '../../machines/turn/shell/shell-record.ts';
import type { Clock } from '../clock/clock.ts';
import { isoTimeOf } from '../clock/iso-time.ts';

type Ended = Pick<ShellHistoryEntry, 'exitCode'> & { readonly status: Exclude<ShellHistoryEntry['status'], 'running'> };

/** Ends the entry that it was given for. */
export type EndEntry = (ended: Ended) => void;

export type HistoryBefore = Pick<ShellRecord, 'entries' | 'forgotten' | 'variables'>;

/** Of a shell whose process is not there any more: what ran in it ended with that. */
export function entriesOfEnded(entries: readonly ShellHistoryEntry[]): readonly ShellHistoryEntry[] {
  return entries.map((entry) => (entry.status === 'running' ? { ...entry, status: 'shell_ended' } : entry));
}

export class ShellHistories {
  readonly #clock: Clock;
  readonly #entries: ShellHistoryEntry[];
  readonly #variables: Map<string, ShellRecordVariable>;
  #forgotten: number;

  /** @param before what is known of the shell in whose place this one is */
  constructor(clock: Clock, before: HistoryBefore = { entries: [], forgotten: 0, variables: [] }) {
    this.#clock = clock;
    this.#entries = [...entriesOfEnded(before.entries)];
    this.#forgotten = before.forgotten;
    this.#variables = new Map(before.variables.map((variable) => [variable.name, variable]));
  }

  get entries(): readonly ShellHistoryEntry[] {
    return [...this.#entries];
  }

  /** Entries that were there and are not kept. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Names of those that are set. */
  get variables(): readonly string[] {
    return [...this.#variables.values()].flatMap((variable) => ('removed' in variable ? [] : [variable.name]));
  }

  /** For a record. */
  get known(): HistoryBefore {
    return { entries: this.entries, forgotten: this.#forgotten, variables: [...this.#variables.values()] };
  }

  begin(command: string): EndEntry {
    const isLong = command.length > MAX_HISTORY_COMMAND_CHARACTERS;
    let entry: ShellHistoryEntry = {
      command: isLong
        ? `${beginningOf(command, MAX_HISTORY_COMMAND_CHARACTERS)} [and ${command.length - MAX_HISTORY_COMMAND_CHARACTERS} more characters]`
        : command,
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

  /** Beyond the limit the oldest is forgotten. */
  noteVariable(variable: ShellRecordVariable): void {
    this.#variables.delete(variable.name);
    this.#variables.set(variable.name, variable);
    const [oldest] = this.#variables.keys();
    if (this.#variables.size > MAX_SHELL_VARIABLES && oldest !== undefined) this.#variables.delete(oldest);
  }

  #now(): string {
    return isoTimeOf(this.#clock.now());
  }
}
