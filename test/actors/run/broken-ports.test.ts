/** What a run tells when a port that its caller gave breaks. */
import { expect, it } from 'vitest';
import type { AgentRunResult } from '../../../src/actors/run/agent-runtime.ts';
import type { ExecuteAgentRunOptions } from '../../../src/actors/run/run-options.ts';
import type { ModelChoice } from '../../../src/machines/run/candidate.ts';
import { runStage } from './run-stage.ts';

const A: ModelChoice = { provider: 'a', model: 'm' };
const B: ModelChoice = { provider: 'b', model: 'm' };
const USED = { inputTokens: 10, outputTokens: 2 };
const failed = async (): Promise<AgentRunResult> => ({
  payloads: [],
  usage: USED,
  meta: { modelSteps: 3, error: { kind: 'unknown', message: 'no' } },
});

it('a choice that cannot be stored ends the run of the candidate that was chosen', async () => {
  const { run, events } = runStage({ acts: { a: [failed], b: [failed] } });
  const { meta } = await run([A, B], {
    onDecision: () => Promise.reject(new Error('disk full')),
    outputBound: ({ provider }) => (provider === 'a' ? 0 : 100),
  });
  expect(meta).toMatchObject({ error: { message: 'disk full' }, fallbackProvider: 'b', modelSteps: 0 });
  expect(events[0]).toMatchObject({ stream: 'lifecycle', data: { phase: 'start', provider: 'b' } });
});

it('a failure that cannot be stored ends the run with what the attempt used', async () => {
  const onDecision: ExecuteAgentRunOptions['onDecision'] = ({ type }) =>
    type === 'failed' ? Promise.reject(new Error('disk full')) : Promise.resolve();
  const result = await runStage({ acts: { a: [failed] } }).run([A], { onDecision });
  expect(result).toMatchObject({ usage: USED, meta: { modelSteps: 3, error: { message: 'disk full' } } });
  expect(result.meta?.attempts).toMatchObject([{ error: { message: 'no' } }]);
});

it('usage that cannot be priced ends the run with the steps that were taken', async () => {
  const usageOf = (): never => {
    throw new Error('no price');
  };
  const { meta } = await runStage({ acts: { a: [failed] } }).run([A], { usageOf });
  expect(meta).toMatchObject({ modelSteps: 3, error: { message: 'no price' } });
});
