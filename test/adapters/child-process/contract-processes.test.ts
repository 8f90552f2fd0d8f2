/** Forked workers keep the contract of subagent runners, and nothing that a worker says can break its parent. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { subagentRunnerContract } from '../../../src/testing/subagent-runner-contract.ts';
import { processesWith } from '../process-tree/system-processes.ts';
import { jobRequest, runnerSetup } from './runner-setup.ts';
import type { RunnerSetup } from './runner-setup.ts';

const MARK = `contract-${process.pid}`;

let setup: RunnerSetup;
beforeEach(async () => {
  setup = await runnerSetup({ killGraceMs: 50, env: { MARK } });
});
afterEach(() => setup.close());

const behaving = (behavior: string, more: Readonly<Record<string, unknown>> = {}) =>
  jobRequest({ prompt: JSON.stringify({ behavior, ...more }) });

describe('forked workers', () => {
  it.each(subagentRunnerContract.map(({ name, run }) => [name, run] as const))('%s', async (_name, run) => {
    await expect(
      run({
        runner: setup.runner,
        situations: {
          answers: (output) => behaving('says', { output }),
          fails: () => behaving('fails in words'),
          hangs: () => behaving('silent'),
          asks: () => behaving('asks'),
          listens: () => behaving('echoes'),
        },
        leftBehind: () => processesWith(`MARK=${MARK}`).map((pid) => `process ${pid}`),
      }),
    ).resolves.toBeUndefined();
  });

  it('settle their jobs once, whatever they send', async () => {
    const word = fc.constantFrom(
      'ready',
      'warm',
      'accepted',
      'sent',
      'text_delta',
      'tool_start',
      'tool_end',
      'permission_request',
      'permission_resolved',
      'activity',
      'progress',
      'result',
      'error',
      'cancelled',
      'start',
      'nonsense',
    );
    const fields = {
      delta: 'x',
      output: 'y',
      message: 'z',
      toolName: 't',
      success: true,
      requestId: 'r',
      id: 'i',
      jobId: 'j',
      v: 1,
      byFile: 'child-1.json',
      bytes: 1,
      sha256: 'a'.repeat(64),
      category: 'crash',
      toolArgs: { a: [1] },
      __proto__: null,
    };
    const message = fc.oneof(
      fc.record(
        { type: word, ...Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, fc.constant(value)])) },
        { requiredKeys: ['type'] },
      ),
      fc.jsonValue(),
    );
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 12 }), async (values) => {
        count += 1;
        const { handle } = await setup.start({ behavior: 'fuzz', values }, { jobId: `fuzz-${count}` });
        const outcome = await handle.result.then(
          ({ output }) => output,
          (error: unknown) => error,
        );
        if (typeof outcome === 'string') expect(['end', 'y']).toContain(outcome);
        else expect(outcome).toMatchObject({ name: 'BackgroundTaskError', category: expect.any(String) as string });
        expect(processesWith(`MARK=${MARK}`)).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });
});
