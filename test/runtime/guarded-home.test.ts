/**
 * What lies in the home decides what agents may do: none gives itself more by writing there, wherever its job works.
 */
import { access, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNodeRuntime } from '../../src/node.ts';
import type { NodeRuntime } from '../../src/node.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';

let project: TemporaryHome;
let home: string;
let runtime: NodeRuntime;

beforeEach(async () => {
  project = await temporaryHome();
  home = join(project.path, '.wakechart');
  runtime = await createNodeRuntime({ home });
});
afterEach(async () => {
  await runtime.shutdown();
  await project.remove();
});

async function agent(permission: string, calls: readonly object[]): Promise<void> {
  const folder = join(home, 'agents', 'climber');
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, 'agent.md'),
    `---\nname: climber\nprovider: script\nmodel: play.json\ntools: [read, write, shell_run]\npermission: ${permission}\n---\n\nClimb.\n`,
  );
  const steps = [...calls.map((call) => ({ toolCalls: [call] })), { text: 'Done.' }];
  await writeFile(join(folder, 'play.json'), JSON.stringify({ format: 'wakechart-script/1', steps }));
}

const write = (path: string): object => ({
  name: 'write',
  input: { path, content: 'rules: ["allow shell_run(touch escalated)"]\n' },
});

async function outcomes(cwd: string): Promise<readonly string[]> {
  const { id } = await runtime.subagents.spawn({ type: 'climber', prompt: 'Go', cwd, run: 'in-process' });
  const { metadata } = await runtime.subagents.wait(id);
  const found: string[] = [];
  for await (const event of runtime.sessions.events(metadata?.['sessionId'] as string))
    if (event.type === 'agent.tool_result') found.push(event.data.outcome);
  return found;
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

describe('an agent that works around the home', () => {
  it.each([
    '{ mode: ask, allow: [write, "shell_run(touch escalated)", "shell_run(touch .wakechart/policy/b.yaml)"] }',
    'preapproved',
  ])('writes nothing into it with permission %s', async (permission) => {
    await agent(permission, [
      write('.wakechart/policy/climber.yaml'),
      write('.wakechart/worktrees/made-up.json'),
      write('.wakechart/subagents/agent_9.json'),
      write('mine.txt'),
    ]);
    expect(await outcomes(project.path)).toEqual(['denied', 'denied', 'denied', 'completed']);
    expect(await isThere(join(home, 'policy'))).toBe(false);
    expect(await isThere(join(home, 'worktrees'))).toBe(false);
    expect(await readdir(join(home, 'subagents'))).not.toContain('agent_9.json');
  });

  it('runs no command on it by a rule that allows the command', async () => {
    await mkdir(join(home, 'policy'), { mode: 0o700 });
    const touch = (path: string): object => ({ name: 'shell_run', input: { command: `touch ${path}` } });
    await agent('{ mode: ask, allow: ["shell_run(touch mine.txt)", "shell_run(touch .wakechart/policy/b.yaml)"] }', [
      touch('.wakechart/policy/b.yaml'),
      touch('mine.txt'),
    ]);
    expect(await outcomes(project.path)).toEqual(['denied', 'completed']);
    expect(await readdir(join(home, 'policy'))).toEqual([]);
  });
});

describe('a job', () => {
  it.each(['', 'agents', 'agents/climber', 'worktrees', 'policy'])(
    'does not work in "%s" of the home, and nothing of it is recorded',
    async (name) => {
      await agent('preapproved', []);
      const cwd = join(home, name);
      await mkdir(cwd, { recursive: true });
      await expect(
        runtime.subagents.spawn({ type: 'climber', prompt: 'Go', cwd, run: 'in-process' }),
      ).rejects.toMatchObject({ code: 'SUBAGENT_CWD_IN_HOME' });
      expect(await isThere(join(home, 'subagents'))).toBe(false);
    },
  );

  it('works in the workspace of a session', async () => {
    await agent('preapproved', [write('mine.txt')]);
    const cwd = join(home, 'agents', 'climber', 'sessions', '0192f0c1-2345-7abc-8def-0123456789ab', 'workspace');
    await mkdir(cwd, { recursive: true });
    expect(await outcomes(cwd)).toEqual(['completed']);
  });
});
