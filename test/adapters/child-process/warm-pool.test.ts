/** Workers that wait for jobs: loaded before they are needed, used once, replaced, and never in the way. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ChildProcessSubagentRunner } from '../../../src/adapters/child-process/child-process-runner.ts';
import type { ChildProcessSubagentRunnerOptions } from '../../../src/adapters/child-process/runner-options.ts';
import { eventually, isRunning, processesWith } from '../process-tree/system-processes.ts';
import { runnerSetup } from './runner-setup.ts';
import type { RunnerSetup } from './runner-setup.ts';

let setups: RunnerSetup[] = [];
/** Workers of one setup are found by a variable of its own. */
const mark = (setup: number): string => `mark-${process.pid}-${setup}`;
const open = async (
  options: Partial<ChildProcessSubagentRunnerOptions> = {},
): Promise<RunnerSetup & { workers(): number[] }> => {
  const own = mark(setups.length);
  const setup = await runnerSetup({ killGraceMs: 50, ...options, env: { MARK: own, ...options.env } });
  setups.push(setup);
  return { ...setup, workers: () => processesWith(`MARK=${own}`) };
};
afterEach(async () => {
  for (const setup of setups) await setup.close();
  setups = [];
});

const warmed = (runner: ChildProcessSubagentRunner, count: number): Promise<unknown> =>
  eventually(() => runner.warmWorkers === count, `${count} warm workers`);

describe('warm workers', () => {
  it('are made in the background, and used for one job each', async () => {
    const setup = await open({ warmWorkers: 2 });
    await warmed(setup.runner, 2);
    const waiting = setup.workers();
    expect(waiting).toHaveLength(2);
    const jobs = await Promise.all(['a', 'b'].map((jobId) => setup.start('', { jobId })));
    expect(new Set(jobs.map(({ handle }) => handle.pid))).toEqual(new Set(waiting));
    for (const { handle } of jobs) await handle.result;
    await warmed(setup.runner, 2);
    expect(setup.workers().some((pid) => waiting.includes(pid))).toBe(false);
  });

  it('are not waited for: a job that finds none gets a worker of its own', async () => {
    const setup = await open({ warmWorkers: 1 });
    const { handle } = await setup.start('at once');
    expect((await handle.result).output).toBe('done: at once');
  });

  it('are replaced when they die, and do not use up the machine when they die again and again', async () => {
    const setup = await open({ warmWorkers: 1 });
    await warmed(setup.runner, 1);
    const [first = 0] = setup.workers();
    process.kill(first, 'SIGKILL');
    await eventually(() => setup.runner.warmWorkers === 1 && !setup.workers().includes(first), 'another worker');
    const dying = await open({ warmWorkers: 1, env: { BEHAVIOR: 'dies when prepared' } });
    const seen = new Set<number>();
    await eventually(() => {
      for (const pid of dying.workers()) seen.add(pid);
      return seen.size >= 3;
    }, 'three that died');
    // Two pauses at least lie between three of them; without pauses there would be dozens.
    expect(seen.size).toBe(3);
    expect(dying.runner.warmWorkers).toBe(0);
  });

  it.each(['never warm', 'cannot be warm'])('take a job all the same when they are %s', async (behavior) => {
    const setup = await open({ warmWorkers: 2, env: { BEHAVIOR: behavior } });
    await eventually(() => setup.workers().length >= 1, 'a worker');
    expect((await (await setup.start('cold')).handle.result).output).toBe('done: cold');
    await eventually(() => setup.workers().length >= 1, 'another worker');
    expect(setup.runner.warmWorkers).toBe(0);
    await setup.runner.close();
    expect(setup.workers()).toEqual([]);
  });

  it('end when the runner is closed, whatever they were doing', async () => {
    for (const wait of [false, true]) {
      const setup = await open({ warmWorkers: 2 });
      if (wait) await warmed(setup.runner, 2);
      await setup.runner.close();
      expect(setup.workers()).toEqual([]);
    }
  });

  it('have no keys while they wait, and get those of their job with it', async () => {
    vi.stubEnv('SOME_API_KEY', 'very-secret-value');
    try {
      const setup = await open({ warmWorkers: 1 });
      await warmed(setup.runner, 1);
      const [waiting] = setup.workers();
      const { handle } = await setup.start(
        { behavior: 'tells' },
        { providerProfile: { name: 'mine', provider: 'openai', apiKeyEnv: 'SOME_API_KEY' } },
      );
      expect(handle.pid).toBe(waiting);
      const { env, born } = JSON.parse((await handle.result).output) as { env: Record<string, string>; born: string };
      expect(env['SOME_API_KEY']).toBe('[redacted SOME_API_KEY]');
      expect(born).not.toContain('SOME_API_KEY');
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('can be cancelled like any other', async () => {
    const setup = await open({ warmWorkers: 1 });
    await warmed(setup.runner, 1);
    const { handle } = await setup.start({ behavior: 'silent' });
    await handle.cancel('enough');
    expect(isRunning(handle.pid ?? 0)).toBe(false);
    await expect(handle.result).rejects.toMatchObject({ code: 'SUBAGENT_CANCELLED' });
  });
});
