/**
 * What goes to and fro between a job in a worker and those who asked for it: questions, answers, follow-ups, long
 * results, last words.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SubagentSpawnRequest } from '../../../src/machines/subagent/subagent-request.ts';
import type { BackgroundTaskEvent } from '../../../src/machines/task/task-state.ts';
import type { NodeRuntime } from '../../../src/node.ts';
import { logOf } from './aftermath.ts';
import { allMarked, jobFor, jobSetup, runs } from './job-setup.ts';
import type { JobSetup } from './job-setup.ts';

const DIST = new URL('../../../dist/node.js', import.meta.url).href;

let setup: JobSetup;
let runtime: NodeRuntime;
let parentId: string;
beforeEach(async () => {
  setup = await jobSetup();
  runtime = await setup.open();
  parentId = await setup.parent();
});
afterEach(() => setup.remove());

type Asked = Extract<BackgroundTaskEvent, { type: 'background_task_permission_request' }>;

/** A job that asks before it does anything, and the first thing that it asks. */
async function askingJob(last: object): Promise<{ readonly id: string; readonly asked: Asked }> {
  await setup.agent('asking', [runs('echo asked > asked.txt'), last], 'permission: ask\n');
  const asking = new Promise<Asked>((resolve) => {
    runtime.subagents.subscribe((event) => {
      if (event.type === 'background_task_permission_request') resolve(event);
    });
  });
  const { id } = await runtime.subagents.spawn(jobFor(setup, 'asking', parentId, { permissionPolicy: 'prompt' }));
  return { id, asked: await asking };
}

const spawn = async (type: string, more: Partial<SubagentSpawnRequest> = {}): Promise<string> =>
  (await runtime.subagents.spawn(jobFor(setup, type, parentId, more))).id;

describe('a job in a worker that asks for permission', { timeout: 60_000 }, () => {
  it('goes on when it is allowed', async () => {
    const { id, asked } = await askingJob({ text: 'Done.', expect: { lastToolResultOutcome: 'completed' } });
    expect(runtime.subagents.get(id)?.status).toBe('waiting_permission');
    await runtime.subagents.answerPermission(id, asked.requestId, true);
    expect(await runtime.subagents.wait(id)).toMatchObject({ output: 'Done.' });
    const { worktreePath = '' } = runtime.subagents.get(id) ?? {};
    expect(await readFile(join(worktreePath, 'asked.txt'), 'utf8')).toBe('asked\n');
  });

  it('hears that it is denied, and goes on without', async () => {
    const { id, asked } = await askingJob({ text: 'Then not.', expect: { lastToolResultOutcome: 'denied' } });
    await runtime.subagents.answerPermission(id, asked.requestId, false);
    expect(await runtime.subagents.wait(id)).toMatchObject({
      output: 'Then not.',
      metadata: { worktreeStatus: 'removed' },
    });
  });

  it('takes the answer that another process writes into its session', async () => {
    const { id } = await askingJob({ text: 'Done.', expect: { lastToolResultOutcome: 'completed' } });
    const sessionId = String(runtime.subagents.get(id)?.metadata?.['wakechart.sessionId']);
    const { pendingActions } = await runtime.sessions.get(sessionId);
    const [action] = pendingActions;
    const answer = JSON.stringify({
      type: 'user.tool_confirmation',
      requestId: action?.requestId,
      toolName: 'shell_run',
      allowed: true,
    });
    await promisify(execFile)(process.execPath, [
      '--input-type=module',
      '-e',
      `const { createNodeRuntime } = await import(${JSON.stringify(DIST)});
       const runtime = await createNodeRuntime({ home: ${JSON.stringify(setup.home)} });
       await runtime.sessions.send(${JSON.stringify(sessionId)}, ${answer});
       await runtime.shutdown();`,
    ]);
    expect(await runtime.subagents.wait(id)).toMatchObject({ output: 'Done.' });
    expect(runtime.subagents.get(id)).toMatchObject({ status: 'completed', worktreeStatus: 'preserved' });
  });

  it('ends all the same when it is cancelled while it waits', async () => {
    const { id } = await askingJob({ text: 'Never said.' });
    await runtime.subagents.cancel(id, 'no answer');
    expect(runtime.subagents.get(id)).toMatchObject({ status: 'cancelled', worktreeStatus: 'removed' });
  });
});

describe('a job in a worker', { timeout: 60_000 }, () => {
  it('reads a follow-up before it says its last word', async () => {
    await setup.agent('listening', [
      runs(`touch '${setup.marks}/begun'; until [ -e '${setup.marks}/sent' ]; do sleep 0.02; done`),
      { text: 'That too.', expect: { lastUserMessageIncludes: 'Also the other one.' } },
    ]);
    const id = await spawn('listening');
    await allMarked(setup, [{ name: 'begun' }]);
    await runtime.subagents.send(id, { prompt: 'Also the other one.' });
    await writeFile(join(setup.marks, 'sent'), '');
    expect(await runtime.subagents.wait(id)).toMatchObject({ output: 'That too.' });
  });

  it('gives a result of five megabytes whole, by file, with its head to be handed around', async () => {
    // Three bytes each, so that a cut in the middle of a character would show.
    const long = `${'€'.repeat(1_700_000)}The end.`;
    await setup.agent('talking', [{ text: long }]);
    const id = await spawn('talking', { outputLimitBytes: 0, repetitionThreshold: 0 });
    const { output, metadata } = await runtime.subagents.wait(id);
    expect(output.length).toBeLessThan(100_000);
    expect(output.startsWith('€€€')).toBe(true);
    expect(output).toContain('[output truncated]');
    expect(metadata).toMatchObject({ outputBytes: Buffer.byteLength(long) });
    expect((await readFile(String(metadata?.['outputPath']), 'utf8')) === long).toBe(true);
    const [ended] = (await logOf(runtime, parentId)).flatMap((event) =>
      event.type === 'subagent.ended' ? [event.data] : [],
    );
    expect(ended?.summary.length).toBeLessThanOrEqual(2_000);
    expect((await stat(ended?.outputPath ?? '')).size).toBe(Buffer.byteLength(long));
    await runtime.subagents.close(id);
    expect(existsSync(ended?.outputPath ?? '')).toBe(false);
  });

  it('leaves its last words when it crashes', async () => {
    const preload = `import { existsSync } from 'node:fs'; setInterval(() => { if (!existsSync(${JSON.stringify(join(setup.marks, 'begun'))})) return; console.error('no more memory for this'); process.exit(7); }, 5).unref();`;
    runtime = await setup.open({
      subagents: { env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload)}` } },
    });
    await setup.agent('dying', [runs(`echo work > new.txt; touch '${setup.marks}/begun'; exec sleep 3600`)]);
    const id = await spawn('dying');
    await expect(runtime.subagents.wait(id)).rejects.toMatchObject({
      category: 'crash',
      details: { exitCode: 7, worktreeStatus: 'preserved' },
    });
    const { failure, worktreePath = '' } = runtime.subagents.get(id) ?? {};
    expect(JSON.stringify(failure)).toContain('no more memory for this');
    expect(await readFile(join(worktreePath, 'new.txt'), 'utf8')).toBe('work\n');
  });

  it('wakes the session that it works for with what it answered', async () => {
    await setup.agent('parent', [{ text: 'Heard.', expect: { lastUserMessageIncludes: 'Done with it.' } }]);
    await setup.agent('working', [{ text: 'Done with it.' }]);
    await runtime.subagents.wait(await spawn('working'));
    const { counts } = await runtime.startWorker({ untilIdle: true }).ended;
    expect(counts).toMatchObject({ succeeded: 1, failed: 0 });
    expect((await logOf(runtime, parentId)).filter(({ type }) => type === 'agent.message')).toMatchObject([
      { data: { text: 'Heard.' } },
    ]);
  });
});
