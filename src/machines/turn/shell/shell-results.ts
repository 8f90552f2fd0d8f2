/** What the shell tools answer a model. */
import type { OutputPage } from './kept-output.ts';

export interface ShellOpened {
  readonly shell: string;
  /** Absolute, without symbolic links. */
  readonly cwd: string;
}

/** A command that has ended, or how far it has come. */
export interface ShellCommandReply {
  readonly shell: string;
  /** What it put out since the last reply, standard output and errors as they came. The middle of a lot is left out, and says so. */
  readonly output: string;
  /** Null while it runs, and when a signal ended the shell under it. */
  readonly exitCode: number | null;
  /** The folder the shell is in; absent when that folder is not there any more. */
  readonly cwd?: string | undefined;
  /** It was not over in time and goes on: `shell_wait` waits for it. */
  readonly running?: true | undefined;
  /** The shell was opened for this command: nothing of an earlier one is left. */
  readonly opened?: true | undefined;
  /** The command took the shell with it, and why. */
  readonly shellEnded?: string | undefined;
  /** Bytes put out in all, where `output` leaves some out: `shell_read_last_output` has them. */
  readonly outputBytes?: number | undefined;
  readonly leftOut?: { readonly from: number; readonly to: number } | undefined;
}

export interface ShellClosed {
  readonly shell: string;
  readonly closed: true;
  /** What ran in it and could not be ended, in words. */
  readonly leftOver?: string | undefined;
}

/** One command of the past. Values of variables are never in it. */
export interface ShellHistoryEntry {
  readonly command: string;
  /** ISO-8601. */
  readonly startedAt: string;
  readonly endedAt?: string | undefined;
  readonly exitCode?: number | undefined;
  /** `stopped`: a stop of its call ended it. */
  readonly status: 'running' | 'exited' | 'stopped' | 'shell_ended';
}

export interface ShellHistory {
  readonly shell: string;
  readonly open: boolean;
  /** Why it is not open any more. */
  readonly ended?: string | undefined;
  readonly cwd?: string | undefined;
  /** Names only. */
  readonly variables: readonly string[];
  /** Oldest first. */
  readonly entries: readonly ShellHistoryEntry[];
  /** Entries that were there and are not kept. */
  readonly forgotten?: number | undefined;
}

export interface ShellOutputPage extends OutputPage {
  readonly shell: string;
  readonly running?: true | undefined;
}

export interface ShellFolder {
  readonly shell: string;
  readonly cwd: string;
}

export interface ShellVariable {
  readonly shell: string;
  readonly name: string;
  readonly set: boolean;
}
