/**
 * The bounds of what is read of another runtime's logs. What lies beyond one is reported, never dropped without a word.
 */

/** Bytes of one line. A longer one is passed over; its beginning is kept. */
export const MAX_IMPORT_LINE_BYTES = 8 * 1024 * 1024;

/** Bytes of one log. */
export const MAX_IMPORT_LOG_BYTES = 128 * 1024 * 1024;

/** Bytes of a file beside a log. */
export const MAX_IMPORT_FILE_BYTES = 4 * 1024 * 1024;

/** Sessions of one import. */
export const MAX_IMPORT_SESSIONS = 10_000;

/** How deep a record may be nested: what is stored has to be written and read by every process. */
export const MAX_IMPORT_DEPTH = 100;

/** Characters of what cannot be read that are kept for people. */
export const MAX_KEPT_CHARACTERS = 64 * 1024;

/** Characters of a tool call's input as JSON. */
export const MAX_IMPORT_INPUT_CHARACTERS = 64_000;

/** Damaged places that a report names for each session. */
export const MAX_NAMED_DAMAGE = 200;
