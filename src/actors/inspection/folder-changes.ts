/**
 * The port to what was changed in a folder, by the program that keeps its versions. It only checks: nothing that the
 * folder holds or names is run, and nothing is written into it.
 */
import type { InspectedChanges } from './inspection-source.ts';

export type FolderDifference = Omit<InspectedChanges, 'title'>;

export interface FolderCheck {
  /** Of the difference, about so many characters at most. */
  readonly maxCharacters: number;
  /** The commit that it began with. Default: by `begunAt`, else the newest one of the checkout. */
  readonly since?: string | undefined;
  /** When the work in it began, in milliseconds since the epoch: it is compared with the last commit before that. */
  readonly begunAt?: number | undefined;
  /** Aborting it gives up. */
  readonly signal?: AbortSignal | undefined;
}

export interface FolderChanges {
  /**
   * @param folder absolute. Where there is nothing to check, `because` says why; rejects only when the check itself
   * failed
   */
  read(folder: string, check: FolderCheck): Promise<FolderDifference>;
  /**
   * What git has begun in the folder and not ended, with the files that were in conflict then, from a few small files.
   * Undefined: nothing, or it is no checkout. Never rejects. Absent: it is unknown.
   */
  underWay?(folder: string): Promise<FolderDifference['underWay']>;
  /**
   * What was finished in the folder as the last thing, at or after `sinceMs` since the epoch. Undefined: nothing. Never
   * rejects.
   */
  finished?(folder: string, sinceMs: number): Promise<NonNullable<FolderDifference['underWay']>['what'] | undefined>;
}
