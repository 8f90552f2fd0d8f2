import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { ActiveRuns, refusedRun } from '../../../src/actors/run/active-runs.ts';
import type { AgentRunParams, AgentRunResult } from '../../../src/actors/run/agent-runtime.ts';
import { RunEvents } from '../../../src/actors/run/run-events.ts';
import type { AgentRunEvent } from '../../../src/machines/run/run-output.ts';

const PARAMS: AgentRunParams = {
  runId: 'r',
  sessionId: 's',
  provider: 'p',
  model: 'm',
  config: {},
  workspaceDir: '/',
  agentDir: '/',
  modelStepsTaken: 0,
  prompt: 'hello',
};

interface Begun {
  readonly result: Promise<AgentRunResult>;
  readonly phases: string[];
  readonly signal: () => AbortSignal | undefined;
  readonly end: () => void;
}

function begin(
  active: ActiveRuns,
  { abortSignal, onStart }: { readonly abortSignal?: AbortSignal; readonly onStart?: () => void } = {},
): Begun {
  const phases: string[] = [];
  const onEvent = ({ stream, data }: AgentRunEvent): void => {
    if (stream === 'lifecycle') phases.push(data.phase);
    if (stream === 'lifecycle' && data.phase === 'start') onStart?.();
  };
  const events = new RunEvents({ runId: 'r', clock: createSimulatedClock(), onEvent });
  let signal: AbortSignal | undefined;
  let end = (): void => undefined;
  const result = active.run(
    { ...PARAMS, ...(abortSignal === undefined ? {} : { abortSignal }) },
    events,
    async (controller) => {
      ({ signal } = controller);
      await new Promise<void>((resolve) => (end = resolve));
      return refusedRun(events, { kind: 'unknown', message: 'over' });
    },
  );
  return { result, phases, signal: () => signal, end: () => end() };
}

describe('a run that is under way', () => {
  it('is active from the call until its work is done', async () => {
    const active = new ActiveRuns();
    const run = begin(active);
    expect(active.has('r')).toBe(true);
    run.end();
    await run.result;
    expect(active.has('r')).toBe(false);
    expect(run.phases).toEqual(['start', 'error']);
  });

  it('is not touched by another of its id, which is refused', async () => {
    const active = new ActiveRuns();
    const run = begin(active);
    const other = begin(active);
    expect((await other.result).meta).toMatchObject({ error: { kind: 'coordination' }, modelSteps: 0 });
    expect(other.phases).toEqual(['start', 'error']);
    expect([active.has('r'), run.signal()?.aborted]).toEqual([true, false]);
    run.end();
    await run.result;
  });

  it('is stopped by its id, even by who only hears of its start', async () => {
    const active = new ActiveRuns();
    const run = begin(active, { onStart: () => active.stop('r') });
    expect(run.signal()?.reason).toBe('aborted by the caller');
    run.end();
    await run.result;
    active.stop('r');
  });

  it('is stopped by the signal of the caller, before it begins or later, with the reason of that', async () => {
    const controller = new AbortController();
    const later = begin(new ActiveRuns(), { abortSignal: controller.signal });
    expect(later.signal()?.aborted).toBe(false);
    controller.abort('enough');
    const before = begin(new ActiveRuns(), { abortSignal: controller.signal });
    expect([later.signal()?.reason, before.signal()?.reason]).toEqual(['enough', 'enough']);
    for (const run of [later, before]) run.end();
    await Promise.all([later.result, before.result]);
  });

  it('is over when its work breaks', async () => {
    const active = new ActiveRuns();
    const events = new RunEvents({ runId: 'r', clock: createSimulatedClock(), onEvent: undefined });
    await expect(active.run(PARAMS, events, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(active.has('r')).toBe(false);
  });
});
