/**
 * Carries out agent tasks with a subagent runner: each is a job with a lifecycle of its own, whose end is settled
 * before its task ends.
 */
import type { AgentTaskRequest } from '../../machines/task/task-request.ts';
import type { BackgroundTaskRunner, BackgroundTaskStart } from '../task/task-runner.ts';
import type { JobEnd } from './job-end.ts';
import { SubagentRun } from './subagent-run.ts';
import type { SubagentRunPorts } from './subagent-run.ts';
import type { SubagentRunner } from './subagent-runner.ts';

export interface SubagentTaskRunnerOptions {
  readonly runner: SubagentRunner;
  /** Called with what the work says. Default: only the task hears it. */
  readonly onProgress?: SubagentRunPorts['onProgress'] | undefined;
  /**
   * Called once per job, when nothing of it runs any more. @returns the end as it is to be shown. Default: nothing is
   * left to do
   */
  readonly settle?: SubagentRunPorts['settle'] | undefined;
}

export class SubagentTaskRunner implements BackgroundTaskRunner<AgentTaskRequest> {
  readonly kind = 'agent';
  readonly #ports: SubagentRunPorts;

  constructor({
    runner,
    onProgress = () => undefined,
    settle = (_jobId, end) => Promise.resolve(end),
  }: SubagentTaskRunnerOptions) {
    const settledAnyhow = async (jobId: string, end: JobEnd): Promise<JobEnd> => {
      try {
        return await settle(jobId, end);
      } catch {
        // How the work ended does not change with what becomes of it.
        return end;
      }
    };
    this.#ports = { runner, onProgress, settle: settledAnyhow };
  }

  start(start: BackgroundTaskStart<AgentTaskRequest>): SubagentRun {
    const run = new SubagentRun(start, this.#ports);
    run.begin();
    return run;
  }
}
