/**
 * What stands among the transitions of a step where it is no transition of the chart. Without imports: the page of the
 * inspector reads these and must not carry the schemas.
 */

/** A transition whose name is unknown: its chart could not be described, or no record told which of several it was. */
export const UNKNOWN_TRANSITION = '(unknown)';

/** The owner of the chart handled the event without it: no state is another one for it, and nothing was ignored. */
export const HANDLED_BY_LOGIC = '(own logic)';
