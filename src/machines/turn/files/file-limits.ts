/**
 * Every bound of the file tools has a name here. Reaching one is said in the result or is a typed refusal, never a
 * silent loss.
 */

/** Characters of a path, as a model gives it. */
export const MAX_PATH_CHARACTERS = 4_096;

/** Lines of one page that `read` gives, unless it is asked for fewer or more. */
export const DEFAULT_READ_LINES = 2_000;
export const MAX_READ_LINES = 10_000;

/** Characters of the lines of one page. */
export const MAX_READ_CHARACTERS = 60_000;

/** Characters that are shown of one line. */
export const MAX_LINE_CHARACTERS = 2_000;

/** Bytes up to which a file is known by its content; a larger one is known by its size, its number and its times. */
export const MAX_HASHED_BYTES = 8 * 1024 * 1024;

/** Characters that `write` takes. */
export const MAX_WRITE_CHARACTERS = 2_000_000;

/** Bytes of a file that `edit` changes. */
export const MAX_EDIT_BYTES = 8 * 1024 * 1024;

/** Characters of one text that `edit` searches for or puts in. */
export const MAX_EDIT_TEXT_CHARACTERS = 500_000;

/** Changes of one call of `edit`. */
export const MAX_EDITS = 100;

/** Characters of a difference that `edit` shows. */
export const MAX_DIFF_CHARACTERS = 8_000;

/** Characters of a glob pattern, and the patterns that its braces may stand for. */
export const MAX_GLOB_CHARACTERS = 1_000;
export const MAX_GLOB_ALTERNATIVES = 64;

/** Files that `glob` names, unless it is asked for fewer or more. */
export const DEFAULT_GLOB_FILES = 200;
export const MAX_GLOB_FILES = 2_000;

/** Files that `glob` puts in order before it names the newest. */
export const MAX_GLOB_COLLECTED = 50_000;

/** Files and folders that one search checks. */
export const MAX_WALKED_ENTRIES = 300_000;

/** Files and folders of one folder that a search checks. */
export const MAX_FOLDER_ENTRIES = 50_000;

/** How many folders deep a search goes. */
export const MAX_WALK_DEPTH = 64;

/** Bytes of one `.gitignore` that are read, and the rules of it that count. */
export const MAX_IGNORE_FILE_BYTES = 256 * 1024;
export const MAX_IGNORE_RULES = 2_000;

/** Characters of a regular expression, and how large a program it may become: time per character grows with it. */
export const MAX_SEARCH_CHARACTERS = 1_000;
export const MAX_SEARCH_PROGRAM = 1_000;

/** Bytes of a file that `grep` searches; larger ones are passed over, unless they are named. */
export const MAX_GREP_FILE_BYTES = 20 * 1024 * 1024;

/** Characters at the beginning of each line that `grep` searches. */
export const MAX_GREP_LINE_CHARACTERS = 20_000;

/** Lines that match, unless `grep` is asked for fewer or more. */
export const DEFAULT_GREP_MATCHES = 200;
export const MAX_GREP_MATCHES = 2_000;
export const MAX_GREP_CONTEXT = 20;

/** Characters of what `grep` found, and of each line in it. */
export const MAX_GREP_CHARACTERS = 60_000;
export const MAX_GREP_SHOWN_LINE_CHARACTERS = 400;

/**
 * Files that a session is known to have seen, and sessions of which that is known. The ones used longest ago are
 * forgotten first.
 */
export const MAX_SEEN_FILES = 2_000;
export const MAX_SEEN_SESSIONS = 500;

/** Bytes of one kept output, of all those of one session, and how many of them there may be. */
export const MAX_OUTPUT_FILE_BYTES = 64 * 1024 * 1024;
export const MAX_SESSION_OUTPUT_BYTES = 256 * 1024 * 1024;
export const MAX_SESSION_OUTPUT_FILES = 2_000;

/**
 * Files, folders and links up to which a workspace is measured for its quota, and workspaces of which the measure is
 * remembered.
 */
export const MAX_MEASURED_ENTRIES = 500_000;
export const MAX_MEASURED_WORKSPACES = 200;
