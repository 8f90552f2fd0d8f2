/** The guard of a home, on a real disk. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHomeGuard } from '../../../src/adapters/files/home-guard.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

let folder: TemporaryHome;
let project: string;
let home: string;

beforeEach(async () => {
  folder = await temporaryHome();
  project = join(folder.path, 'project');
  home = join(project, '.wakechart');
  await mkdir(join(home, 'worktrees', 'agent_1-aa'), { recursive: true });
  await mkdir(join(home, 'agents', 'fixer', 'sessions', 's1', 'workspace'), { recursive: true });
  await writeFile(join(home, 'worktrees', 'agent_1-aa.json'), '{}');
});
afterEach(() => folder.remove());

const protects = (path: string, workspace = project): Promise<boolean> => createHomeGuard(home).protects(path, workspace);

describe('the guard of a home', () => {
  it.each(['.wakechart', '.wakechart/policy/w.yaml', '.wakechart/agents/fixer/agent.md', '.wakechart/worktrees/evil.json', '.wakechart/worktrees/agent_1-aa/a.txt', 'src/../.wakechart/providers.yaml', '.wakechart/made/up/later'])(
    'protects %s from whoever works around it',
    async (path) => {
      expect(await protects(path)).toBe(true);
      expect(await protects(join(project, path))).toBe(true);
    },
  );

  it.each(['a.txt', '.wakechart-other/a', 'src', '/', '..'])('leaves %s alone', async (path) => {
    expect(await protects(path)).toBe(false);
  });

  it('follows links, in the path and on the way to the home', async () => {
    await symlink(home, join(project, 'innocent'));
    await symlink(project, join(folder.path, 'alias'));
    expect(await protects('innocent/policy/w.yaml')).toBe(true);
    expect(await protects('.wakechart/policy', join(folder.path, 'alias'))).toBe(true);
    expect(await createHomeGuard(join(folder.path, 'alias', '.wakechart')).protects('.wakechart/policy', project)).toBe(true);
  });

  it('lets a session work in a worktree or in a workspace of the home, and nowhere beside it', async () => {
    for (const workspace of [join(home, 'worktrees', 'agent_1-aa'), join(home, 'agents', 'fixer', 'sessions', 's1', 'workspace')]) {
      expect(await protects('src/a.txt', workspace)).toBe(false);
      expect(await protects(workspace, workspace)).toBe(false);
      expect(await protects('../a.txt', workspace)).toBe(true);
      expect(await protects(join(home, 'policy'), workspace)).toBe(true);
    }
    expect(await protects(join(home, 'worktrees', 'agent_1-aa.json'), join(home, 'worktrees', 'agent_1-aa'))).toBe(true);
  });

  it.each(['', 'worktrees', 'agents/fixer', 'agents/fixer/sessions/s1', 'policy'])('protects "%s" of the home also from a session that says it works there', async (name) => {
    expect(await protects('a.txt', join(home, name))).toBe(true);
  });
});
