/**
 * Whoever runs a command in a sandbox is ended in the middle of it, politely or not: nothing of the command lives on,
 * whatever it ignores or has left.
 */
import { readFileSync } from 'node:fs';
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNodeRuntime } from '../../../src/node.ts';
import type { NodeRuntime } from '../../../src/node.ts';
import { start } from '../../cli/command-line.ts';
import { eventually, processesWith } from '../../adapters/process-tree/system-processes.ts';
import { processesLeft } from '../../setup/processes-left.ts';
import { hasSandbox } from '../../support/sandbox.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';
import { logOf, ofType } from './learning-home.ts';
import { markOf, writeAgent, writeShutIn } from './shut-in-home.ts';

let folder: TemporaryHome;
let home: string;
let runtime: NodeRuntime;
beforeEach(async () => {
  folder = await temporaryHome();
  home = join(await realpath(folder.path), 'home');
  await mkdir(home, { mode: 0o700 });
  await writeShutIn(home);
});
afterEach(async () => {
  await runtime.shutdown();
  await folder.remove();
});

/** Deaf to what asks it to end, with a child that has left its session. The second time it is over at once. */
const UNYIELDING =
  'trap "" TERM INT HUP; [ -e begun ] && exit 3; touch begun; (setsid sleep 3601 &); sleep 3600 & while :; do sleep 3602; done';
const unyielding = { toolCalls: [{ name: 'shell_run', input: { command: UNYIELDING, timeoutMs: 600_000 } }] };

async function started(agentId: string): Promise<string> {
  const { sessionId } = await runtime.sessions.create({ agentId });
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go.' });
  return sessionId;
}

/** The sandbox with everything in it. */
function commandRuns(): Promise<readonly number[]> {
  return eventually(() => {
    const found = processesWith(markOf(home));
    return found.length >= 5 && found;
  }, 'the command and what it has started run');
}

function parentOf(pid: number): number {
  return Number(
    readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^[\s\S]*\) /, '')
      .split(' ')[1],
  );
}

/** The process between ours and this one. */
function childOfOursAbove(pid: number): number {
  for (let each = pid; each > 1; each = parentOf(each)) if (parentOf(each) === process.pid) return each;
  throw new Error(`process ${pid} is none of ours`);
}

describe.skipIf(!hasSandbox)('a command in a sandbox', { timeout: 120_000 }, () => {
  it('of a called agent is gone when the worker of that is killed, and the caller goes on', async () => {
    await writeAgent(home, 'helper', [unyielding, { text: 'It was over.' }], 'environment: shut\n');
    await writeAgent(
      home,
      'caller',
      [{ toolCalls: [{ name: 'helper', input: { message: 'Help.' } }] }, { text: 'So be it.' }],
      'environment: shut\ntools: [shell_run, { agent: helper, run: process }]\n',
    );
    runtime = await createNodeRuntime({ home });
    const sessionId = await started('caller');
    const waking = runtime.wake(sessionId);
    const running = await commandRuns();
    process.kill(childOfOursAbove(Math.min(...running)), 'SIGKILL');
    expect(await waking).toMatchObject({ outcome: 'sleep', summary: 'So be it.' });
    expect(processesWith(markOf(home)).filter((pid) => running.includes(pid))).toEqual([]);
    expect(ofType(await logOf(runtime, sessionId), 'agent.tool_result')).toHaveLength(1);
    await expectNothingLeft();
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)('of wakechart worker is gone when that gets %s', async (signal) => {
    await writeAgent(home, 'typist', [unyielding, { text: 'It was over.' }], 'environment: shut\n');
    runtime = await createNodeRuntime({ home });
    await started('typist');
    const worker = start(['worker', '--home', home]);
    const running = await commandRuns();
    worker.process.kill(signal);
    await worker.ended;
    // The kernel ends what is in the sandbox of a killed process; that takes it a moment.
    if (signal === 'SIGKILL') await eventually(() => processesWith(markOf(home)).length === 0, 'the sandbox is gone');
    expect(processesWith(markOf(home)).filter((pid) => running.includes(pid))).toEqual([]);
    await expectNothingLeft();
  });
});

async function expectNothingLeft(): Promise<void> {
  await runtime.shutdown();
  expect(processesWith(markOf(home))).toEqual([]);
  expect(processesLeft(folder.path)).toEqual([]);
}
