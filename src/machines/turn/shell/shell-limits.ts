/** Every bound of the shell tools, by name. */

/** Shells that one session may have open at once. */
export const MAX_SHELLS_PER_SESSION = 8;

/** Shells that all sessions of a runtime may have open at once; each is a process that waits. */
export const MAX_OPEN_SHELLS = 32;

/** Ended shells of a session whose history and last output can still be read. */
export const MAX_ENDED_SHELLS_PER_SESSION = 8;

/** A shell at rest that no call has touched for so long is closed, in milliseconds. */
export const SHELL_IDLE_MS = 1_800_000;

/** The same for a shell whose command runs on and that no agent has asked about: six hours. */
export const SHELL_UNATTENDED_MS = 21_600_000;

/** How long a new shell may take to answer, and one at rest to change its folder or a variable, in milliseconds. */
export const SHELL_ANSWER_MS = 10_000;

/**
 * How long a command may take to end after each interrupt, in milliseconds, before the next thing is done: a second
 * interrupt, then the end of the shell. A second one because a process that is just being started can lose the first.
 */
export const INTERRUPT_GRACES_MS = [500, 1_500] as const;

export const DEFAULT_SHELL_WAIT_MS = 120_000;
/** An hour. */
export const MAX_SHELL_WAIT_MS = 3_600_000;

export const MAX_COMMAND_CHARACTERS = 100_000;

/** Variables of a shell that are set again when it is opened again. */
export const MAX_SHELL_VARIABLES = 200;

/**
 * Exported variables of a shell that are kept for the one that takes its place, characters of each and of all, and how
 * many of the others are named.
 */
export const MAX_EXPORTS = 100;
export const MAX_EXPORT_CHARACTERS = 16_384;
export const MAX_EXPORTS_CHARACTERS = 65_536;
export const MAX_NOT_KEPT = 30;

/** Bytes that a shell may say of what is exported in it; of one that says more nothing is kept. */
export const MAX_EXPORT_REPORT_BYTES = 1_048_576;

/** Commands that a shell's history holds, and characters of each. */
export const MAX_HISTORY_ENTRIES = 100;
export const MAX_HISTORY_COMMAND_CHARACTERS = 2_000;

/** Bytes of output in one reply: its beginning and its end when there is more. */
export const REPLY_HEAD_BYTES = 10_000;
export const REPLY_TAIL_BYTES = 20_000;

/** Bytes of a command's output that can be read afterwards: its beginning and its end. */
export const KEPT_HEAD_BYTES = 131_072;
export const KEPT_TAIL_BYTES = 393_216;

/** Bytes of one page of kept output. */
export const DEFAULT_OUTPUT_PAGE_BYTES = 30_000;
export const MAX_OUTPUT_PAGE_BYTES = 100_000;
