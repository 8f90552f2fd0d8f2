/**
 * What is kept about worktrees, beside their folders: `<id>.json` is the record, `<id>.baseline` says how the files
 * were when the agent began. A record that cannot be read is set aside under another name, never deleted.
 */
import { readFile, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { checkedWorktreeRecord } from '../../machines/subagent/worktree-record.ts';
import type { WorktreeRecord } from '../../machines/subagent/worktree-record.ts';
import { isMissing } from '../system/error-codes.ts';
import { makeFolder, namesIn, replaceFile, sweepDrafts, syncFolder } from '../system/whole-files.ts';
import { isFileSetting } from './git-settings.ts';

const RECORD_NAME = /^(?<id>[\w-]+)\.json$/;
/** With the number that tells it from any branch that a person named. */
const MADE_ID = /-[\da-f]{8}$/;

const baselineSchema = z.object({
  version: z.literal(1),
  /** Which folder it is: its device and inode. */
  root: z.string(),
  /** Every file of the worktree, by its path, with how it was last seen. */
  files: z.record(z.string(), z.string()),
  /**
   * Every file of git's own folder for it, by its path: what was in it where it is small, else how it was last seen.
   */
  gitFiles: z.record(z.string(), z.string()),
  /** What `git status` said of files that were changed then, by their paths. */
  changed: z.record(z.string(), z.string()),
});
export type Baseline = Readonly<z.output<typeof baselineSchema>>;

export interface UnreadableRecord {
  readonly id: string;
  readonly fileName: string;
  readonly problem: string;
}

export class RecordFiles {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** On the disk when this resolves. */
  async write(record: WorktreeRecord): Promise<void> {
    await makeFolder(this.#directory);
    await replaceFile(this.#path(`${record.id}.json`), `${JSON.stringify(record, undefined, 2)}\n`);
  }

  /** Undefined when there is none. @throws RuntimeError WORKTREE_RECORD_UNREADABLE */
  async read(id: string): Promise<WorktreeRecord | undefined> {
    const fileName = `${id}.json`;
    const text = await this.#text(fileName);
    if (text === undefined) return undefined;
    const record = checkedWorktreeRecord(parsed(text, fileName), fileName);
    if (record.id !== id) throw unreadable(fileName, `it is of worktree "${record.id}"`);
    await this.#refuseStrange(record, fileName);
    return record;
  }

  /** Oldest first. */
  async list(): Promise<{
    readonly records: readonly WorktreeRecord[];
    readonly unreadable: readonly UnreadableRecord[];
  }> {
    const records: WorktreeRecord[] = [];
    const bad: UnreadableRecord[] = [];
    for (const name of await namesIn(this.#directory)) {
      const id = RECORD_NAME.exec(name)?.groups?.['id'];
      if (id === undefined) continue;
      try {
        const record = await this.read(id);
        if (record !== undefined) records.push(record);
      } catch (error) {
        bad.push({ id, fileName: name, problem: messageOf(error) });
      }
    }
    return {
      records: records.sort((one, other) => compare(one.createdAt, other.createdAt) || compare(one.id, other.id)),
      unreadable: bad,
    };
  }

  /** Every trace of it. */
  async forget(id: string): Promise<void> {
    await rm(this.#path(`${id}.baseline`), { force: true });
    await rm(this.#path(`${id}.json`), { force: true });
    await syncFolder(this.#directory).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
  }

  /** @returns the name under which it lies now */
  async setAside({ fileName }: UnreadableRecord): Promise<string> {
    const aside = `${fileName}.${randomUUID()}.unreadable`;
    await rename(this.#path(fileName), this.#path(aside));
    return aside;
  }

  /** Not synced: after a power failure it is missing, which keeps more, not less. */
  async writeBaseline(id: string, baseline: Baseline): Promise<void> {
    await replaceFile(this.#path(`${id}.baseline`), JSON.stringify(baseline), { durability: 'os' });
  }

  /** Undefined when there is none that can be read. */
  async readBaseline(id: string): Promise<Baseline | undefined> {
    try {
      const text = await this.#text(`${id}.baseline`);
      const read = baselineSchema.safeParse(text === undefined ? undefined : JSON.parse(text));
      return read.success ? read.data : undefined;
    } catch {
      return undefined;
    }
  }

  /** Removes what was temporary to processes that died. */
  async sweep(nowMs: number): Promise<void> {
    await sweepDrafts(this.#directory, { nowMs });
  }

  /** What a record names is deleted. So it may name only what is made for a worktree of this name, even if forged. */
  async #refuseStrange(
    { id, worktreePath, commonDirectory, gitDirectory, branchName, fileSettings }: WorktreeRecord,
    fileName: string,
  ): Promise<void> {
    const directory = await realpath(this.#directory).catch(() => this.#directory);
    if (worktreePath !== join(directory, id))
      throw unreadable(fileName, `the worktree is to lie at ${join(directory, id)}, not at ${worktreePath}`);
    if (gitDirectory !== undefined && dirname(gitDirectory) !== join(commonDirectory, 'worktrees'))
      throw unreadable(
        fileName,
        `git's own folder for it is to lie in ${join(commonDirectory, 'worktrees')}, not at ${gitDirectory}`,
      );
    if (!MADE_ID.test(id) || !branchName.endsWith(`/${id}`))
      throw unreadable(fileName, `${JSON.stringify(branchName)} is no branch of its own`);
    const strange = fileSettings.find((setting) => !isFileSetting(setting));
    if (strange !== undefined) throw unreadable(fileName, `${JSON.stringify(strange)} says nothing of files`);
  }

  async #text(name: string): Promise<string | undefined> {
    try {
      return await readFile(this.#path(name), 'utf8');
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }
}

function parsed(text: string, fileName: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(fileName, messageOf(error));
  }
}

function unreadable(fileName: string, because: string): RuntimeError {
  return new RuntimeError(
    'WORKTREE_RECORD_UNREADABLE',
    `expected "${fileName}" to be the record of a worktree: ${because}`,
    {
      category: 'storage',
      hint: 'Check the file and at the worktree of that name; nothing of either was changed.',
    },
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
