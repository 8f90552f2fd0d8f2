/** A runner of fixture workers for tests, and what its jobs said. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { SubagentJobHandle, SubagentJobRequest } from '../../../src/actors/subagent/subagent-runner.ts';
import { ChildProcessSubagentRunner } from '../../../src/adapters/child-process/child-process-runner.ts';
import type { ChildProcessSubagentRunnerOptions } from '../../../src/adapters/child-process/runner-options.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import type { BackgroundTaskRunnerEvent } from '../../../src/machines/task/task-state.ts';

export const workerPath = fileURLToPath(new URL('../../fixtures/subagent-workers/worker.mjs', import.meta.url));

export interface RunningJob {
  readonly handle: SubagentJobHandle;
  readonly events: BackgroundTaskRunnerEvent[];
  readonly stop: AbortController;
  /** What it has said so far. */
  text(): string;
}

export interface RunnerSetup {
  readonly folder: string;
  readonly runner: ChildProcessSubagentRunner;
  /** @param prompt a behavior of the fixture worker, or the prompt itself */
  start(
    prompt: string | Readonly<Record<string, unknown>>,
    more?: Partial<SubagentJobRequest> & { readonly jobId?: string },
  ): Promise<RunningJob>;
  /** The records of the transcript of job `job`. */
  transcript(
    jobId?: string,
  ): Promise<readonly { readonly time: string; readonly type: string; readonly data: Record<string, unknown> }[]>;
  close(): Promise<void>;
}

export async function runnerSetup(options: Partial<ChildProcessSubagentRunnerOptions> = {}): Promise<RunnerSetup> {
  const folder = await mkdtemp(join(tmpdir(), 'runner-'));
  const clock = createSystemClock();
  const processTree = createProcessTree({ clock, directory: join(folder, 'processes') });
  const runner = await runnerOrNothing(
    { processTree, clock, workerPath, logsDir: join(folder, 'logs'), ...options },
    folder,
  );
  return {
    folder,
    runner,
    async start(prompt, { jobId = 'job', ...more } = {}) {
      const events: BackgroundTaskRunnerEvent[] = [];
      const stop = new AbortController();
      const request = jobRequest({
        prompt: typeof prompt === 'string' ? prompt : JSON.stringify(prompt),
        cwd: folder,
        ...more,
      });
      const handle = await runner.start({ jobId, request, emit: (event) => events.push(event), signal: stop.signal });
      return {
        handle,
        events,
        stop,
        text: () => events.map((event) => (event.type === 'background_task_text_delta' ? event.delta : '')).join(''),
      };
    },
    async transcript(jobId = 'job') {
      const text = await readFile(join(folder, 'logs', 'parent', 'subagents', `${jobId}.jsonl`), 'utf8');
      return text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { time: string; type: string; data: Record<string, unknown> });
    },
    async close() {
      await runner.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The runners that one test has opened. */
export class OpenRunners {
  readonly #open: RunnerSetup[] = [];

  async open(options: Partial<ChildProcessSubagentRunnerOptions> = {}): Promise<RunnerSetup> {
    const setup = await runnerSetup(options);
    this.#open.push(setup);
    return setup;
  }

  async close(): Promise<void> {
    for (const setup of this.#open.splice(0)) await setup.close();
  }
}

async function runnerOrNothing(
  options: ChildProcessSubagentRunnerOptions,
  folder: string,
): Promise<ChildProcessSubagentRunner> {
  try {
    return new ChildProcessSubagentRunner(options);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

export function jobRequest(more: Partial<SubagentJobRequest> = {}): SubagentJobRequest {
  return {
    kind: 'agent',
    label: 'job',
    mode: 'background',
    parentSessionId: 'parent',
    depth: 0,
    priority: 0,
    cwd: tmpdir(),
    agentType: 'worker',
    prompt: '',
    permissionPolicy: 'inherit-allowlist',
    ...more,
  };
}
