/** The guard of a home, on a real disk. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { guardedPlace } from '../../../src/actors/wake/guarded-places.ts';
import { FileCommandPlaces } from '../../../src/adapters/command-places/file-command-places.ts';
import { createHomeGuard } from '../../../src/adapters/files/home-guard.ts';
import { readShell } from '../../../src/adapters/shell-syntax/shell-reader.ts';
import { checkOf } from '../../../src/machines/permission/command-check.ts';
import { decidePermission } from '../../../src/machines/permission/permission-decision.ts';
import type { PermissionQuestion } from '../../../src/machines/permission/permission-decision.ts';
import { parseRule } from '../../../src/machines/permission/permission-rule.ts';
import { SHELL_RUN } from '../../machines/permission/shell-questions.ts';
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

const protects = (path: string, workspace = project): Promise<boolean> =>
  createHomeGuard(home).protects(path, workspace);

describe('the guard of a home', () => {
  it.each([
    '.wakechart',
    '.wakechart/policy/w.yaml',
    '.wakechart/agents/fixer/agent.md',
    '.wakechart/worktrees/evil.json',
    '.wakechart/worktrees/agent_1-aa/a.txt',
    'src/../.wakechart/providers.yaml',
    '.wakechart/made/up/later',
  ])('protects %s from whoever works around it', async (path) => {
    expect(await protects(path)).toBe(true);
    expect(await protects(join(project, path))).toBe(true);
  });

  it.each(['a.txt', '.wakechart-other/a', 'src', '/', '..'])('leaves %s alone', async (path) => {
    expect(await protects(path)).toBe(false);
  });

  it('follows links, in the path and on the way to the home', async () => {
    await symlink(home, join(project, 'innocent'));
    await symlink(project, join(folder.path, 'alias'));
    expect(await protects('innocent/policy/w.yaml')).toBe(true);
    expect(await protects('.wakechart/policy', join(folder.path, 'alias'))).toBe(true);
    expect(await createHomeGuard(join(folder.path, 'alias', '.wakechart')).protects('.wakechart/policy', project)).toBe(
      true,
    );
  });

  it('lets a session work in a worktree or in a workspace of the home, and nowhere beside it', async () => {
    for (const workspace of [
      join(home, 'worktrees', 'agent_1-aa'),
      join(home, 'agents', 'fixer', 'sessions', 's1', 'workspace'),
    ]) {
      expect(await protects('src/a.txt', workspace)).toBe(false);
      expect(await protects(workspace, workspace)).toBe(false);
      expect(await protects('../a.txt', workspace)).toBe(true);
      expect(await protects(join(home, 'policy'), workspace)).toBe(true);
    }
    expect(await protects(join(home, 'worktrees', 'agent_1-aa.json'), join(home, 'worktrees', 'agent_1-aa'))).toBe(
      true,
    );
  });

  it.each(['', 'worktrees', 'agents/fixer', 'agents/fixer/sessions/s1', 'policy'])(
    'protects "%s" of the home also from a session that says it works there',
    async (name) => {
      expect(await protects('a.txt', join(home, name))).toBe(true);
    },
  );
});

describe('a command line in a workspace that holds the home', () => {
  const isLetThrough = async (command: string): Promise<boolean> => {
    const guard = createHomeGuard(join(project, 'state', 'home'));
    const subject = { kind: 'shell', command, cwd: project } as const;
    const reading = readShell(command);
    const guarded = await guardedPlace(guard, { subject, reading, workspaceDirectory: project });
    const policy = ['allow shell_run(python gen.py) in **', 'allow shell_run(rm -rf home/policy $) in **'].map((rule) =>
      parseRule(rule),
    );
    const question: PermissionQuestion = {
      definition: SHELL_RUN,
      subject,
      reading,
      workspaceDirectory: project,
      mode: 'ask',
      policy,
      sessionRules: [],
      humans: 'reachable',
      guarded,
    };
    const decision = decidePermission(question);
    const check = checkOf(question, decision);
    return (
      decision.decision === 'allow' &&
      (check === undefined || (await new FileCommandPlaces(guard).problem(check)) === undefined)
    );
  };

  beforeEach(async () => {
    for (const name of ['state/home/policy', 'src']) await mkdir(join(project, name), { recursive: true });
    for (const name of ['state/home/policy/w.yaml', 'state/a.txt', 'src/a.txt'])
      await writeFile(join(project, name), 'x');
  });

  it.each([
    ...[
      'cat state/home/policy/w.yaml',
      'cat state/*/policy/*',
      'cat */*/policy/w.yaml',
      'cat {state/home/policy/w.yaml,src/a.txt}',
      'ls state/*',
      'cat < state/home/policy/w.yaml',
      'sort <state/home/policy/w.yaml',
    ],
    ...[
      'cd state && cat home/policy/w.yaml',
      'cd state && cat */policy/*',
      '(cd state && sort < home/policy/w.yaml)',
      'cd state && python gen.py home/policy/w.yaml',
      'cd state && rm -rf home/policy',
    ],
  ])('asks before it reaches there: %s', async (command) => {
    expect(await isLetThrough(command)).toBe(false);
  });

  it.each(['cat */a.txt', 'cat < src/a.txt', 'cd state && cat a.txt', 'cat src/*', 'cd state && python gen.py a.txt'])(
    'may do all else: %s',
    async (command) => {
      expect(await isLetThrough(command)).toBe(true);
    },
  );
});
