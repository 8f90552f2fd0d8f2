/** What the adapter may be told, checked before anything is done. */
import { isAbsolute } from 'node:path';
import * as z from 'zod';
import type { Clock } from '../../actors/clock/clock.ts';
import { isoTimeOf } from '../../actors/clock/iso-time.ts';
import { createSystemClock } from '../../actors/clock/system-clock.ts';
import { worktreeOwner } from '../../machines/subagent/worktree-record.ts';
import type { HostLife } from '../../actors/host/host-life.ts';
import type { WorktreeOwner } from '../../machines/subagent/worktree-record.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import { GitCommand } from './git-command.ts';
import type { WorktreeContext } from './worktree-context.ts';
import { OwnerFiles, readOwner } from './owner-files.ts';
import { RecordFiles } from './record-files.ts';

export interface GitWorktreeOptions {
  /**
   * Absolute. Holds the worktrees and the records of them, such as `<home>/worktrees`. Made when it is first needed.
   */
  readonly worktreesDirectory: string;
  /** What the branches begin with. Default `wakechart`. */
  readonly branchPrefix?: string | undefined;
  /** How often another name is tried where one is taken. Default 5. */
  readonly maxCreateAttempts?: number | undefined;
  /** Stamps records. Default: the system's. */
  readonly clock?: Pick<Clock, 'now'> | undefined;
  /** For each git command, in milliseconds. Default 120,000. */
  readonly timeoutMs?: number | undefined;
  /** Default `git`, from PATH. */
  readonly gitPath?: string | undefined;
  /** The owner of worktrees. Default: this process. */
  readonly host?: WorktreeOwner | undefined;
  /**
   * Tells which of the processes that have worktrees live. Default: by their pids, as far as these mean something here.
   */
  readonly hostLife?: HostLife | undefined;
  /**
   * Whether `git worktree add` runs the hooks of the repository. Default false: a writer to a repository could run
   * programs by them.
   */
  readonly runGitHooks?: boolean | undefined;
  /**
   * Whether the checkout runs filters that the repository itself names. Those of the user's own settings run always.
   * Default false.
   */
  readonly runRepositoryFilters?: boolean | undefined;
  /** Absolute: folders, such as the home, whose contents belong to no repository that they lie in. Default none. */
  readonly ceilingDirectories?: readonly string[] | undefined;
}

const MAX_TIMEOUT_MS = 2 ** 31 - 1;

const absolutePath = z.string().refine((path) => isAbsolute(path) && !path.includes('\0'), 'expected an absolute path');

const optionsSchema = z.strictObject({
  worktreesDirectory: absolutePath,
  branchPrefix: z
    .string()
    .max(100)
    .regex(
      /^[A-Za-z0-9_][\w-]*(?:[./][\w-]+)*$/,
      'expected words of letters, digits, "_" and "-", with "/" or "." between them',
    )
    .refine((prefix) => !/\.lock(?:\/|$)/.test(prefix), 'expected no part that ends in ".lock"')
    .default('wakechart'),
  maxCreateAttempts: z.number().int().min(1).max(1000).default(5),
  clock: z
    .custom<Pick<Clock, 'now'>>(
      (clock) => typeof (clock as Partial<Clock> | undefined)?.now === 'function',
      'expected a clock',
    )
    .optional(),
  timeoutMs: z.number().positive().max(MAX_TIMEOUT_MS).default(120_000),
  gitPath: z.string().min(1).default('git'),
  host: worktreeOwner.optional(),
  hostLife: z
    .custom<HostLife>(
      (life) => typeof (life as Partial<HostLife> | undefined)?.isAlive === 'function',
      'expected a HostLife',
    )
    .optional(),
  runGitHooks: z.boolean().default(false),
  runRepositoryFilters: z.boolean().default(false),
  ceilingDirectories: z.array(absolutePath).readonly().default([]),
});

/** @throws RuntimeError WORKTREE_OPTIONS_INVALID naming each option that is wrong */
export function contextOf(given: GitWorktreeOptions): WorktreeContext {
  const options = parseOrThrow(optionsSchema, given, {
    what: 'the options of git worktrees',
    code: 'WORKTREE_OPTIONS_INVALID',
  });
  const { worktreesDirectory, branchPrefix, maxCreateAttempts, runGitHooks, runRepositoryFilters, ceilingDirectories } =
    options;
  const clock = options.clock ?? createSystemClock();
  return {
    git: new GitCommand({ gitPath: options.gitPath, timeoutMs: options.timeoutMs }),
    records: new RecordFiles(worktreesDirectory),
    owners: new OwnerFiles(worktreesDirectory, options.host ?? readOwner(), options.hostLife),
    worktreesDirectory,
    branchPrefix,
    maxCreateAttempts,
    runGitHooks,
    runRepositoryFilters,
    ceilingDirectories,
    now: () => isoTimeOf(clock.now()),
  };
}
