/** Makes a worktree: its record first, then folder and branch, and nothing of either where that fails. */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorktreeRequest } from '../../actors/subagent/worktree-adapter.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { WORKTREE_RECORD_VERSION, movedRecord } from '../../machines/subagent/worktree-record.ts';
import type { WorktreeRecord } from '../../machines/subagent/worktree-record.ts';
import { unlessCode } from '../system/error-codes.ts';
import { pause } from '../system/waiting.ts';
import { isThere, makeFolder, replaceFile } from '../system/whole-files.ts';
import { MARKER, worktreeMutex } from './worktree-context.ts';
import type { WorktreeContext } from './worktree-context.ts';
import { gitIn } from './private-git.ts';
import { fileSettingsOf, findRepository, isInside, uncommittedIn } from './repository.ts';
import type { Repository } from './repository.ts';
import type { RepositorySettings } from './git-settings.ts';
import { undoCreation } from './undo-creation.ts';
import { GitFailure, givenUp, notCreated, placeInvalid, saidBy } from './worktree-errors.ts';

/** Git holds its locks for milliseconds. */
const LOCK_ATTEMPTS = 12;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 1000;
const ID_BYTES = 4;
const LONGEST_NAME = 48;

/**
 * @throws RuntimeError WORKTREE_NOT_A_REPOSITORY, WORKTREE_NO_COMMIT, WORKTREE_PLACE_INVALID, WORKTREE_NOT_CREATED,
 * WORKTREE_CANCELLED
 */
export async function createWorktree(context: WorktreeContext, request: WorktreeRequest): Promise<WorktreeRecord> {
  try {
    const repository = await findRepository(context, request.cwd, request.signal);
    const directory = await placeFor(context, repository);
    for (let attempt = 1; ; attempt += 1) {
      if (request.signal?.aborted === true) throw givenUp();
      const made = await attemptOnce(context, request, repository, directory);
      if ('record' in made) return made.record;
      if (attempt >= context.maxCreateAttempts) throw notCreated(request.cwd, attempt, made.collision);
    }
  } catch (error) {
    if (request.signal?.aborted === true) throw givenUp();
    throw RuntimeError.is(error) ? error : notCreated(request.cwd, 1, error);
  }
}

type Attempt = { readonly record: WorktreeRecord } | { readonly collision: unknown };

async function attemptOnce(
  context: WorktreeContext,
  request: WorktreeRequest,
  repository: Repository,
  directory: string,
): Promise<Attempt> {
  const creating = newRecord(context, request, repository, directory);
  if (await isThere(creating.worktreePath))
    return { collision: new Error(`there is something at ${creating.worktreePath}`) };
  await context.owners.take(creating.id);
  try {
    await context.records.write(creating);
    const uncommitted = uncommittedIn(context, repository, request.signal).catch(
      (error: unknown) => `what is uncommitted there could not be found out: ${saidBy(error)}`,
    );
    const added = worktreeMutex.run(`create ${repository.commonDirectory}`, () =>
      addWorktree(context, creating, repository, request.signal),
    );
    // Where one fails, the other is not to be at work any more when that is told.
    await Promise.allSettled([uncommitted, added]);
    await added;
    const parentStatus = await uncommitted;
    return {
      record: await madeReady(context, { ...creating, ...(parentStatus === undefined ? {} : { parentStatus }) }),
    };
  } catch (error) {
    const isCollision = error instanceof GitFailure && isTaken(error);
    await undoCreation(context, creating, { isForeign: isCollision });
    if (isCollision) return { collision: error };
    throw error;
  }
}

function newRecord(
  context: WorktreeContext,
  { jobId, key, keepFilesIn }: WorktreeRequest,
  repository: Repository,
  directory: string,
): WorktreeRecord {
  const id = `${nameOf(jobId)}-${randomBytes(ID_BYTES).toString('hex')}`;
  const absent: WorktreeRecord = {
    version: WORKTREE_RECORD_VERSION,
    id,
    jobId,
    ...(key === undefined ? {} : { key }),
    status: 'absent',
    createdAt: context.now(),
    repoRoot: repository.root,
    commonDirectory: repository.commonDirectory,
    worktreePath: join(directory, id),
    branchName: `${context.branchPrefix}/${id}`,
    baseRevision: repository.head,
    subdirectory: repository.subdirectory,
    ...(keepFilesIn === undefined ? {} : { keepFilesIn }),
    stashesBefore: repository.stashes,
    fileSettings: fileSettingsOf(repository.settings),
    findings: [],
  };
  return movedRecord(absent, 'CREATE');
}

/** A part of a path, a branch and a command line on any system, whatever the job is called. */
function nameOf(jobId: string): string {
  const name = jobId
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, LONGEST_NAME);
  return name === '' ? 'job' : name;
}

async function addWorktree(
  context: WorktreeContext,
  record: WorktreeRecord,
  { root, settings }: Repository,
  signal?: AbortSignal,
): Promise<void> {
  const { worktreePath, branchName, baseRevision, jobId } = record;
  const reason = `wakechart works in it for ${nameOf(jobId)}`;
  const isPrivate = canCheckOutPrivately(context, settings);
  const command = [
    'worktree',
    'add',
    '-q',
    '--lock',
    '--reason',
    reason,
    '--no-track',
    ...(isPrivate ? ['--no-checkout'] : []),
    '-b',
    branchName,
    '--',
    worktreePath,
    baseRevision,
  ];
  const filters = context.runRepositoryFilters ? [] : settings.ownFilters;
  for (let attempt = 1, pauseMs = FIRST_PAUSE_MS; ; attempt += 1, pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      await context.git.run(command, { cwd: root, filters, runGitHooks: context.runGitHooks, writes: true, signal });
      if (isPrivate) await checkOut(context, record, signal);
      return;
    } catch (error) {
      if (!(error instanceof GitFailure) || !isLocked(error) || attempt >= LOCK_ATTEMPTS || signal?.aborted === true)
        throw error;
      await undoCreation(context, record, { isForeign: false, keepsRecord: true });
      await pause(pauseMs * (0.5 + Math.random()));
    }
  }
}

/**
 * Without the settings of the repository, in which a process may name a program just now. Not where its programs may
 * run, nor where filters of the user's own are to run: those may search for the repository that they work for.
 */
function canCheckOutPrivately(
  { runGitHooks, runRepositoryFilters }: WorktreeContext,
  { userFilters }: RepositorySettings,
): boolean {
  return !runGitHooks && !runRepositoryFilters && userFilters.length === 0;
}

async function checkOut(context: WorktreeContext, record: WorktreeRecord, signal?: AbortSignal): Promise<void> {
  const gitDirectory = await gitDirectoryMade(record);
  await gitIn(context, { ...record, gitDirectory }, ['read-tree', '--reset', '-u', record.baseRevision], {
    writes: true,
    signal,
  });
}

/** Where git has made its own folder for it. */
async function gitDirectoryMade({ worktreePath }: WorktreeRecord): Promise<string> {
  const link = await readFile(join(worktreePath, '.git'), 'utf8');
  return realpath(/^gitdir: (?<path>[\s\S]*?)\n?$/.exec(link)?.groups?.['path'] ?? '');
}

async function madeReady(context: WorktreeContext, creating: WorktreeRecord): Promise<WorktreeRecord> {
  const { worktreePath, subdirectory, id, jobId, branchName } = creating;
  const gitDirectory = await gitDirectoryMade(creating);
  const ready = movedRecord({ ...creating, gitDirectory }, 'CREATED');
  await replaceFile(
    join(gitDirectory, MARKER),
    `${JSON.stringify({ id, jobId, branchName, createdAt: creating.createdAt })}\n`,
    { durability: 'os' },
  );
  if (subdirectory !== '') await mkdir(join(worktreePath, subdirectory), { recursive: true });
  await context.records.write(ready);
  return ready;
}

/** Where git says that a name is taken. */
function isTaken({ stderr }: GitFailure): boolean {
  return (
    /already exists|is already (?:checked out|used|registered)|is a missing but/.test(stderr) && !/\.lock'/.test(stderr)
  );
}

/** Where another git is at work on the same file. */
function isLocked({ stderr }: GitFailure): boolean {
  return /\.lock': File exists|could not lock|cannot lock ref '[^']*': Unable to create/.test(stderr);
}

/**
 * The folder of all worktrees, as the system knows it, made where it is missing. Inside a checkout it hides itself from
 * git.
 */
async function placeFor(
  { worktreesDirectory }: WorktreeContext,
  { root, commonDirectory }: Repository,
): Promise<string> {
  try {
    await makeFolder(worktreesDirectory);
  } catch (error) {
    throw placeInvalid(worktreesDirectory, messageOf(error));
  }
  const directory = await realpath(worktreesDirectory);
  if (isInside(directory, commonDirectory)) throw placeInvalid(worktreesDirectory, "it lies in git's own folder");
  if (directory === root) throw placeInvalid(worktreesDirectory, 'it is the root of the repository itself');
  if (isInside(directory, root)) {
    await writeFile(join(directory, '.gitignore'), '*\n', { flag: 'wx' }).catch(unlessCode('EEXIST'));
  }
  return directory;
}
