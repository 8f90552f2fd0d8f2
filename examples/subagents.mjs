// @ts-check
/**
 * Three subagents at once on one repository, each in a worktree of its own: one commits, one finds nothing to do, one
 * is cancelled half-way.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createNodeRuntime } from 'wakechart/node';

const folder = await mkdtemp(join(tmpdir(), 'wakechart-example-'));
const shop = join(folder, 'shop');
const home = join(folder, 'home');

/** @param {...string} words */
const git = async (...words) => (await promisify(execFile)('git', ['-C', shop, ...words])).stdout.trim();

await mkdir(shop);
await git('init', '--quiet');
await git('config', 'user.name', 'Example');
await git('config', 'user.email', 'example@wakechart.invalid');
await writeFile(join(shop, 'README.md'), '# A shop\n');
await git('add', '--all');
await git('commit', '--quiet', '--message', 'A shop');

const runtime = await createNodeRuntime({ home });

/**
 * An agent that plays a script: these commands, then this answer. @param {string} agentId @param {string[]} commands
 * @param {string} answer
 */
async function agent(agentId, commands, answer) {
  const steps = [
    ...commands.map((command) => ({ toolCalls: [{ name: 'shell_run', input: { command } }] })),
    { text: answer },
  ];
  await runtime.agents.create({
    agentId,
    source: {
      frontmatter: { name: agentId, provider: 'script', model: 'script.json', tools: ['shell_run'] },
      instructions: 'Work.',
    },
  });
  await writeFile(
    join(home, 'agents', agentId, 'script.json'),
    JSON.stringify({ format: 'wakechart-script/1', steps, onEnd: 'sleep' }),
  );
}

try {
  await agent(
    'writer',
    ['echo "Tea, by the pound." > GUIDE.md', 'git add GUIDE.md && git commit --quiet --message "A guide"'],
    'The guide is written and committed.',
  );
  await agent('checker', ['git log --oneline'], 'There is nothing to do.');
  await agent('dreamer', ['echo "Half a thought" > IDEAS.md', 'exec sleep 600'], 'Never said.');

  // What a job does is seen as it does it.
  const isDreaming = new Promise((resolve) => {
    runtime.subagents.events$().subscribe((event) => {
      if (event.type !== 'background_task_tool_start') return;
      console.log(`${event.taskId} runs ${event.firstArg}`);
      if (event.firstArg?.includes('sleep') === true) resolve(undefined);
    });
  });

  /** @param {string} type */
  const spawn = (type) => runtime.subagents.spawn({ type, prompt: 'Begin.', cwd: shop, isolation: 'worktree' });
  const jobs = [await spawn('writer'), await spawn('checker'), await spawn('dreamer')];
  const ends = jobs.map(({ id, type }) =>
    runtime.subagents.wait(id).then(
      ({ output }) => console.log(`${type}: ${output}`),
      (/** @type {unknown} */ error) =>
        console.log(`${type}: ${error instanceof Error ? error.message : String(error)}`),
    ),
  );
  await isDreaming;
  await runtime.subagents.cancel('agent_3', 'somebody changed their mind');
  await Promise.all(ends);

  // The worktree of a job that left nothing is gone. The others say what is in them, and what to do about it.
  for (const { id } of jobs) {
    const { type, status, worktreeStatus, worktreeNextAction = '' } = runtime.subagents.get(id) ?? {};
    const [next] = worktreeNextAction.replaceAll(folder, '…').split('\n');
    console.log(`${type} is ${status}, its worktree is ${worktreeStatus}. ${next}`.trim());
  }

  const branch = runtime.subagents.get('agent_1')?.branchName ?? '';
  await git('merge', '--quiet', branch);
  console.log(`merged: ${await git('log', '-1', '--format=%s')}`);
} finally {
  await runtime.shutdown();
  await rm(folder, { recursive: true, force: true });
}
