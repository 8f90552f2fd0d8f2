/** Subagents of a real runtime, with real processes and real git: jobs, and agents that other agents call. */
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNodeRuntime } from '../../src/node.ts';
import type { NodeRuntime, NodeRuntimeOptions } from '../../src/node.ts';
import type { SessionEventData, SessionEventType } from '../../src/machines/session/session-event.ts';
import { until } from '../support/session-setup.ts';
import { temporaryHome } from '../support/temporary-home.ts';

let home: Awaited<ReturnType<typeof temporaryHome>>;
let runtime: NodeRuntime;

beforeEach(async () => {
  home = await temporaryHome();
});
afterEach(async () => {
  await runtime.shutdown();
  await home.remove();
});

async function open(options: NodeRuntimeOptions = {}): Promise<void> {
  runtime = await createNodeRuntime({ home: join(home.path, 'home'), ...options });
}

async function agent(agentId: string, steps: readonly object[], frontmatter = ''): Promise<void> {
  const folder = join(home.path, 'home', 'agents', agentId);
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, 'agent.md'),
    `---\nname: ${agentId}\nprovider: script\nmodel: play.json\npermission: preapproved\n${frontmatter}---\n\nWork.\n`,
  );
  await writeFile(join(folder, 'play.json'), JSON.stringify({ format: 'wakechart-script/1', steps, onEnd: 'sleep' }));
}

const shell = (command: string): object => ({ name: 'shell_run', input: { command } });

const git = (folder: string, ...words: readonly string[]): string =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=Test', '-c', 'user.email=test@example.invalid', ...words], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

async function repository(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  git(folder, 'init', '--quiet');
  git(folder, 'config', 'user.name', 'Test');
  git(folder, 'config', 'user.email', 'test@example.invalid');
  await writeFile(join(folder, 'a.txt'), 'one\n');
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--message', 'First');
  return folder;
}

async function dataOf<Type extends SessionEventType>(sessionId: string, type: Type): Promise<SessionEventData<Type>[]> {
  const found: SessionEventData<Type>[] = [];
  for await (const event of runtime.sessions.events(sessionId))
    if (event.type === type) found.push(event.data as SessionEventData<Type>);
  return found;
}

async function isGone(pid: number): Promise<boolean> {
  try {
    return /^\d+ \(.*\) Z/s.test(
      execFileSync('cat', [`/proc/${pid}/stat`], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
    );
  } catch {
    return true;
  }
}

describe('an agent that another one calls', () => {
  const lead = (step: object): readonly object[] => [
    { toolCalls: [{ name: 'scribe', input: { message: 'Write it down.' } }] },
    step,
  ];

  it('in a process and a worktree of its own leaves a commit that the named command merges', async () => {
    await open();
    await agent(
      'scribe',
      [
        {
          toolCalls: [shell('echo two > b.txt && git add b.txt && git commit --quiet --message Second && echo $PPID')],
        },
        { text: 'Written.' },
      ],
      'tools: [shell_run]\n',
    );
    await agent('lead', lead({ text: 'Good.' }), 'tools:\n  - { agent: scribe, run: process, isolation: worktree }\n');
    const { sessionId } = await runtime.sessions.create({ agentId: 'lead' });
    const folder = await repository(join(home.path, 'home', 'agents', 'lead', 'sessions', sessionId, 'workspace'));
    await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go' });
    expect(await runtime.wake(sessionId)).toMatchObject({ outcome: 'sleep', summary: 'Good.' });
    const [result] = await dataOf(sessionId, 'agent.tool_result');
    const { worktree } = (result?.output ?? {}) as {
      readonly worktree: {
        readonly branchName: string;
        readonly worktreeStatus: string;
        readonly worktreeNextAction: string;
      };
    };
    expect(worktree).toMatchObject({ worktreeStatus: 'preserved' });
    const command = /git -C .* merge \S+/.exec(worktree.worktreeNextAction)?.[0] ?? 'false';
    execFileSync('sh', ['-c', command], { stdio: 'ignore' });
    expect(git(folder, 'log', '--format=%s').trim().split('\n')).toEqual(['Second', 'First']);
    const [child] = (await dataOf(sessionId, 'agent.subflow_started')).map(({ childSessionId }) => childSessionId);
    const [wake] = await dataOf(child ?? '', 'wake.started');
    expect(wake?.owner).not.toMatch(new RegExp(`:${process.pid}$`));
  });

  it('answers although its process is killed in the middle: the next one goes on', async () => {
    await open();
    const mark = join(home.path, 'killed');
    await agent(
      'scribe',
      [{ toolCalls: [shell(`test -e ${mark} || { touch ${mark}; kill -9 $PPID; }`)] }, { text: 'I went on.' }],
      'tools: [shell_run]\n',
    );
    await agent('lead', lead({ text: 'Good.' }), 'tools:\n  - { agent: scribe, run: process }\n');
    const { sessionId } = await runtime.sessions.create({ agentId: 'lead' });
    await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go' });
    expect(await runtime.wake(sessionId)).toMatchObject({ outcome: 'sleep', summary: 'Good.' });
    expect(await dataOf(sessionId, 'agent.tool_result')).toMatchObject([
      { outcome: 'completed', output: { output: 'I went on.' } },
    ]);
    const [child] = await dataOf(sessionId, 'agent.subflow_started');
    expect(await dataOf(child?.childSessionId ?? '', 'wake.ended')).toMatchObject([
      { outcome: 'lost' },
      { outcome: 'sleep' },
    ]);
    expect(await dataOf(child?.childSessionId ?? '', 'agent.tool_result')).toMatchObject([{ outcome: 'unknown' }]);
  });
});

describe('a job', () => {
  it.each(['none', 'worktree'] as const)(
    'below the root of a repository commits to it, with isolation %s',
    async (isolation) => {
      await open();
      const folder = await repository(join(home.path, 'mono'));
      await mkdir(join(folder, 'packages', 'a'), { recursive: true });
      await agent(
        'scribe',
        [
          { toolCalls: [shell('echo two > b.txt && git add b.txt && git commit --quiet --message Second')] },
          { text: 'Written.' },
        ],
        'tools: [shell_run]\n',
      );
      const { id } = await runtime.subagents.spawn({
        type: 'scribe',
        prompt: 'Go',
        cwd: join(folder, 'packages', 'a'),
        isolation,
        run: 'in-process',
      });
      expect(await runtime.subagents.wait(id)).toMatchObject({ output: 'Written.' });
      const branch = runtime.subagents.get(id)?.branchName ?? 'HEAD';
      expect(git(folder, 'show', '--name-only', '--format=%s', branch).trim().split(/\n+/)).toEqual([
        'Second',
        'packages/a/b.txt',
      ]);
    },
  );

  it("runs with a backend of one's own, which its process imports", async () => {
    const config = join(home.path, 'wakechart.config.mjs');
    const backend = `{ id: 'mine', runs: 'step', messageIntake: 'next_step', isPlayed: false, asksPermission: () => false, async run() { return { payloads: [{ type: 'text', text: 'Mine, in ' + process.pid }] }; }, abort() {}, isRunActive() { return false; } }`;
    await writeFile(config, `export default { backends: [${backend}] };\n`);
    await open({ config, runConfig: { providers: { mine: { backend: 'mine' } } } });
    await agent('own', []);
    await writeFile(
      join(home.path, 'home', 'agents', 'own', 'agent.md'),
      '---\nname: own\nprovider: mine\nmodel: any\n---\n\nWork.\n',
    );
    const job = await runtime.subagents.spawn({ type: 'own', prompt: 'Go', cwd: home.path });
    const { output } = await runtime.subagents.wait(job.id);
    expect(output).toBe(`Mine, in ${runtime.subagents.get(job.id)?.pid}`);
    expect(output).not.toBe(`Mine, in ${process.pid}`);
  });

  it('for which no process can be opened is told to the listener, and the runtime ends all the same', async () => {
    const heard: unknown[] = [];
    await open({ subagents: { env: { 'not a name': '1' } }, onListenerError: (error) => heard.push(error) });
    await agent('helper', []);
    await agent(
      'lead',
      [{ toolCalls: [{ name: 'helper', input: { message: 'Go' } }] }],
      'tools: [{ agent: helper, run: process }]\n',
    );
    const { sessionId } = await runtime.sessions.create({ agentId: 'lead' });
    await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go' });
    await runtime.wake(sessionId);
    expect(heard.map(String).join()).toContain('env.not a name: Invalid key');
    await expect(runtime.shutdown()).resolves.toBeUndefined();
  });

  it('and its process end with the session that it works for', async () => {
    await open();
    await agent('sleeper', [{ toolCalls: [shell('sleep 600')] }]);
    await agent('lead', []);
    const { sessionId } = await runtime.sessions.create({ agentId: 'lead' });
    const { id } = await runtime.subagents.spawn({
      type: 'sleeper',
      prompt: 'Go',
      cwd: home.path,
      parentSessionId: sessionId,
    });
    await until(() => runtime.subagents.get(id)?.currentTool?.startsWith('shell_run') === true);
    const pid = runtime.subagents.get(id)?.pid ?? 0;
    await runtime.sessions.terminate(sessionId, { reason: 'over' });
    expect(['cancelled', 'failed']).toContain(runtime.subagents.get(id)?.status);
    expect(await isGone(pid)).toBe(true);
    expect(await dataOf(sessionId, 'subagent.ended')).toMatchObject([{ jobId: id }]);
  });
});
