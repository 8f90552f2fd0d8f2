/** The port to whatever gives a stored inspection log piece by piece: a file, a pipe. */

/** A piece of the log, or something about it that the viewer has to know. */
export type LogPiece = string | { readonly note: string } | typeof CAUGHT_UP;

/** All that is there has been given; what comes from then on is new. */
export const CAUGHT_UP = Symbol('caught up');
