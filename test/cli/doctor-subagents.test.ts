/** What `wakechart doctor` makes of worktrees and jobs whose process is gone. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import type { WorktreeStore } from '../../src/actors/subagent/worktree-adapter.ts';
import { checkWorktrees } from '../../src/cli/doctor/check-worktrees.ts';
import { createGitWorktreeIsolationAdapter } from '../../src/adapters/git/git-worktree-adapter.ts';
import { readOwner } from '../../src/adapters/git/owner-files.ts';
import { createFileJobRecords } from '../../src/adapters/subagent-files/file-job-records.ts';
import { jobRecordOf } from '../../src/machines/subagent/job-record.ts';
import type { JobRecord } from '../../src/machines/subagent/job-record.ts';
import { SESSION_KEY } from '../../src/machines/subagent/subagent-request.ts';
import { Stage } from './stage.ts';

const exec = promisify(execFile);

let stage: Stage;
let shop = '';

beforeEach(async () => {
  stage = await Stage.open();
  await stage.run('doctor', '--repair');
  shop = join(stage.home, 'shop');
  await exec('git', ['init', '--quiet', shop]);
  await exec('git', [
    '-C',
    shop,
    '-c',
    'user.name=Mary',
    '-c',
    'user.email=mary@shop.invalid',
    'commit',
    '--quiet',
    '--allow-empty',
    '--message',
    'A shop',
  ]);
});
afterEach(() => stage.close());

interface Report {
  readonly findings: readonly {
    readonly area: string;
    readonly severity: string;
    readonly where: string;
    readonly what: string;
    readonly isRepaired: boolean;
  }[];
}

async function examine(...words: readonly string[]): Promise<Report['findings']> {
  const { stdout, stderr } = await stage.run('doctor', '--json', ...words);
  expect(stderr).toBe('');
  return (JSON.parse(stdout) as Report).findings;
}

/** A program that gives worktrees; one that is gone, unless it is this one. */
function keeper({ isHere = false } = {}): WorktreeStore {
  return createGitWorktreeIsolationAdapter({
    worktreesDirectory: join(stage.home, 'worktrees'),
    clock: createSystemClock(),
    ...(isHere ? {} : { host: { ...readOwner(), startTime: '1' } }),
  });
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

describe('a worktree', () => {
  it('of a process that is gone is told of, and removed on demand when nothing is in it', async () => {
    const { worktreePath } = await keeper().prepare({ jobId: 'agent_1', cwd: shop });
    expect(await examine()).toMatchObject([
      {
        area: 'worktrees',
        severity: 'note',
        where: worktreePath,
        what: expect.stringMatching(/for job agent_1 is gone, and left it as "ready"$/) as string,
        isRepaired: false,
      },
    ]);
    expect(await isThere(worktreePath)).toBe(true);
    expect(await examine('--repair')).toMatchObject([{ isRepaired: true }]);
    expect(await isThere(worktreePath)).toBe(false);
    expect(await examine()).toEqual([]);
  });

  it('is kept by a repair when there is something in it, and is in order then', async () => {
    const { worktreePath } = await keeper().prepare({ jobId: 'agent_1', cwd: shop });
    await writeFile(join(worktreePath, 'IDEAS.md'), 'Half a thought\n');
    expect(await examine('--repair')).toMatchObject([{ area: 'worktrees', isRepaired: true }]);
    expect(await readFile(join(worktreePath, 'IDEAS.md'), 'utf8')).toBe('Half a thought\n');
    expect(await examine()).toEqual([]);
    expect((await stage.run('worktree', 'list')).stdout).toContain('IDEAS.md');
  });

  it('that a job works in is left alone', async () => {
    const living = keeper({ isHere: true });
    const worktree = await living.prepare({ jobId: 'agent_1', cwd: shop });
    expect(await examine('--repair')).toEqual([]);
    expect(await isThere(worktree.worktreePath)).toBe(true);
    await living.remove(worktree);
  });

  it('that somebody took away is told of, and forgotten by whoever removes it', async () => {
    const gone = keeper();
    const worktree = await gone.prepare({ jobId: 'agent_1', cwd: shop });
    await gone.preserve?.(worktree, { isClean: false, findings: [{ kind: 'untracked', text: 'IDEAS.md' }] });
    await rm(worktree.worktreePath, { recursive: true });
    expect(await examine()).toMatchObject([
      {
        area: 'worktrees',
        severity: 'note',
        what: 'the worktree of job agent_1 was taken away, its record and its branch are left',
      },
    ]);
    expect((await stage.run('worktree', 'remove', 'agent_1', '--discard')).code).toBe(0);
    expect(await examine()).toEqual([]);
  });

  it('that nobody can list is a problem', async () => {
    const unreadable = { list: () => Promise.reject(new Error('EIO')), reconcile: () => Promise.resolve([]) };
    expect(await checkWorktrees(unreadable, '/worktrees')).toMatchObject([
      { area: 'worktrees', severity: 'problem', where: '/worktrees', what: 'it is unknown what lies there: EIO' },
    ]);
  });
});

/** A job that a process had in hand which is gone. */
async function jobLeft(stageOfIt: JobRecord['stage']): Promise<void> {
  const directory = join(stage.home, 'subagents');
  const at = '2026-01-01T00:00:00.000Z';
  const isOver = stageOfIt !== 'accepted';
  const error = { name: 'BackgroundTaskError', code: 'X', category: 'crash', message: 'It died.', recoverable: false };
  await createFileJobRecords({ directory }).create((jobId) => {
    const task = {
      id: jobId,
      kind: 'agent',
      agentType: 'scribe',
      label: 'scribe',
      status: isOver ? 'failed' : 'running',
      mode: 'background',
      parentSessionId: 'nobody',
      depth: 0,
      cwd: shop,
      updatedAt: at,
      unread: false,
      metadata: { [SESSION_KEY]: '0192f0c1-2345-7abc-8def-0123456789ab' },
      ...(isOver ? { error } : {}),
    };
    const record = jobRecordOf({
      version: 1,
      jobId,
      stage: stageOfIt,
      acceptedAt: at,
      request: { type: 'scribe', prompt: 'Write.', cwd: shop },
      task,
    });
    if (record === undefined) throw new Error('expected a record of this version');
    return record;
  });
  const path = join(directory, 'agent_1.json');
  const stored = JSON.parse(await readFile(path, 'utf8')) as { readonly owner: object };
  await writeFile(path, JSON.stringify({ ...stored, owner: { ...stored.owner, began: '1' } }));
}

describe('a job', () => {
  it('that was cut off is told of, and settled on demand', async () => {
    await jobLeft('accepted');
    expect(await examine()).toMatchObject([
      {
        area: 'subagents',
        severity: 'note',
        where: 'agent_1',
        what: 'the job of agent scribe was cut off when its process ended',
        isRepaired: false,
      },
    ]);
    expect(await examine('--repair')).toMatchObject([{ isRepaired: true }]);
    expect(await examine()).toEqual([]);
    expect(await stage.runtime.subagents.reconcile()).toEqual([]);
    expect(stage.runtime.subagents.get('agent_1')).toMatchObject({ status: 'failed', timeoutReason: 'stale_worker' });
  });

  it('whose end nobody may have heard of is told of', async () => {
    await jobLeft('ending');
    expect(await examine()).toMatchObject([
      {
        area: 'subagents',
        severity: 'note',
        what: expect.stringMatching(/^the job of agent scribe ended as failed, and the session/) as string,
      },
    ]);
  });

  it('that has ended is in order, whoever had it', async () => {
    await jobLeft('ended');
    expect(await examine()).toEqual([]);
  });

  it('whose record cannot be read is a problem, and the record stays', async () => {
    const directory = join(stage.home, 'subagents');
    await mkdir(directory);
    await writeFile(join(directory, 'agent_1.json'), '{"torn');
    expect(await examine()).toMatchObject([
      {
        area: 'subagents',
        severity: 'problem',
        where: directory,
        what: expect.stringContaining('the record of job agent_1 cannot be read') as string,
      },
    ]);
    expect((await readdir(directory)).some((name) => name.startsWith('agent_1.json'))).toBe(true);
  });
});
