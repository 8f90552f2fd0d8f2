/**
 * What the file tools of one runtime share: where they may go, what each session has seen, whose turn it is to change a
 * file.
 */
import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { ToolContext } from '../../actors/turn/tool.ts';
import type { PermissionSubject } from '../../machines/permission/permission-subject.ts';
import { MAX_SEEN_FILES, MAX_SEEN_SESSIONS } from '../../machines/turn/files/file-limits.ts';
import type { Root } from './mount-roots.ts';
import { MountRoots } from './mount-roots.ts';
import type { Access, Place } from './places.ts';
import { Places } from './places.ts';
import type { Usage } from './workspace-quotas.ts';
import { WorkspaceQuotas } from './workspace-quotas.ts';
import type { LockedFolder, WriteLocksOptions } from './write-locks.ts';
import { WriteLocks } from './write-locks.ts';

// Remembers in which state each session last saw each file, in this process; the sessions and files used longest ago
// are forgotten first.

export class SeenFiles {
  /** Versions by real path, by session; what was used last stands last. */
  readonly #sessions = new Map<string, Map<string, string>>();

  remember(sessionId: string, realPath: string, version: string): void {
    const files = this.#sessions.get(sessionId) ?? new Map<string, string>();
    putLast(this.#sessions, sessionId, files, MAX_SEEN_SESSIONS);
    putLast(files, realPath, version, MAX_SEEN_FILES);
  }

  versionOf(sessionId: string, realPath: string): string | undefined {
    return this.#sessions.get(sessionId)?.get(realPath);
  }
}

function putLast<Value>(map: Map<string, Value>, key: string, value: Value, maxSize: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxSize && oldest !== undefined) map.delete(oldest);
}

export interface FileToolsOptions extends WriteLocksOptions {
  /** Folders outside the workspace that may be read, absolute. Default: none. */
  readonly readRoots?: readonly string[] | undefined;
  /**
   * Whether open files are asked where they are, through /proc. It closes every race with a process that moves links
   * about. Default: on Linux.
   */
  readonly usesDescriptors?: boolean | undefined;
  /**
   * The home of Wakechart, absolute: its secrets are read by no tool, and where commands are shut in nothing of it is.
   */
  readonly home?: string | undefined;
}

type Surroundings = Pick<ToolContext, 'workspaceDirectory' | 'environment'>;

export class FileToolPorts {
  readonly seen = new SeenFiles();
  readonly locks: WriteLocks;
  readonly quotas = new WorkspaceQuotas();
  readonly #options: Pick<FileToolsOptions, 'readRoots' | 'usesDescriptors' | 'home'>;

  constructor({ readRoots, usesDescriptors, home, ...locks }: FileToolsOptions) {
    this.#options = { readRoots, usesDescriptors, home };
    this.locks = new WriteLocks(locks);
  }

  async places({
    workspaceDirectory,
    environment,
    subject,
  }: Surroundings & Pick<ToolContext, 'subject'>): Promise<Places> {
    const allowed =
      subject?.kind === 'path'
        ? {
            path: subject.mount === undefined ? resolve(workspaceDirectory, subject.path) : subject.path,
            mount: subject.mount,
          }
        : undefined;
    return Places.open({
      workspaceDirectory,
      mounts: environment?.mounts,
      allowed,
      isShutIn: environment?.definition.sandbox === 'required',
      ...this.#options,
    });
  }

  /**
   * Refuses what would make a workspace hold more than its environment allows. Gives what is to be called when the
   * change was made.
   * @throws RuntimeError QUOTA_EXCEEDED
   */
  async admit(
    { environment, signal }: Pick<ToolContext, 'environment' | 'signal'>,
    { places, place, change }: Change,
  ): Promise<() => void> {
    if (environment === undefined || (place.root.kind !== 'workspace' && place.root.kind !== 'runtime'))
      return () => undefined;
    await this.quotas.admit({ places, limits: environment.definition.quota, signal }, change);
    return () => this.quotas.add(places, change);
  }

  /** Undefined as long as the workspace holds no more than it may. */
  async quotaNote({ workspaceDirectory, environment, signal }: ToolContext): Promise<string | undefined> {
    const limits = environment?.definition.quota;
    if (limits === undefined || (limits.maxBytes === undefined && limits.maxFiles === undefined)) return undefined;
    return this.quotas.note({ places: await this.places({ workspaceDirectory, environment }), limits, signal });
  }
}

interface Change {
  readonly places: Places;
  readonly place: Place;
  readonly change: Usage;
}

/** What one writer at a time writes in. */
export function lockedFolder({ realPath, mount }: Root): LockedFolder {
  return { realPath, shown: mount ?? 'the workspace' };
}

/**
 * A path in the terms of a rule: where it leads now, so that a symbolic link is judged by what it stands for; in the
 * workspace under the name that this has for the runtime, in another mount as the agent names it.
 */
export function pathSubject(
  path: string,
  access: Access,
  { workspaceDirectory, environment }: Surroundings,
): Extract<PermissionSubject, { readonly kind: 'path' }> {
  const roots = new MountRoots({
    directory: workspaceDirectory,
    workspace: nearestRealPath(resolve(workspaceDirectory)),
    mounts: environment?.mounts,
    readRoots: [],
  });
  const named = roots.named(path);
  if (named.kind === 'vault') return { kind: 'path', path: named.path, mount: named.mount, access };
  const realPath = nearestRealPath(named.absolute);
  return { kind: 'path', ...roots.forRules(realPath, roots.rootOf(realPath, named.root)), access };
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
    // A write to a link that leads nowhere makes the file that it names.
    return target === undefined
      ? join(folder, basename(absolute))
      : nearestRealPath(resolve(folder, target), links + 1);
  }
}

function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
