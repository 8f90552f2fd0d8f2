/** Runners as a composition root makes them: with worktrees, if it has an adapter for them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { SubagentJobResult } from '../../../src/actors/subagent/subagent-runner.ts';
import type { SubagentWorktreeAdapter } from '../../../src/actors/subagent/worktree-adapter.ts';
import { createChildProcessSubagentRunnerFactory } from '../../../src/adapters/child-process/runner-factory.ts';
import type { ChildProcessSubagentRunnerOptions } from '../../../src/adapters/child-process/runner-options.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import { jobRequest, workerPath } from './runner-setup.ts';

let folder: string;
let factories: ReturnType<typeof createChildProcessSubagentRunnerFactory>[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'factory-'));
});
afterEach(async () => {
  for (const factory of factories) await factory.close();
  factories = [];
  await rm(folder, { recursive: true, force: true });
});

function factoryWith(
  options: Partial<ChildProcessSubagentRunnerOptions> = {},
): ReturnType<typeof createChildProcessSubagentRunnerFactory> {
  const clock = createSystemClock();
  const factory = createChildProcessSubagentRunnerFactory({
    clock,
    processTree: createProcessTree({ clock }),
    workerPath,
    ...options,
  });
  factories.push(factory);
  return factory;
}

function worktrees(): { readonly adapter: SubagentWorktreeAdapter; readonly acts: string[] } {
  const acts: string[] = [];
  const adapter: SubagentWorktreeAdapter = {
    prepare: ({ jobId }) => {
      acts.push(`prepare ${jobId}`);
      return { repoRoot: '/repository', worktreePath: join(folder, 'tree'), branchName: 'wakechart/job' };
    },
    isClean: () => true,
    remove: () => void acts.push('remove'),
  };
  return { adapter, acts };
}

/** What the worker was told of its request. */
async function cwdOfJob(
  factory: ReturnType<typeof createChildProcessSubagentRunnerFactory>,
): Promise<{ cwd: string; result: SubagentJobResult }> {
  const request = jobRequest({ prompt: '{"behavior":"tells"}', cwd: folder, isolation: 'worktree' });
  const handle = await factory().start({
    jobId: 'job',
    request,
    emit: () => undefined,
    signal: new AbortController().signal,
  });
  const result = await handle.result;
  return { cwd: (JSON.parse(result.output) as { start: { request: { cwd: string } } }).start.request.cwd, result };
}

describe('a runner from the factory', () => {
  it('gives jobs that ask for it a worktree of their own, and removes it', async () => {
    const { adapter, acts } = worktrees();
    const { cwd } = await cwdOfJob(factoryWith({ worktreeAdapter: adapter }));
    expect(cwd).toBe(join(folder, 'tree'));
    expect(acts).toEqual(['prepare job', 'remove']);
  });

  it('gives none where worktrees are switched off, or nobody can make them', async () => {
    const { adapter, acts } = worktrees();
    expect((await cwdOfJob(factoryWith({ worktreeAdapter: adapter, worktreeIsolation: false }))).cwd).toBe(folder);
    expect((await cwdOfJob(factoryWith())).cwd).toBe(folder);
    expect(acts).toEqual([]);
  });

  it('is closed by its factory', async () => {
    const factory = factoryWith();
    const runner = factory();
    await factory.close('the end');
    await expect(
      Promise.resolve(
        runner.start({
          jobId: 'a',
          request: jobRequest(),
          emit: () => undefined,
          signal: new AbortController().signal,
        }),
      ),
    ).rejects.toMatchObject({ code: 'SUBAGENT_RUNNER_CLOSED' });
    expect(() =>
      createChildProcessSubagentRunnerFactory({ wormWorkers: 1 } as unknown as ChildProcessSubagentRunnerOptions),
    ).toThrow(/unknown options: wormWorkers/);
  });
});
