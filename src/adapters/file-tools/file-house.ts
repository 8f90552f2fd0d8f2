/** What the file tools of one runtime share: where they may go, what each session has seen, whose turn it is to change a file. */
import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { ToolContext } from '../../actors/turn/tool.ts';
import type { PermissionSubject } from '../../machines/permission/permission-subject.ts';
import { PathLanes } from './path-lanes.ts';
import { Places, pathForRules } from './places.ts';
import type { Access } from './places.ts';
import { SeenFiles } from './seen-files.ts';

export interface FileToolsOptions {
  /** Folders outside the workspace that may be read, absolute. Default: none. */
  readonly readRoots?: readonly string[] | undefined;
  /**
   * Whether open files are asked where they are, through /proc. It closes every race with somebody who moves links about. Default: on Linux.
   */
  readonly usesDescriptors?: boolean | undefined;
}

export class FileHouse {
  readonly seen = new SeenFiles();
  readonly lanes = new PathLanes();
  readonly #options: FileToolsOptions;

  constructor(options: FileToolsOptions) {
    this.#options = options;
  }

  async places({ workspaceDirectory, subject }: Pick<ToolContext, 'workspaceDirectory' | 'subject'>): Promise<Places> {
    const allowedPath = subject?.kind === 'path' ? resolve(workspaceDirectory, subject.path) : undefined;
    return Places.open({ workspaceDirectory, allowedPath, ...this.#options });
  }
}

/**
 * A path in the terms of a rule: where it leads now, so that a symbolic link is judged by what it stands for, and under the name that the
 * workspace has for the runtime.
 */
export function pathSubject(path: string, access: Access, { workspaceDirectory }: Pick<ToolContext, 'workspaceDirectory'>): Extract<PermissionSubject, { readonly kind: 'path' }> {
  const absolute = resolve(workspaceDirectory, path);
  const workspace = { directory: workspaceDirectory, realPath: nearestRealPath(workspaceDirectory) };
  return { kind: 'path', path: pathForRules(nearestRealPath(absolute), workspace), access };
}

/** Links that are followed one after another, as systems bound it too. */
const MAX_LINKS = 40;

function nearestRealPath(absolute: string, links = 0): string {
  try {
    // Native: where capitals do not matter, it gives a name as the disk has it.
    return realpathSync.native(absolute);
  } catch {
    const parent = dirname(absolute);
    if (parent === absolute) return absolute;
    const folder = nearestRealPath(parent, links);
    const target = links < MAX_LINKS ? targetOf(absolute) : undefined;
    // Whoever writes to a link that leads nowhere makes the file that it names.
    return target === undefined ? join(folder, basename(absolute)) : nearestRealPath(resolve(folder, target), links + 1);
  }
}

function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
