/**
 * Who owns a worktree: `<id>.<number>.owner` beside its record, one for each process that has, or wants, it.
 *
 * A process that wants one makes its file and then checks who else has one. Of two that come at once at least one sees
 * the other, and one that sees a living other takes its own file back. So two never have it, and none has to take
 * anything from the living. Files of the dead count for nothing; one who may live elsewhere counts as living, until a
 * person says that it does not.
 */
import { randomUUID } from 'node:crypto';
import { readFile, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { HostLife } from '../../actors/host/host-life.ts';
import { worktreeOwner } from '../../machines/subagent/worktree-record.ts';
import type { WorktreeOwner } from '../../machines/subagent/worktree-record.ts';
import { isMissing } from '../system/error-codes.ts';
import type { Liveness } from '../system/process-life.ts';
import { livenessOf as livenessOfProcess, systemHere, thisProcess } from '../system/process-life.ts';
import { pause } from '../system/waiting.ts';
import { makeFolder, namesIn, replaceFile } from '../system/whole-files.ts';

const OWNER_NAME = /^(?<id>[\w-]+)\.[\da-f-]{36}\.owner$/;
const ATTEMPTS = 6;
const LONGEST_PAUSE_MS = 20;

/**
 * Files of an owner get their name when they are whole. One this old that says nothing was cut short when its writer,
 * or the machine, died.
 */
const UNREADABLE_AGE_MS = 5000;

interface OwnerFile {
  readonly name: string;
  readonly id: string;
  /** Undefined for one that says nothing that is understood here. */
  readonly owner: WorktreeOwner | undefined;
  /** `own`: of this process. */
  readonly liveness: Liveness | 'own';
}

export interface WorktreeHolder {
  /** In words: why it is not to be had. */
  readonly by: string;
  /** Whether it is only not known to be gone. */
  readonly isUncertain: boolean;
}

export interface TakeOptions {
  /** A person says that an owner is gone of which it cannot be told. */
  readonly ownerIsGone?: boolean | undefined;
}

export class OwnerFiles {
  readonly #directory: string;
  readonly #self: WorktreeOwner;
  readonly #life: HostLife | undefined;

  /** @param life tells whether owners live; without it, their pids do, as far as these mean something here */
  constructor(directory: string, self: WorktreeOwner, life?: HostLife) {
    this.#directory = directory;
    this.#self = self;
    this.#life = life;
  }

  /** Takes it. @returns who has it instead; undefined when this process has it now, or had it already */
  async take(id: string, options: TakeOptions = {}): Promise<WorktreeHolder | undefined> {
    let other: OwnerFile | undefined;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const before = await this.#filesOf(id);
      other = otherOf(before, options);
      if (other === undefined && before.some(isOwn)) return undefined;
      if (other === undefined) {
        const name = await this.#make(id);
        const after = await this.#filesOf(id);
        other = otherOf(after, options);
        if (other === undefined) {
          await this.#drop(after.filter((file) => file.name !== name));
          return undefined;
        }
        await this.#drop([{ name }]);
      }
      // Uneven, so that of two who saw each other one comes first.
      await pause(1 + Math.random() * LONGEST_PAUSE_MS);
    }
    return other === undefined ? undefined : inWords(other);
  }

  /** Who has it, this process included. */
  async holder(id: string, options: TakeOptions = {}): Promise<WorktreeHolder | undefined> {
    const files = await this.#filesOf(id);
    const holder = files.find(isOwn) ?? otherOf(files, options);
    return holder === undefined ? undefined : inWords(holder);
  }

  async release(id: string): Promise<void> {
    const files = await this.#filesOf(id);
    await this.#drop(files.filter((file) => !isOthers(file)));
  }

  /** Whether a process that lives has it, this one included. */
  async isOwned(id: string): Promise<boolean> {
    return (await this.#filesOf(id)).some((file) => isOwn(file) || isOthers(file));
  }

  async isMine(id: string): Promise<boolean> {
    return (await this.#filesOf(id)).some(isOwn);
  }

  /** Removes what the dead left of worktrees that have no record. */
  async sweep(known: ReadonlySet<string>): Promise<void> {
    const files = await this.#files();
    await this.#drop(files.filter((file) => !known.has(file.id) && file.liveness === 'gone'));
  }

  async #make(id: string): Promise<string> {
    await makeFolder(this.#directory);
    const name = `${id}.${randomUUID()}.owner`;
    const token = await this.#life?.token();
    await replaceFile(
      join(this.#directory, name),
      JSON.stringify({ ...this.#self, ...(token === undefined ? {} : { token }) }),
    );
    return name;
  }

  async #filesOf(id: string): Promise<readonly OwnerFile[]> {
    return (await this.#files(id)).filter((file) => file.id === id);
  }

  async #files(id?: string): Promise<readonly OwnerFile[]> {
    const names = await namesIn(this.#directory);
    const wanted = names.flatMap((name) => {
      const found = OWNER_NAME.exec(name)?.groups?.['id'];
      return found !== undefined && (id === undefined || id === found) ? [{ name, id: found }] : [];
    });
    const read = await Promise.all(wanted.map((file) => this.#read(file)));
    return read.filter((file) => file !== undefined);
  }

  /** Undefined for one that is gone. */
  async #read(file: Pick<OwnerFile, 'name' | 'id'>): Promise<OwnerFile | undefined> {
    const path = join(this.#directory, file.name);
    try {
      const owner = ownerOf(await readFile(path, 'utf8'));
      if (owner === 'cut_short') return { ...file, owner: undefined, liveness: await livenessOfUnreadable(path) };
      // Of another version: it says something to a process of that version.
      if (owner === undefined) return { ...file, owner, liveness: 'unknown' };
      return { ...file, owner, liveness: isSameOwner(owner, this.#self) ? 'own' : await livenessOf(owner, this.#life) };
    } catch (error) {
      return isMissing(error) ? undefined : { ...file, owner: undefined, liveness: 'unknown' };
    }
  }

  async #drop(files: readonly Pick<OwnerFile, 'name'>[]): Promise<void> {
    await Promise.all(files.map(({ name }) => rm(join(this.#directory, name), { force: true })));
  }
}

/** Undefined for one of another version. */
function ownerOf(text: string): WorktreeOwner | undefined | 'cut_short' {
  try {
    const parsed = worktreeOwner.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return 'cut_short';
  }
}

/** An earlier version wrote them in place: a young one may be at it. @throws ENOENT */
async function livenessOfUnreadable(path: string): Promise<Liveness> {
  const { mtimeMs } = await stat(path);
  return Date.now() - mtimeMs > UNREADABLE_AGE_MS ? 'gone' : 'unknown';
}

function isOwn({ liveness }: OwnerFile): boolean {
  return liveness === 'own';
}

/** A living other's, or one who may live. */
function isOthers({ liveness }: OwnerFile): boolean {
  return liveness === 'alive' || liveness === 'unknown';
}

/** Of several, one that lives for sure. */
function otherOf(files: readonly OwnerFile[], { ownerIsGone = false }: TakeOptions): OwnerFile | undefined {
  const living = files.find(({ liveness }) => liveness === 'alive');
  return living ?? (ownerIsGone ? undefined : files.find(({ liveness }) => liveness === 'unknown'));
}

function inWords({ owner, liveness }: OwnerFile): WorktreeHolder {
  const who = owner === undefined ? 'the writer of its owner file' : `process ${owner.pid}`;
  if (liveness !== 'unknown') return { by: `${who} has it, and lives`, isUncertain: false };
  return {
    by: `${owner === undefined ? who : `${who} of ${hostOf(owner)}`} may be alive, which cannot be told from here`,
    isUncertain: true,
  };
}

/** What its system calls itself. */
function hostOf({ system }: WorktreeOwner): string {
  return system.split('/')[0] ?? system;
}

// Which process owns a worktree, as that is stored, and whether it still runs.

/** This process. The host name stands in front: two machines may share a folder of worktrees. */
export function readOwner(): WorktreeOwner {
  const { pid, began } = thisProcess();
  const system = systemHere();
  return { pid, startTime: began, system: system === undefined ? hostname() : `${hostname()}/${system}` };
}

function isSameOwner(one: WorktreeOwner, other: WorktreeOwner): boolean {
  return one.pid === other.pid && one.startTime === other.startTime && one.system === other.system;
}

/** Nothing is taken from one of which it is `unknown`, unless a person says that it is gone. */
function livenessOf({ pid, startTime, system, token }: WorktreeOwner, life: HostLife | undefined): Promise<Liveness> {
  const [host, ...inHost] = system.split('/');
  return livenessOfProcess(
    { pid, began: startTime, system: inHost.length === 0 ? system : inHost.join('/'), host, token },
    life,
  );
}
