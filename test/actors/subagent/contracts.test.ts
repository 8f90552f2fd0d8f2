/**
 * The contracts of the ports of subagents, on what exists only in memory; and the decorator as a runner like any other.
 */
import { describe, expect, it } from 'vitest';
import type { SubagentJobHandle, SubagentRunner } from '../../../src/actors/subagent/subagent-runner.ts';
import { createWorktreeSubagentRunner } from '../../../src/actors/subagent/worktree-subagent-runner.ts';
import type { AgentTaskRequest } from '../../../src/machines/task/task-request.ts';
import { subagentRunnerContract } from '../../../src/testing/subagent-runner-contract.ts';
import type { SubagentRunnerUnderTest } from '../../../src/testing/subagent-runner-contract.ts';
import { worktreeAdapterContract } from '../../../src/testing/worktree-adapter-contract.ts';
import type { WorktreeAdapterUnderTest } from '../../../src/testing/worktree-adapter-contract.ts';
import { agentTask, createMemoryWorktrees } from '../../support/scripted-subagents.ts';

/** Does what the prompt says. */
function obedientRunner(running: Set<string>): SubagentRunner {
  return {
    start({ jobId, request: { prompt }, emit, signal }): SubagentJobHandle {
      running.add(jobId);
      let end: (output: string) => void = () => undefined;
      let stop: () => void = () => undefined;
      const work = new Promise<string>((resolve, reject) => {
        end = resolve;
        stop = () => reject(new Error('stopped'));
      });
      signal.addEventListener('abort', stop);
      if (prompt.startsWith('answer ')) end(prompt.slice('answer '.length));
      if (prompt === 'fail') void Promise.resolve().then(() => stop());
      if (prompt === 'ask')
        emit({
          type: 'background_task_permission_request',
          taskId: jobId,
          requestId: 'q',
          toolName: 'write',
          toolArgs: {},
        });
      const result = work.then((output) => ({ jobId, output })).finally(() => running.delete(jobId));
      result.catch(() => undefined);
      return {
        jobId,
        result,
        cancel: async () => {
          stop();
          await result.catch(() => undefined);
        },
        send: (text) => end(`heard: ${text}`),
        answerPermission: (_requestId, allowed) => end(String(allowed)),
        readLog: (cursor) => ({ taskId: jobId, cursor, lines: (cursor?.offset ?? 0) === 0 ? ['one line'] : [] }),
      };
    },
  };
}

function situations(changes: Partial<AgentTaskRequest>): SubagentRunnerUnderTest['situations'] {
  const request = (prompt: string): AgentTaskRequest => agentTask({ prompt, ...changes });
  return {
    answers: (output) => request(`answer ${output}`),
    fails: () => request('fail'),
    hangs: () => request('hang'),
    asks: () => request('ask'),
    listens: () => request('listen'),
  };
}

const runners: Record<string, () => SubagentRunnerUnderTest> = {
  'a runner in memory': () => {
    const running = new Set<string>();
    return { runner: obedientRunner(running), situations: situations({}), leftBehind: () => [...running] };
  },
  'the worktree runner, for jobs without one': () => {
    const running = new Set<string>();
    const worktrees = createMemoryWorktrees();
    return {
      runner: createWorktreeSubagentRunner({ runner: obedientRunner(running), worktreeAdapter: worktrees }),
      situations: situations({}),
      leftBehind: () => [...running, ...worktrees.present.keys()],
    };
  },
  'the worktree runner, for jobs with one': () => {
    const running = new Set<string>();
    const worktrees = createMemoryWorktrees();
    const runner = createWorktreeSubagentRunner({ runner: obedientRunner(running), worktreeAdapter: worktrees });
    return {
      runner,
      situations: situations({ isolation: 'worktree' }),
      leftBehind: () => [...running, ...worktrees.present.keys()],
    };
  },
};

describe.each(Object.entries(runners))('%s', (_name, open) => {
  it.each(subagentRunnerContract.map(({ name, run }) => [name, run] as const))('%s', async (_case, run) => {
    await expect(run(open())).resolves.toBeUndefined();
  });
});

describe('worktrees in memory', () => {
  const open = (): WorktreeAdapterUnderTest => {
    const adapter = createMemoryWorktrees();
    return {
      adapter,
      cwd: '/repo',
      below: 'packages/core',
      change: ({ worktreePath }) => Promise.resolve(adapter.put(worktreePath, 'dirty')),
      isThere: ({ worktreePath }) => Promise.resolve(adapter.present.has(worktreePath)),
      count: () => Promise.resolve(adapter.present.size),
    };
  };

  it.each(worktreeAdapterContract.map(({ name, run }) => [name, run] as const))('%s', async (_case, run) => {
    await expect(run(open())).resolves.toBeUndefined();
  });
});
