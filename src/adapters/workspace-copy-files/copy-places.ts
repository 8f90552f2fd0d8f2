/** Where the workspace copy of a session lies in a home, and what is kept beside it. */
import { join } from 'node:path';
import type { SessionDirectories, SessionPlace } from '../../actors/session/session-directories.ts';
import type { SessionIdentity } from '../../actors/session/event-store.ts';
import type { CopyRoot } from '../../machines/workspace-copy/copy-manifest.ts';

/**
 * The folder beside the workspace of a session. Disks hold it under this name, from a time when a workspace copy was
 * called a hand: under another one, what was put aside there would be found no more.
 */
export const COPY_FOLDER = 'hand';

/** `HomeLayout` is one. */
export interface CopyLayout extends Pick<SessionDirectories, 'workspaceDirectory'> {
  /** Absolute. */
  readonly home: string;
  session(identity: SessionIdentity): string;
  ownWorkspace(identity: SessionIdentity): string;
}

export interface RootPlace {
  readonly root: CopyRoot;
  readonly directory: string;
}

export class CopyPlaces {
  /** What is kept beside the copy. */
  readonly directory: string;
  /** Those that copies are made of. A folder that was given to the session is not ours to copy. */
  readonly roots: readonly RootPlace[];
  readonly #layout: CopyLayout;
  readonly #place: SessionPlace;

  constructor(layout: CopyLayout, place: SessionPlace) {
    this.#layout = layout;
    this.#place = place;
    const session = layout.session(place);
    this.directory = join(session, COPY_FOLDER);
    const runtime: RootPlace = { root: 'runtime', directory: join(session, 'runtime', 'agent') };
    this.roots =
      place.workspace === undefined
        ? [runtime, { root: 'workspace', directory: layout.ownWorkspace(place) }]
        : [runtime];
  }

  /** The whole of a copy that is being laid out, folder by folder. */
  get draft(): string {
    return join(this.directory, 'new');
  }

  /** What lay here before the copy of that wake was laid out. */
  before(epoch: number): string {
    return join(this.directory, `before-${epoch}`);
  }

  /** What lay here before and is to be removed. */
  get old(): string {
    return join(this.directory, 'old');
  }

  get swap(): string {
    return join(this.directory, 'swap.json');
  }

  /** The folder behind a root, also one that was given to the session. */
  async directoryOf(root: string): Promise<string> {
    const own = this.roots.find((each) => each.root === root);
    return own?.directory ?? this.#layout.workspaceDirectory(this.#place);
  }
}
