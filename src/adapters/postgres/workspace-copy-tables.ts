/**
 * The tables of workspace copies. Databases hold them under these names, from a time when a workspace copy was called a
 * hand: to rename a table that workers of two versions use would stop those of the older one.
 */

/** One row for each session whose folder a process has reported. */
export const COPY_TABLE = 'hand';

/** Files that came for a workspace since its copy was made. */
export const ADDED_TABLE = 'hand_added';

/** The contents, by hash. */
export const PIECE_TABLE = 'hand_piece';
