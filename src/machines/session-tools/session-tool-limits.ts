/** The bounds of the tools about sessions, by name. All results stay below what one tool result may hold. */

export const DEFAULT_LISTED_SESSIONS = 20;
export const MAX_LISTED_SESSIONS = 50;

export const DEFAULT_READ_EVENTS = 40;
export const MAX_READ_EVENTS_PER_CALL = 200;

/** Events that one call checks when it searches for some of them. */
export const MAX_SCANNED_EVENTS = 50_000;

/** Characters of one event's data, and of all that one call gives. */
export const MAX_EVENT_CHARACTERS = 6_000;
export const MAX_EVENTS_CHARACTERS = 40_000;

/** Characters of one text in an event that is too long as it is. */
export const MAX_TEXT_CHARACTERS = 1_500;

/** Of a list in a snapshot: pending requests, queued wakes, children. */
export const MAX_SNAPSHOT_ITEMS = 20;

export const MAX_SNAPSHOT_TEXT_CHARACTERS = 600;

/** Characters of what a child session is told. */
export const MAX_DELEGATED_CHARACTERS = 32_000;
