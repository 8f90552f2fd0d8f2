/**
 * What is written down about one worktree before it exists and for as long as it does: the truth that a start finds
 * after a crash.
 */
import * as z from 'zod';
import { RuntimeError } from '../errors.ts';
import { describeIssues } from '../validate.ts';
import { worktreeLifecycle } from './worktree-machine.ts';
import type { WorktreeChartEventType, WorktreeStatus } from './worktree-machine.ts';

export const WORKTREE_RECORD_VERSION = 1;

const text = z.string().min(1);

/** A process, on one boot of one system. */
export const worktreeOwner = z.object({
  pid: z.number().int().positive(),
  /** When it began, as its system tells; empty where it does not. */
  startTime: z.string(),
  /** The system, and the namespace in which the pid means something. */
  system: z.string(),
  /** By which it is known in every namespace of its machine. Absent where there can be none. */
  token: z.string().optional(),
});
export type WorktreeOwner = Readonly<z.output<typeof worktreeOwner>>;

const finding = z.object({
  kind: z.enum([
    'changed',
    'staged',
    'untracked',
    'ignored',
    'hidden_change',
    'committed',
    'unreachable_commit',
    'moved_branch',
    'stashed',
    'operation',
    'submodule',
    'nested_repository',
    'in_use',
    'unknown',
  ]),
  text: z.string(),
  paths: z.array(z.string()).readonly().optional(),
});

export const worktreeRecord = z.object({
  version: z.literal(WORKTREE_RECORD_VERSION),
  /** The name of its folder, and of its record. */
  id: z.string().regex(/^[\w-]+$/),
  jobId: text,
  key: text.optional(),
  status: z.enum(['absent', 'creating', 'ready', 'inspecting', 'removing', 'removed', 'preserved', 'orphaned']),
  /** ISO-8601. */
  createdAt: text,
  /** The checkout from whose HEAD it was made. Absolute. */
  repoRoot: text,
  /** What all checkouts of the repository share: its `.git` folder. Absolute. */
  commonDirectory: text,
  worktreePath: text,
  /** Git's own folder for the worktree. Absent until git has made it. */
  gitDirectory: text.optional(),
  branchName: text,
  baseRevision: z.string().regex(/^[0-9a-f]{40,64}$/),
  /** The folder below the root in which the work is done; empty for the root. */
  subdirectory: z.string(),
  parentStatus: text.optional(),
  keepFilesIn: text.optional(),
  /**
   * Settings of the repository that say how its files lie on the disk, as `name=value`: as they were when it was made.
   */
  fileSettings: z.array(z.string()).readonly(),
  /** The stash entries that the repository had when it was made. */
  stashesBefore: z.array(z.string()).readonly(),
  findings: z.array(finding).readonly(),
  nextAction: text.optional(),
  /** Everything in it was seen to be replaceable, and its files are being deleted: what is missing is no change. */
  isVerified: z.boolean().optional(),
  /** A person said that what is in it may be lost. */
  mayLose: z.boolean().optional(),
  /** Work was in it when this process went on with it. */
  isGoneOnWith: z.boolean().optional(),
  /** Where the files of the runtime went. */
  filesKeptIn: z.array(text).readonly().optional(),
});
export type WorktreeRecord = Readonly<z.output<typeof worktreeRecord>>;

/** `value` as a record. @throws RuntimeError WORKTREE_RECORD_UNREADABLE saying what is wrong with it */
export function checkedWorktreeRecord(value: unknown, name: string): WorktreeRecord {
  const parsed = worktreeRecord.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new RuntimeError(
    'WORKTREE_RECORD_UNREADABLE',
    `expected "${name}" to be the record of a worktree: ${describeIssues(parsed.error).join('; ')}`,
    {
      category: 'storage',
      hint: 'Check the file and at the worktree of that name; nothing of either was changed.',
    },
  );
}

const SNAPSHOTS = new Map(worktreeLifecycle.snapshots.map((snapshot) => [snapshot.value, snapshot]));

/**
 * The record after `events`, one after the other. @throws RuntimeError WORKTREE_ILLEGAL_MOVE when its chart has no such
 * way
 */
export function movedRecord(record: WorktreeRecord, ...events: readonly WorktreeChartEventType[]): WorktreeRecord {
  return { ...record, status: events.reduce((status, event) => statusAfter(status, event, record.id), record.status) };
}

function statusAfter(status: WorktreeStatus, event: WorktreeChartEventType, id: string): WorktreeStatus {
  const snapshot = SNAPSHOTS.get(status);
  const next = snapshot === undefined ? undefined : worktreeLifecycle.next(snapshot, event);
  if (next !== undefined) return next.value;
  throw new RuntimeError('WORKTREE_ILLEGAL_MOVE', `worktree "${id}" is ${status}, where ${event} means nothing`, {
    category: 'conflict',
    hint: 'Check it again with `wakechart worktree list`: another process may have dealt with it.',
    details: { id, status, event },
  });
}
