/**
 * What file tools leave alone wherever in a workspace or a mount it lies: the secrets of the home always, and in an
 * environment with a sandbox what its commands cannot reach either. Otherwise a tool would do for an agent what its
 * commands cannot.
 */
import { join, relative, sep } from 'node:path';
import { RuntimeError } from '../../machines/errors.ts';
import { shownPath } from '../../machines/turn/files/file-path.ts';
import { realPathOfOwn } from '../system/real-path.ts';
import { isWithin } from '../system/whole-files.ts';
import type { Root } from './mount-roots.ts';

export interface KeptPlacesRequest {
  /** The home of Wakechart, absolute. Without it there is none to be kept. */
  readonly home?: string | undefined;
  /** Whether the commands of the session run in a sandbox. */
  readonly isShutIn: boolean;
}

/** Folders of the home with what no tool reads as a file. */
const SECRET_FOLDERS = ['vaults', 'auth'];
/** What a home is called by default: it may be that of another user, or become one. */
const HOME_NAME = '.wakechart';
const REPOSITORY_NAME = '.git';

type Kept = 'home' | 'repository';

export class KeptPlaces {
  /** Real paths. */
  readonly #hidden: readonly string[];
  readonly #isShutIn: boolean;

  private constructor(hidden: readonly string[], isShutIn: boolean) {
    this.#hidden = hidden;
    this.#isShutIn = isShutIn;
  }

  static of({ home, isShutIn }: KeptPlacesRequest): KeptPlaces {
    const real = home === undefined ? undefined : realPathOfOwn(home);
    if (real === undefined) return new KeptPlaces([], isShutIn);
    return new KeptPlaces(isShutIn ? [real] : SECRET_FOLDERS.map((name) => join(real, name)), isShutIn);
  }

  /**
   * @throws RuntimeError FILE_ACCESS_DENIED. @param path as errors call it @param realPath where it leads @param root
   * the folder by whose right it is touched
   */
  require(
    path: string,
    { realPath, root, access }: { readonly realPath: string; readonly root: Root; readonly access: 'read' | 'write' },
  ): void {
    const kept = this.#keptAs(realPath, root, access);
    if (kept !== undefined) throw keptError(path, access, kept);
  }

  keeps(realPath: string, root: Root, access: 'read' | 'write'): boolean {
    return this.#keptAs(realPath, root, access) !== undefined;
  }

  /** What lies in the home and is a mount of the session itself is the session's. */
  #keptAs(realPath: string, root: Root, access: 'read' | 'write'): Kept | undefined {
    if (this.#hidden.some((each) => isWithin(each, realPath) && !isWithin(each, root.realPath))) return 'home';
    if (!this.#isShutIn || root.kind === 'read') return undefined;
    const names = relative(root.realPath, realPath).split(sep);
    if (names.includes(HOME_NAME)) return 'home';
    return access === 'write' && names.includes(REPOSITORY_NAME) ? 'repository' : undefined;
  }
}

function keptError(path: string, access: 'read' | 'write', kept: Kept): RuntimeError {
  const because =
    kept === 'home'
      ? 'it lies in a home of Wakechart, with policies, agents and secrets in it'
      : 'it belongs to a repository of git, whose settings and hooks name programs that people run';
  return new RuntimeError('FILE_ACCESS_DENIED', `cannot ${access} ${shownPath(path)}: ${because}`, {
    category: 'permission',
    hint:
      kept === 'home'
        ? 'Work with files of the project. What people have set up is theirs to change.'
        : 'Use git itself, in a command.',
    details: { path },
  });
}
