import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asideOf } from '../../../src/adapters/git/worktree-context.ts';
import type { WorktreeContext } from '../../../src/adapters/git/worktree-context.ts';
import { contextOf } from '../../../src/adapters/git/git-worktree-options.ts';
import { RecordFiles } from '../../../src/adapters/git/record-files.ts';
import type { Baseline } from '../../../src/adapters/git/record-files.ts';
import { removeWorktree } from '../../../src/adapters/git/remove-worktree.ts';
import type { WorktreeRecord } from '../../../src/machines/subagent/worktree-record.ts';
import type { PreparedSubagentWorktree } from '../../../src/actors/subagent/worktree-adapter.ts';
import { contentOf, git, gitSetup, put, removeTemplate, tracesOf } from './git-setup.ts';
import type { GitSetup } from './git-setup.ts';

let setup: GitSetup;
const children: ChildProcess[] = [];
beforeEach(() => {
  setup = gitSetup();
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
  setup.remove();
});
afterAll(removeTemplate);

type Moment = 'when it has been moved aside' | 'before its files are deleted';

/** Runs `act` at exactly that moment of a removal. */
class InterruptedRecords extends RecordFiles {
  readonly #moment: Moment;
  readonly #act: (record: WorktreeRecord) => void;

  constructor(directory: string, moment: Moment, act: (record: WorktreeRecord) => void) {
    super(directory);
    this.#moment = moment;
    this.#act = act;
  }

  /** A check begins by it. */
  override async readBaseline(id: string): Promise<Baseline | undefined> {
    const record = await this.read(id);
    if (record !== undefined && existsSync(asideOf(record)) && this.#moment === 'when it has been moved aside')
      this.#act(record);
    return super.readBaseline(id);
  }

  override async write(record: WorktreeRecord): Promise<void> {
    await super.write(record);
    if (record.isVerified === true && this.#moment === 'before its files are deleted') this.#act(record);
  }
}

function interrupted(moment: Moment, act: (record: WorktreeRecord) => void): WorktreeContext {
  return {
    ...contextOf({ worktreesDirectory: setup.worktrees }),
    records: new InterruptedRecords(setup.worktrees, moment, act),
  };
}

async function removeInterrupted(
  worktree: PreparedSubagentWorktree,
  moment: Moment,
  act: (record: WorktreeRecord) => void,
): Promise<unknown> {
  const parts = interrupted(moment, act);
  const record = await parts.records.read(worktree.id ?? '');
  if (record === undefined) throw new Error('there is no record');
  return removeWorktree(parts, record).then(
    () => 'removed',
    (error: unknown) => error,
  );
}

/** A process in `folder`, from the moment it is there. */
async function processIn(
  folder: string,
  script = 'process.stdout.write("x"); setInterval(() => {}, 1000)',
): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', script], { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  if (child.stdout !== null) await once(child.stdout, 'data');
  return child;
}

describe('what is written while a worktree is being removed', () => {
  const writes: readonly (readonly [what: string, act: (path: string) => void, path: string, content: string])[] = [
    ['a new file', (path) => put(join(path, 'late.txt'), 'late\n'), 'late.txt', 'late\n'],
    ['a changed file', (path) => put(join(path, 'a.txt'), 'two\n'), 'a.txt', 'two\n'],
    ['a file that git ignores', (path) => put(join(path, 'build/late'), 'late\n'), 'build/late', 'late\n'],
  ];

  it.each(writes)('as it is moved aside is found and kept: %s', async (_, act, path, content) => {
    const worktree = await setup.prepare();
    expect(
      await removeInterrupted(worktree, 'when it has been moved aside', (record) => act(asideOf(record))),
    ).toMatchObject({ code: 'WORKTREE_NOT_CLEAN' });
    expect(contentOf(join(worktree.worktreePath, path))).toBe(content);
    expect(contentOf(join(worktree.worktreePath, 'src/b.txt'))).toBe('two\n');
    expect(await setup.adapter.list()).toMatchObject([{ status: 'preserved' }]);
    expect((await setup.adapter.inspect(worktree)).findings).toHaveLength(1);
  });

  it.each(['late.txt', 'src/late.txt', 'new/late.txt'])(
    'even after the last check is kept, with everything around it: %s',
    async (path) => {
      const worktree = await setup.prepare();
      const end = await removeInterrupted(worktree, 'before its files are deleted', (record) =>
        put(join(asideOf(record), path), 'late\n'),
      );
      expect(end).toMatchObject({ code: 'WORKTREE_NOT_REMOVED' });
      expect(contentOf(join(worktree.worktreePath, path))).toBe('late\n');
      expect(git(worktree.worktreePath, 'status', '--porcelain', '-uall')).toBe(`?? ${path}`);
      expect(await setup.adapter.list()).toMatchObject([
        { status: 'preserved', findings: [{ kind: 'unknown' }, { kind: 'untracked' }] },
      ]);
    },
  );

  it('to where it was is not touched', async () => {
    const worktree = await setup.prepare();
    const end = await removeInterrupted(worktree, 'before its files are deleted', (record) =>
      put(join(record.worktreePath, 'late.txt'), 'late\n'),
    );
    expect(end).toBe('removed');
    expect(contentOf(join(worktree.worktreePath, 'late.txt'))).toBe('late\n');
  });

  it('as a commit is kept', async () => {
    const worktree = await setup.prepare();
    const end = await removeInterrupted(worktree, 'when it has been moved aside', (record) => {
      put(join(asideOf(record), 'a.txt'), 'late\n');
      git(asideOf(record), 'commit', '-qam', 'late');
    });
    expect(end).toMatchObject({ code: 'WORKTREE_NOT_CLEAN' });
    expect(git(worktree.worktreePath, 'log', '-1', '--format=%s')).toBe('late');
  });

  it('to its branch from elsewhere keeps the branch', async () => {
    const worktree = await setup.prepare();
    const end = await removeInterrupted(worktree, 'before its files are deleted', () => {
      git(setup.repository, 'commit', '-q', '--allow-empty', '-m', 'late');
      git(setup.repository, 'update-ref', `refs/heads/${worktree.branchName}`, 'main');
      git(setup.repository, 'reset', '-q', '--hard', 'main~1');
    });
    expect(end).toMatchObject({ code: 'WORKTREE_NOT_REMOVED', message: expect.stringContaining('was moved') });
    expect(git(setup.repository, 'log', '-1', '--format=%s', worktree.branchName)).toBe('late');
  });
});

describe.skipIf(process.platform !== 'linux')('a process that lives', () => {
  it('in a worktree keeps it until it has ended', async () => {
    const worktree = await setup.prepare();
    const child = await processIn(join(worktree.worktreePath, 'src'));
    expect(await setup.adapter.inspect(worktree)).toMatchObject({
      isClean: false,
      findings: [{ kind: 'in_use', text: expect.stringContaining(`${child.pid}`) }],
    });
    await expect(setup.adapter.remove(worktree)).rejects.toMatchObject({ code: 'WORKTREE_IN_USE' });
    await expect(setup.adapter.discard(worktree.id ?? '', { discard: true })).rejects.toMatchObject({
      code: 'WORKTREE_IN_USE',
    });
    expect(existsSync(join(worktree.worktreePath, 'a.txt'))).toBe(true);
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    children.length = 0;
    await setup.adapter.remove(worktree);
    expect(tracesOf(setup, worktree)).toEqual([]);
  });

  it('with a file of it open keeps it', async () => {
    const worktree = await setup.prepare();
    await processIn(
      setup.outside,
      `require('fs').openSync(${JSON.stringify(join(worktree.worktreePath, 'a.txt'))}, 'r'); process.stdout.write("x"); setInterval(() => {}, 1000)`,
    );
    await expect(setup.adapter.remove(worktree)).rejects.toMatchObject({ code: 'WORKTREE_IN_USE' });
  });
});

describe('what the runtime wrote into a worktree', () => {
  it('does not keep it, and is moved to where it was asked for', async () => {
    const keepFilesIn = join(setup.outside, 'kept');
    const worktree = await setup.prepare({ keepFilesIn });
    put(join(worktree.worktreePath, '.wakechart-runtime/.gitignore'), '*\n');
    put(join(worktree.worktreePath, '.wakechart-runtime/outputs/call.txt'), 'output\n');
    await setup.adapter.remove(worktree);
    expect(tracesOf(setup, worktree)).toEqual([]);
    expect(contentOf(join(keepFilesIn, '.wakechart-runtime/outputs/call.txt'))).toBe('output\n');
  });

  it('lies beside it where nothing was asked for, also from the folder below in which the work was done', async () => {
    const worktree = await setup.prepare({ cwd: join(setup.repository, 'src') });
    put(join(worktree.cwd ?? '', '.wakechart-runtime/outputs/call.txt'), 'output\n');
    await setup.adapter.remove(worktree);
    expect(existsSync(worktree.worktreePath)).toBe(false);
    expect(contentOf(join(`${worktree.worktreePath}.files`, 'outputs/call.txt'))).toBe('output\n');
  });

  it('replaces nothing that is there', async () => {
    const keepFilesIn = join(setup.outside, 'kept');
    for (const text of ['first', 'second']) {
      const worktree = await setup.prepare({ keepFilesIn });
      put(join(worktree.worktreePath, '.wakechart-runtime/x'), text);
      await setup.adapter.remove(worktree);
    }
    expect(
      readdirSync(keepFilesIn)
        .map((name) => contentOf(join(keepFilesIn, name, 'x')))
        .sort(),
    ).toEqual(['first', 'second']);
  });

  it('keeps it where it cannot be moved', async () => {
    writeFileSync(join(setup.outside, 'file'), '');
    const worktree = await setup.prepare({ keepFilesIn: join(setup.outside, 'file') });
    put(join(worktree.worktreePath, '.wakechart-runtime/x'), 'output');
    await expect(setup.adapter.remove(worktree)).rejects.toMatchObject({ code: 'WORKTREE_NOT_REMOVED' });
    expect(contentOf(join(worktree.worktreePath, '.wakechart-runtime/x'))).toBe('output');
  });

  it('leaves nothing behind where it is nothing', async () => {
    const worktree = await setup.prepare();
    put(join(worktree.worktreePath, '.wakechart-runtime/.gitignore'), '*\n');
    await setup.adapter.remove(worktree);
    expect(setup.names()).toEqual([]);
  });
});

describe('a git that cannot say', () => {
  it.each(['exit 1', 'echo "fatal: oh" >&2; exit 128', 'exec sleep 60', 'echo garbage'])(
    'keeps the worktree: %s',
    async (line) => {
      const worktree = await setup.prepare();
      put(join(worktree.worktreePath, 'a.txt'), 'one\n');
      const gitPath = join(setup.outside, 'odd-git');
      writeFileSync(gitPath, `#!/bin/sh\n${line}\n`, { mode: 0o755 });
      const adapter = setup.adapterWith({ gitPath, timeoutMs: 300 });
      const { isClean, findings } = await adapter.inspect(worktree);
      expect(isClean).toBe(false);
      expect(findings.map(({ kind }) => kind)).toContain('unknown');
      await expect(adapter.remove(worktree)).rejects.toMatchObject({ code: 'WORKTREE_NOT_CLEAN' });
      expect(contentOf(join(worktree.worktreePath, 'a.txt'))).toBe('one\n');
    },
  );

  it('is not asked to run what a repository names', async () => {
    const worktree = await setup.prepare();
    const proof = join(setup.outside, 'proof');
    const program = join(setup.outside, 'program');
    writeFileSync(program, `#!/bin/sh\necho ran >> '${proof}'\ncat\n`, { mode: 0o755 });
    const settings: Readonly<Record<string, string>> = {
      'core.fsmonitor': program,
      'core.hooksPath': join(setup.outside, 'hooks'),
      'core.pager': program,
      'core.editor': program,
      'core.sshCommand': program,
      'credential.helper': `!${program}`,
      'diff.external': program,
      'diff.evil.textconv': program,
      'filter.evil.clean': program,
      'filter.evil.smudge': program,
      'filter.evil.required': 'true',
      'filter.a=b.clean': program,
      'alias.status': `!${program}`,
      'alias.ls-files': `!${program}`,
    };
    for (const [name, value] of Object.entries(settings)) git(setup.repository, 'config', name, value);
    for (const hook of ['post-index-change', 'reference-transaction', 'post-checkout'])
      put(join(setup.outside, 'hooks', hook), contentOf(program));
    for (const hook of readdirSync(join(setup.outside, 'hooks'))) chmodSync(join(setup.outside, 'hooks', hook), 0o755);
    put(join(setup.repository, '.git/info/attributes'), '*.txt filter=evil diff=evil\nb.txt filter=a=b\n');
    put(join(worktree.worktreePath, 'a.txt'), 'one\n');
    put(join(worktree.worktreePath, 'src/b.txt'), 'two\n');
    expect((await setup.adapter.inspect(worktree)).findings).toEqual([]);
    await setup.adapter.remove(worktree);
    expect(tracesOf(setup, worktree)).toEqual([]);
    const next = await setup.prepare();
    expect(contentOf(join(next.worktreePath, 'a.txt'))).toBe('one\n');
    await setup.adapter.remove(next);
    expect(existsSync(proof)).toBe(false);
  });
});

const canMount = process.platform === 'linux' && spawnSync('unshare', ['-m', 'true']).status === 0;

describe.runIf(canMount)('a process in another namespace of mounts', () => {
  it('keeps the worktree that it works in under another path', async () => {
    const worktree = await setup.prepare();
    const place = join(setup.outside, 'mounted here');
    mkdirSync(place);
    const child = spawn(
      'unshare',
      [
        '-m',
        'sh',
        '-c',
        'mount --bind "$1" "$2" && cd "$2" && echo there && exec sleep 600',
        'sh',
        worktree.worktreePath,
        place,
      ],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    children.push(child);
    await once(child.stdout, 'data');
    expect((await setup.adapter.inspect(worktree)).findings).toMatchObject([
      { kind: 'in_use', text: expect.stringContaining('has its working folder in it') },
    ]);
    await expect(setup.adapter.remove(worktree)).rejects.toMatchObject({ code: 'WORKTREE_IN_USE' });
    expect(contentOf(join(worktree.worktreePath, 'a.txt'))).toBe('one\n');
  });
});

describe('what is not a worktree of its keeper', () => {
  it('is never removed', async () => {
    mkdirSync(join(setup.worktrees, 'mine'), { recursive: true });
    const stranger = {
      id: 'mine',
      repoRoot: setup.repository,
      worktreePath: join(setup.worktrees, 'mine'),
      branchName: 'main',
    };
    await expect(setup.adapter.remove(stranger)).rejects.toMatchObject({ code: 'WORKTREE_NOT_FOUND' });
    expect(await setup.adapter.inspect(stranger)).toMatchObject({ isClean: false });
    await expect(
      setup.adapter.remove({ ...stranger, id: '../../repository', worktreePath: setup.repository }),
    ).rejects.toMatchObject({ code: 'WORKTREE_NOT_FOUND' });
    expect(existsSync(join(setup.worktrees, 'mine'))).toBe(true);
  });

  it('is one that another living process has', async () => {
    const alive = setup.adapterWith({ host: { pid: process.ppid, startTime: '', system: 'another system' } });
    const worktree = await alive.prepare({ jobId: 'agent_1', cwd: setup.repository });
    await expect(setup.adapter.remove(worktree)).rejects.toMatchObject({ code: 'WORKTREE_IN_USE' });
    expect(await setup.adapter.reconcile()).toMatchObject([{ action: 'left' }]);
    await expect(setup.adapter.adopt(worktree.id ?? '')).rejects.toMatchObject({ code: 'WORKTREE_IN_USE' });
  });
});
