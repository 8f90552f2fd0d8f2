/**
 * What a host leaves on disk about the trees it owns, one file each: `<directory>/<tag>.json`.
 *
 * Written beside and renamed, so that a reader never sees half of one. Not synced to disk: a record matters after the
 * death of a process, and when the whole system dies, so do the processes it tells of. Who reconciles a record first
 * renames it to a claim that carries its own identity, so that of several hosts one deals with it, and a claim whose
 * owner died is claimed again.
 */
import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { hasCode } from '../system/error-codes.ts';
import { makeFolder, namesIn, replaceFile, sweepDrafts } from '../system/whole-files.ts';
import { LostRecords } from './lost-records.ts';
import { hostIdentity } from './host-identity.ts';
import type { HostIdentity } from './host-identity.ts';

const FORMAT = 1;

const processRecord = z.object({
  format: z.literal(FORMAT),
  tag: z.string().regex(/^[\w-]+$/),
  taskId: z.string(),
  /** The session that it works for; records of earlier versions do not say. */
  sessionId: z.string().optional(),
  limitMs: z.number().nonnegative().optional(),
  /** False: what it puts out goes to no log file. */
  hasLogFile: z.boolean().optional(),
  commandPreview: z.string(),
  startedAt: z.string(),
  host: hostIdentity,
  /** Start time that no member precedes. */
  startedSince: z.number(),
  /** Groups and sessions that members may share with others: those of the hosts that owned the tree. */
  sharedLeaders: z.array(z.number().int()),
  /** The root; absent when the host died before it knew. */
  root: z.object({ pid: z.number().int().positive(), startTime: z.number() }).optional(),
});
export type ProcessRecord = Readonly<z.output<typeof processRecord>>;

/** A file in the directory, by what its name says. */
export interface RecordFile {
  readonly name: string;
  readonly tag: string;
  /** The process that claimed it; undefined for a record that none has. */
  readonly claimedBy?: { readonly pid: number; readonly startTime: number } | undefined;
}

export type ReadRecord =
  | { readonly kind: 'record'; readonly record: ProcessRecord }
  /** `isForeign`: not damaged, but of another format. */
  | { readonly kind: 'unreadable'; readonly isForeign: boolean }
  | { readonly kind: 'absent' };

const RECORD_NAME = /^(?<tag>[\w-]+)\.json$/;
const CLAIM_NAME = /^(?<tag>[\w-]+)\.(?<pid>\d+)-(?<start>\d+)\.claim$/;

/** Times of folders are told to some hundredths of a second: what has changed just now may change again unseen. */
const SETTLED_MS = 1_000;

/** What was there when the folder was changed last. */
interface KeptRecords {
  /** Nanoseconds. */
  readonly changedAt: bigint;
  readonly files: readonly RecordFile[];
  readonly contents: Map<string, Promise<ReadRecord>>;
}

export class ProcessRecords {
  readonly #directory: string;
  /** Those of trees that were lost with their hosts, for people who ask what became of them. */
  readonly #lost: LostRecords | undefined;
  #kept: KeptRecords | undefined;

  constructor(directory: string, lostDirectory?: string) {
    this.#directory = directory;
    if (lostDirectory !== undefined) this.#lost = new LostRecords(lostDirectory);
  }

  /** Newest last. */
  async lost(): Promise<readonly ProcessRecord[]> {
    const texts = (await this.#lost?.texts()) ?? [];
    return texts.map(valueIn).flatMap((value) => processRecord.safeParse(value).data ?? []);
  }

  static newRecord(fields: Omit<ProcessRecord, 'format'>): ProcessRecord {
    return { format: FORMAT, ...fields };
  }

  async write(record: ProcessRecord): Promise<void> {
    const write = (): Promise<void> =>
      replaceFile(this.#path(`${record.tag}.json`), JSON.stringify(record), { durability: 'os' });
    try {
      await write();
    } catch (error) {
      // The directory is made when it turns out to be missing: it is there all other times.
      if (!hasCode(error, 'ENOENT')) throw error;
      await makeFolder(this.#directory, { durability: 'os' });
      await write();
    }
  }

  async remove(tag: string): Promise<void> {
    await rm(this.#path(`${tag}.json`), { force: true });
  }

  /** Every record and claim; none when there is no directory. */
  async list(): Promise<readonly RecordFile[]> {
    return (await namesIn(this.#directory)).flatMap((name): RecordFile[] => {
      const claim = CLAIM_NAME.exec(name)?.groups;
      if (claim !== undefined)
        return [
          {
            name,
            tag: claim['tag'] ?? '',
            claimedBy: { pid: Number(claim['pid']), startTime: Number(claim['start']) },
          },
        ];
      const tag = RECORD_NAME.exec(name)?.groups?.['tag'];
      return tag === undefined ? [] : [{ name, tag }];
    });
  }

  /**
   * The same for those who change nothing and ask again and again: no file is read twice while the folder is as it was,
   * since records are renamed into it whole.
   */
  async unchanging(): Promise<Pick<ProcessRecords, 'list' | 'read'>> {
    const changedAt = (await stat(this.#directory, { bigint: true }).catch(() => undefined))?.mtimeNs;
    if (this.#kept === undefined || this.#kept.changedAt !== changedAt) {
      if (changedAt === undefined || Date.now() - Number(changedAt / 1_000_000n) < SETTLED_MS) return this;
      this.#kept = { changedAt, files: await this.list(), contents: new Map() };
    }
    const { files, contents } = this.#kept;
    return {
      list: async () => files,
      read: (file) => {
        const known = contents.get(file.name);
        if (known !== undefined) return known;
        const content = this.read(file);
        contents.set(file.name, content);
        content.catch(() => contents.delete(file.name));
        return content;
      },
    };
  }

  /** @throws when the file is there and cannot be read at all */
  async read({ name, tag }: RecordFile): Promise<ReadRecord> {
    let value: unknown;
    try {
      value = JSON.parse(await readFile(this.#path(name), 'utf8'));
    } catch (error) {
      if (error instanceof SyntaxError) return { kind: 'unreadable', isForeign: false };
      if (hasCode(error, 'ENOENT')) return { kind: 'absent' };
      throw error;
    }
    const parsed = processRecord.safeParse(value);
    if (parsed.success && parsed.data.tag === tag) return { kind: 'record', record: parsed.data };
    return { kind: 'unreadable', isForeign: isOfAnotherFormat(value) };
  }

  /** Makes the file this host's to deal with; undefined when another was faster. */
  async claim({ name, tag }: RecordFile, host: HostIdentity): Promise<RecordFile | undefined> {
    const claimedBy = { pid: host.pid, startTime: host.startTime };
    const claim = `${tag}.${host.pid}-${host.startTime}.claim`;
    return (await this.#renamed(name, claim)) ? { name: claim, tag, claimedBy } : undefined;
  }

  async forget({ name }: RecordFile): Promise<void> {
    await rm(this.#path(name), { force: true });
  }

  /** Nothing of the tree is left. */
  async bury(file: RecordFile): Promise<void> {
    await this.#lost?.take(this.#path(file.name), `${file.tag}.json`);
    await this.forget(file);
  }

  /** Turns a claim back into a record. */
  async release({ name, tag }: RecordFile): Promise<void> {
    await this.#renamed(name, `${tag}.json`);
  }

  /** Sets a file aside that says nothing, for people to inspect. */
  async quarantine({ name, tag }: RecordFile): Promise<void> {
    await this.#renamed(name, `${tag}.${randomUUID()}.quarantined`);
  }

  /** Removes what writers left that died between writing and renaming. */
  async sweep(): Promise<void> {
    await sweepDrafts(this.#directory);
  }

  async #renamed(from: string, to: string): Promise<boolean> {
    try {
      await rename(this.#path(from), this.#path(to));
      return true;
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return false;
      throw error;
    }
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }
}

function valueIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isOfAnotherFormat(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'format' in value &&
    typeof value.format === 'number' &&
    value.format !== FORMAT
  );
}
