/**
 * Who has a worktree in hand: `<id>.<number>.owner` beside its record, one for each process that has, or wants, it.
 *
 * Whoever wants one makes its file and then looks who else has one. Of two that come at once at least one sees the other, and who sees a
 * living other takes its own file back. So two never have it, and nobody has to take anything from the living. Files of the dead count for nothing.
 */
import { randomUUID } from 'node:crypto';
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { worktreeOwner } from '../../machines/subagent/worktree-record.ts';
import type { WorktreeOwner } from '../../machines/subagent/worktree-record.ts';
import { isAlive, isSameOwner } from './host-identity.ts';
import { isMissing, makePrivateFolder } from './private-files.ts';

const OWNER_NAME = /^(?<id>[\w-]+)\.[\da-f-]{36}\.owner$/;
const ATTEMPTS = 6;
const LONGEST_PAUSE_MS = 20;

interface OwnerFile {
  readonly name: string;
  readonly id: string;
  /** Undefined for one that says nothing: its writer has died in the middle, or is at it. */
  readonly owner: WorktreeOwner | undefined;
}

export class OwnerFiles {
  readonly #directory: string;
  readonly #self: WorktreeOwner;

  constructor(directory: string, self: WorktreeOwner) {
    this.#directory = directory;
    this.#self = self;
  }

  /** Takes it in hand. @returns who has it instead, in words; undefined when this process has it now, or had it already */
  async take(id: string): Promise<string | undefined> {
    let other: OwnerFile | undefined;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const before = await this.#filesOf(id);
      other = before.find((file) => this.#isOthers(file));
      if (other === undefined && before.some((file) => this.#isOwn(file))) return undefined;
      if (other === undefined) {
        const name = await this.#make(id);
        const after = await this.#filesOf(id);
        other = after.find((file) => this.#isOthers(file));
        if (other === undefined) {
          await this.#drop(after.filter((file) => file.name !== name));
          return undefined;
        }
        await this.#drop([{ name }]);
      }
      // Uneven, so that of two who saw each other one comes first.
      await delay(1 + Math.random() * LONGEST_PAUSE_MS);
    }
    return `process ${other?.owner?.pid ?? 'of another'} has it`;
  }

  async release(id: string): Promise<void> {
    const files = await this.#filesOf(id);
    await this.#drop(files.filter((file) => !this.#isOthers(file)));
  }

  /** Whether a process that lives has it, this one included. */
  async isOwned(id: string): Promise<boolean> {
    return (await this.#filesOf(id)).some((file) => this.#isOwn(file) || this.#isOthers(file));
  }

  async isMine(id: string): Promise<boolean> {
    return (await this.#filesOf(id)).some((file) => this.#isOwn(file));
  }

  /** Removes what the dead left of worktrees that have no record. */
  async sweep(known: ReadonlySet<string>): Promise<void> {
    const files = await this.#files();
    await this.#drop(files.filter((file) => !known.has(file.id) && file.owner !== undefined && !isAlive(file.owner)));
  }

  #isOwn({ owner }: OwnerFile): boolean {
    return owner !== undefined && isSameOwner(owner, this.#self);
  }

  /** A living other's. One that cannot be read yet is being written. */
  #isOthers({ owner }: OwnerFile): boolean {
    return owner === undefined || (!isSameOwner(owner, this.#self) && isAlive(owner));
  }

  async #make(id: string): Promise<string> {
    await makePrivateFolder(this.#directory);
    const name = `${id}.${randomUUID()}.owner`;
    await writeFile(join(this.#directory, name), JSON.stringify(this.#self), { flag: 'wx', mode: 0o600 });
    return name;
  }

  async #filesOf(id: string): Promise<readonly OwnerFile[]> {
    return (await this.#files(id)).filter((file) => file.id === id);
  }

  async #files(id?: string): Promise<readonly OwnerFile[]> {
    const names = await readdir(this.#directory).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw error;
    });
    const wanted = names.flatMap((name) => {
      const found = OWNER_NAME.exec(name)?.groups?.['id'];
      return found !== undefined && (id === undefined || id === found) ? [{ name, id: found }] : [];
    });
    const read = await Promise.all(wanted.map(async ({ name, id: of }) => ({ name, id: of, owner: await this.#read(name) })));
    return read.flatMap(({ owner, ...file }) => (owner === 'gone' ? [] : [{ ...file, owner }]));
  }

  async #read(name: string): Promise<WorktreeOwner | undefined | 'gone'> {
    try {
      const parsed = worktreeOwner.safeParse(JSON.parse(await readFile(join(this.#directory, name), 'utf8')));
      return parsed.success ? parsed.data : undefined;
    } catch (error) {
      return isMissing(error) ? 'gone' : undefined;
    }
  }

  async #drop(files: readonly Pick<OwnerFile, 'name'>[]): Promise<void> {
    await Promise.all(files.map(({ name }) => rm(join(this.#directory, name), { force: true })));
  }
}
