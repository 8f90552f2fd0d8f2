/**
 * Jobs and called agents in worker processes, for a session that is shut in: their commands are shut in too, and no
 * secret of it lies anywhere.
 */
import { existsSync } from 'node:fs';
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNodeRuntime } from '../../../src/node.ts';
import type { NodeRuntime } from '../../../src/node.ts';
import { eventually, processesWith } from '../../adapters/process-tree/system-processes.ts';
import { processesLeft } from '../../setup/processes-left.ts';
import { hasSandbox } from '../../support/sandbox.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';
import { SECRET } from '../secrets/leaky-agent.ts';
import { logOf, ofType } from './learning-home.ts';
import { TOKEN, leaksIn, markOf, spying, textOfFiles, writeAgent, writeShutIn } from './shut-in-home.ts';

let folder: TemporaryHome;
let home: string;
let project: string;
let runtime: NodeRuntime;
beforeEach(async () => {
  folder = await temporaryHome();
  const real = await realpath(folder.path);
  [home, project] = [join(real, 'home'), join(real, 'project')];
  await mkdir(home, { mode: 0o700 });
  await mkdir(project);
  await writeShutIn(home);
});
afterEach(async () => {
  await runtime.shutdown();
  await folder.remove();
});

const runs = (command: string): object => ({ toolCalls: [{ name: 'shell_run', input: { command, secrets: TOKEN } }] });

/** The output of the commands of every session of an agent. */
async function outputsOf(agentId: string): Promise<string> {
  const sessions = (await runtime.sessions.list()).filter((each) => each.agentId === agentId);
  const logs = await Promise.all(sessions.map(({ sessionId }) => logOf(runtime, sessionId)));
  return JSON.stringify(logs.flatMap((events) => ofType(events, 'agent.tool_result').map(({ data }) => data)));
}

function expectShutIn(outputs: string): void {
  expect(outputs).toContain('pid namespace: bwrap');
  expect(outputs).not.toContain('SEES THE HOME');
  expect(outputs).not.toContain('READS VAULTS');
  // It was there, and was taken out.
  expect(outputs).toContain(`length ${SECRET.length}`);
  expect(outputs).toContain('[redacted github/token]');
}

describe.skipIf(!hasSandbox)('for a session that is shut in', { timeout: 120_000 }, () => {
  it('an agent that it calls in a process of its own runs its commands in the same sandbox, and leaves no secret', async () => {
    await writeAgent(home, 'helper', [runs(spying(home)), { text: `Helped with ${SECRET}.` }], 'environment: shut\n');
    await writeAgent(
      home,
      'caller',
      [{ toolCalls: [{ name: 'helper', input: { message: 'Help.' } }] }, { text: 'Done.' }],
      'environment: shut\ntools: [shell_run, { agent: helper, run: process }]\n',
    );
    runtime = await createNodeRuntime({ home });
    const { sessionId } = await runtime.sessions.create({ agentId: 'caller' });
    await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go.' });
    expect(await runtime.wake(sessionId)).toMatchObject({ outcome: 'sleep' });
    expectShutIn(await outputsOf('helper'));
    await expectNothingLeft();
  });

  it('a job in a worker runs its commands in the sandbox of its parent, though its own agent would work on the host', async () => {
    await writeAgent(home, 'worker', [
      { toolCalls: [{ name: 'shell_run', input: { command: spying(home) } }] },
      { text: 'Worked.' },
    ]);
    await writeAgent(home, 'parent', [{ text: 'Heard.' }], 'environment: shut\n');
    runtime = await createNodeRuntime({ home });
    const { sessionId } = await runtime.sessions.create({ agentId: 'parent' });
    const { id } = await runtime.subagents.spawn({
      type: 'worker',
      prompt: 'Go.',
      cwd: project,
      permissionPolicy: 'preapproved',
      parentSessionId: sessionId,
    });
    expect((await runtime.subagents.wait(id)).output).toContain('Worked.');
    const outputs = await outputsOf('worker');
    expect(outputs).toContain('pid namespace: bwrap');
    expect(outputs).not.toContain('SEES THE HOME');
    await expectNothingLeft();
  });

  it('a job in a worker that has a vault leaves no secret, in its transcript neither, nor in what its worker says', async () => {
    await writeAgent(home, 'worker', [runs(spying(home)), { text: `It is ${SECRET}.` }], 'environment: shut\n');
    await writeAgent(home, 'parent', [{ text: 'Heard.' }], 'environment: shut\n');
    runtime = await createNodeRuntime({ home });
    const { sessionId } = await runtime.sessions.create({ agentId: 'parent' });
    const { id } = await runtime.subagents.spawn({
      type: 'worker',
      prompt: 'Go.',
      cwd: project,
      permissionPolicy: 'preapproved',
      parentSessionId: sessionId,
    });
    await runtime.subagents.wait(id);
    expectShutIn(await outputsOf('worker'));
    const transcript = await textOfFiles(home, `subagents/${id}`);
    expect(transcript).toContain('[redacted github/token]');
    await expectNothingLeft();
  });

  it('a worker that is killed in the middle of a command in the sandbox leaves no process of it', async () => {
    await writeAgent(
      home,
      'worker',
      [runs('touch begun; (setsid sleep 3601 &); sleep 3600 & echo "$TOKEN"; exec sleep 3602')],
      'environment: shut\n',
    );
    await writeAgent(home, 'parent', [{ text: 'Heard.' }], 'environment: shut\n');
    runtime = await createNodeRuntime({ home });
    const { sessionId } = await runtime.sessions.create({ agentId: 'parent' });
    const { id } = await runtime.subagents.spawn({
      type: 'worker',
      prompt: 'Go.',
      cwd: project,
      permissionPolicy: 'preapproved',
      parentSessionId: sessionId,
    });
    await eventually(() => existsSync(join(project, 'begun')), 'the command has begun');
    await eventually(() => processesWith(markOf(home)).length >= 3, 'its processes run');
    const { pid = Number.NaN } = runtime.subagents.get(id) ?? {};
    process.kill(pid, 'SIGKILL');
    await expect(runtime.subagents.wait(id)).rejects.toMatchObject({ category: 'crash' });
    expect(processesWith(markOf(home))).toEqual([]);
    await expectNothingLeft();
  });
});

async function expectNothingLeft(): Promise<void> {
  await runtime.shutdown();
  expect(processesWith(markOf(home))).toEqual([]);
  expect(processesLeft(folder.path)).toEqual([]);
  // Agents' scripts are what the model knows: here they spell the secret out.
  expect((await leaksIn(home)).filter((line) => !line.includes('/play.json:'))).toEqual([]);
}
