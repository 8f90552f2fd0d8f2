/** What a repository names is not run by those who make, examine and remove worktrees of it, whenever it is named. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { contentOf, git, gitSetup, put, removeTemplate } from './git-setup.ts';
import type { GitSetup } from './git-setup.ts';

let setup: GitSetup;
beforeEach(() => {
  setup = gitSetup();
});
afterEach(() => {
  vi.unstubAllEnvs();
  setup.remove();
});
afterAll(removeTemplate);

const proof = (): string => join(setup.outside, 'proof');
const running = (): string => `touch '${proof()}'; cat`;

describe('a repository', () => {
  it('runs no filter whose name is empty', async () => {
    const worktree = await setup.prepare();
    put(
      join(setup.repository, '.git/config'),
      `${contentOf(join(setup.repository, '.git/config'))}[filter ""]\n\tclean = "${running()}"\n\tsmudge = "${running()}"\n`,
    );
    put(join(setup.repository, '.git/info/attributes'), '* filter=\n');
    put(join(worktree.worktreePath, 'a.txt'), 'work\n');
    put(join(setup.repository, 'a.txt'), 'mine\n');
    expect((await setup.adapter.inspect(worktree)).findings).toMatchObject([{ kind: 'changed' }]);
    const next = await setup.prepare();
    expect(next.parentStatus).toContain('1 changed file');
    expect(existsSync(proof())).toBe(false);
  });

  it('fetches nothing that it lacks', async () => {
    const program = join(setup.outside, 'fetch');
    writeFileSync(program, `#!/bin/sh\ntouch '${proof()}'\n`, { mode: 0o755 });
    const settings = {
      'core.repositoryformatversion': '1',
      'extensions.partialClone': 'origin',
      'remote.origin.url': `ext::${program}`,
      'remote.origin.promisor': 'true',
      'protocol.ext.allow': 'always',
    };
    const blob = git(setup.repository, 'rev-parse', 'HEAD:src/b.txt');
    for (const [name, value] of Object.entries(settings)) git(setup.repository, 'config', name, value);
    rmSync(join(setup.repository, '.git/objects', blob.slice(0, 2), blob.slice(2)));
    for (const runRepositoryFilters of [false, true]) {
      await expect(
        setup.adapterWith({ runRepositoryFilters }).prepare({ jobId: 'j', cwd: setup.repository }),
      ).rejects.toMatchObject({ code: 'WORKTREE_NOT_CREATED' });
    }
    expect(existsSync(proof())).toBe(false);
    expect(setup.names()).toEqual([]);
  });

  /** A git that names a filter in the repository just before it does what `command` says. */
  function naming(command: string): string {
    const gitPath = join(setup.outside, 'naming-git');
    const repository = setup.repository;
    writeFileSync(
      gitPath,
      `#!/bin/sh\ncase " $* " in *" ${command} "*) for what in clean smudge process; do git config -f '${repository}/.git/config' filter.late.$what "touch '${proof()}'; cat"; done; echo '* filter=late' > '${repository}/.git/info/attributes';; esac\nexec git "$@"\n`,
      { mode: 0o755 },
    );
    return gitPath;
  }

  it.each(['config', 'worktree', 'read-tree', 'status'])(
    'runs nothing that it names only when a worktree is being made: at git %s',
    async (command) => {
      put(join(setup.repository, 'a.txt'), 'mine\n');
      const worktree = await setup
        .adapterWith({ gitPath: naming(command) })
        .prepare({ jobId: 'agent_1', cwd: setup.repository });
      expect(contentOf(join(setup.repository, '.git/config'))).toContain('late');
      expect(contentOf(join(worktree.worktreePath, 'a.txt'))).toBe('one\n');
      expect(existsSync(proof())).toBe(false);
    },
  );

  it.each(['ls-files', 'status'])(
    'runs nothing that it names only when a worktree is being examined: at git %s',
    async (command) => {
      const worktree = await setup.prepare();
      put(join(worktree.worktreePath, 'a.txt'), 'work\n');
      put(join(worktree.worktreePath, 'bin/run'), '#!/bin/sh\n');
      const { findings } = await setup.adapterWith({ gitPath: naming(command) }).inspect(worktree);
      expect(contentOf(join(setup.repository, '.git/config'))).toContain('late');
      expect(findings.map(({ kind }) => kind)).toEqual(['changed']);
      expect(existsSync(proof())).toBe(false);
    },
  );

  it('has its line ends, though its settings are not asked later', async () => {
    git(setup.repository, 'config', 'core.autocrlf', 'true');
    const worktree = await setup.prepare();
    expect(contentOf(join(worktree.worktreePath, 'a.txt'))).toBe('one\r\n');
    put(join(worktree.worktreePath, 'a.txt'), 'one\r\n');
    expect((await setup.adapter.inspect(worktree)).findings).toEqual([]);
  });

  it("lets the user's own filters run", async () => {
    const settings = join(setup.outside, 'settings');
    writeFileSync(settings, '[filter "mine"]\n\tsmudge = "tr a-z A-Z"\n\tclean = "tr A-Z a-z"\n');
    vi.stubEnv('GIT_CONFIG_GLOBAL', settings);
    put(join(setup.repository, '.git/info/attributes'), 'a.txt filter=mine\n');
    const worktree = await setup.prepare();
    expect(contentOf(join(worktree.worktreePath, 'a.txt'))).toBe('ONE\n');
    expect((await setup.adapter.inspect(worktree)).findings).toEqual([]);
  });

  it("lets those of the user's own run that are only for some repositories", async () => {
    const [settings, some] = [join(setup.outside, 'settings'), join(setup.outside, 'some')];
    writeFileSync(settings, `[includeIf "gitdir:${setup.repository}/"]\n\tpath = ${some}\n`);
    writeFileSync(some, '[filter "mine"]\n\tsmudge = "tr a-z A-Z"\n\tclean = "tr A-Z a-z"\n');
    vi.stubEnv('GIT_CONFIG_GLOBAL', settings);
    put(join(setup.repository, '.git/info/attributes'), 'a.txt filter=mine\n');
    const worktree = await setup.prepare();
    expect(contentOf(join(worktree.worktreePath, 'a.txt'))).toBe('ONE\n');
  });

  it("runs not even the user's own filters when a worktree is being examined, whatever attributes say", async () => {
    const settings = join(setup.outside, 'settings');
    writeFileSync(settings, `[filter "mine"]\n\tclean = "touch '${proof()}'; cat"\n\trequired = true\n`);
    vi.stubEnv('GIT_CONFIG_GLOBAL', settings);
    const worktree = await setup.prepare();
    put(
      join(setup.repository, '.git/info/attributes'),
      '[attr]odd filter=mine\n* odd\n"*.txt filter=mine\n*.txt filter=mine',
    );
    put(join(worktree.worktreePath, '.gitattributes'), '* filter=mine\n');
    put(join(worktree.worktreePath, 'a.txt'), 'work\n');
    const { findings } = await setup.adapter.inspect(worktree);
    expect(findings.map(({ kind }) => kind)).toEqual(['changed', 'untracked']);
    expect(existsSync(proof())).toBe(false);
  });
});

describe('the repository around a home', () => {
  it('is not that of what lies in the home', async () => {
    const home = join(setup.repository, '.wakechart');
    const workspace = join(home, 'agents/x/workspace');
    mkdirSync(workspace, { recursive: true });
    const adapter = setup.adapterWith({ worktreesDirectory: join(home, 'worktrees'), ceilingDirectories: [home] });
    for (const cwd of [workspace, home])
      await expect(adapter.prepare({ jobId: 'agent_1', cwd })).rejects.toMatchObject({
        code: 'WORKTREE_NOT_A_REPOSITORY',
        message: expect.stringContaining('no part of it'),
      });
    const worktree = await adapter.prepare({ jobId: 'agent_1', cwd: setup.repository });
    expect(await adapter.prepare({ jobId: 'agent_2', cwd: worktree.cwd ?? '' })).toMatchObject({
      repoRoot: worktree.worktreePath,
    });
  });

  it('is not a home that is a repository itself', async () => {
    mkdirSync(join(setup.repository, 'agents'));
    const adapter = setup.adapterWith({ ceilingDirectories: [setup.repository] });
    await expect(adapter.prepare({ jobId: 'agent_1', cwd: join(setup.repository, 'agents') })).rejects.toMatchObject({
      code: 'WORKTREE_NOT_A_REPOSITORY',
    });
  });
});
