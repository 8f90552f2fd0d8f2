/**
 * What one attempt of a run may and may not do: what it says too late, what it was allowed, what it goes on with, and
 * what it may cost.
 */
import { describe, expect, it } from 'vitest';
import type { AgentRunParams, RunPermissionAnswer } from '../../../src/actors/run/agent-runtime.ts';
import { sumOfUsage } from '../../../src/actors/run/sum-of-usage.ts';
import type { ModelChoice } from '../../../src/machines/run/candidate.ts';
import type { AgentRunEventBody } from '../../../src/machines/run/run-output.ts';
import { fails, says } from '../../support/told-runtime.ts';
import type { Act } from '../../support/told-runtime.ts';
import { runStage } from './run-stage.ts';

const A: ModelChoice = { provider: 'a', model: 'm' };
const B: ModelChoice = { provider: 'b', model: 'm' };
const REQUEST = {
  runId: 'run_1',
  sessionId: 's',
  config: {},
  workspaceDir: '/w',
  agentDir: '/a',
  modelStepsTaken: 0,
  messages: [],
};
const allows = async (): Promise<RunPermissionAnswer> => ({ decision: 'allow' });
const failed = (kind: 'overloaded' | 'auth' = 'overloaded') => ({
  payloads: [],
  meta: { error: { kind, message: 'no' } },
});

describe('an attempt that is over', () => {
  it('is not heard any more, and gets no permission', async () => {
    let late: { readonly params: AgentRunParams; readonly tell: (event: AgentRunEventBody) => void } | undefined;
    const leaves: Act = (params, tell) => {
      late = { params, tell };
      return failed('auth');
    };
    let asked = 0;
    const answersLate: Act = async () => {
      late?.tell({ stream: 'assistant', data: { kind: 'text', text: 'from the grave' } });
      late?.tell({ stream: 'tool', data: { phase: 'requested', callId: '1', name: 'Bash', input: {} } });
      expect(await late?.params.requestPermission?.({ callId: '1', name: 'Bash', input: {} })).toMatchObject({
        decision: 'deny',
      });
      return { payloads: [{ type: 'text', text: 'b' }] };
    };
    const { run, events } = runStage({ acts: { a: [leaves], b: [answersLate] }, more: { runs: 'turn' } });
    const requestPermission = (): Promise<RunPermissionAnswer> => {
      asked += 1;
      return allows();
    };
    expect(await run([A, B], { request: { ...REQUEST, requestPermission } })).toMatchObject({
      payloads: [{ text: 'b' }],
    });
    expect([events.filter(({ stream }) => stream === 'assistant' || stream === 'tool'), asked]).toEqual([[], 0]);
  });

  it('is not allowed what was asked for before and answered after', async () => {
    let answer = (_given: RunPermissionAnswer): void => undefined;
    let asked: Promise<RunPermissionAnswer> | undefined;
    const leaves: Act = (params) => {
      asked = params.requestPermission?.({ callId: '1', name: 'Bash', input: {} });
      return failed('auth');
    };
    const { run } = runStage({ acts: { a: [leaves], b: [says('b')] }, more: { runs: 'turn' } });
    await run([A, B], {
      request: { ...REQUEST, requestPermission: () => new Promise((resolve) => (answer = resolve)) },
    });
    answer({ decision: 'allow' });
    expect(await asked).toMatchObject({ decision: 'deny' });
  });
});

describe('a tool that was allowed', () => {
  it('may have run, whether the backend says so or not: nothing is asked again', async () => {
    const acts: Act = async (params) => {
      await params.requestPermission?.({ callId: '1', name: 'Bash', input: {} });
      return failed();
    };
    const { run, path } = runStage({ acts: { a: [acts], b: [says('b')] }, more: { runs: 'turn' } });
    await run([A, B], { request: { ...REQUEST, requestPermission: allows } });
    expect(path()).toEqual(['try a', 'overloaded give_up']);
  });

  it('not that was denied: the next one is tried', async () => {
    const acts: Act = async (params) => {
      await params.requestPermission?.({ callId: '1', name: 'Bash', input: {} });
      return failed('auth');
    };
    const { run, path } = runStage({ acts: { a: [acts], b: [says('b')] }, more: { runs: 'turn' } });
    await run([A, B], {
      request: { ...REQUEST, requestPermission: async () => ({ decision: 'deny', message: 'no' }) },
    });
    expect(path()).toEqual(['try a', 'auth fall_back', 'try b']);
  });
});

describe('a session of the backend', () => {
  const resume = { sessionId: 'old', generation: 1, newMessages: [] };

  it.each<[string, Act, string | undefined]>([
    [
      'after a failure in it: nobody knows what it holds',
      fails('overloaded'),
      'What the session of the backend holds of an attempt that failed is not known.',
    ],
    ['after it was gone', fails('session_expired'), 'The session of the backend was gone.'],
    ['not after a lock of ours: it has heard nothing', fails('coordination'), undefined],
  ])('is begun anew %s', async (_what, act, because) => {
    const told: (string | undefined)[] = [];
    const { run, runtimes } = runStage({ acts: { a: [act, says('a')] } });
    const resumption = (_candidate: unknown, _runtime: unknown, anew: string | undefined) => {
      told.push(anew);
      return resume;
    };
    await run([A], { resumption });
    expect(told).toEqual([undefined, because]);
    expect(runtimes['a']?.asked.map((params) => params.resume?.sessionId)).toEqual([
      'old',
      because === undefined ? 'old' : undefined,
    ]);
  });
});

describe('what the budget leaves', () => {
  const used =
    (inputTokens: number): Act =>
    () => ({ payloads: [], usage: { inputTokens }, meta: { error: { kind: 'overloaded', message: 'busy' } } });

  it('bounds every attempt by what those before it used', async () => {
    const { run, runtimes } = runStage({ acts: { a: [used(30), says('a')] } });
    await run([A], { outputBound: (_candidate, before) => 100 - (before?.inputTokens ?? 0) });
    expect(runtimes['a']?.asked.map(({ budget }) => budget?.maxOutputTokens)).toEqual([100, 70]);
  });

  it('tells every attempt what it may cost, beside what it may write', async () => {
    const { run, runtimes } = runStage({ acts: { a: [used(30), says('a')] } });
    await run([A], { costBound: (before) => 1 - (before?.inputTokens ?? 0) / 100, outputBound: () => 10 });
    expect(runtimes['a']?.asked.map(({ budget }) => budget)).toEqual([
      { maxOutputTokens: 10, maxCost: 1 },
      { maxOutputTokens: 10, maxCost: 0.7 },
    ]);
  });

  it('ends the run once it pays for no other attempt', async () => {
    const { run, path, decisions } = runStage({ acts: { a: [used(100)], b: [says('b')] } });
    const { meta } = await run([A, B], {
      outputBound: (_candidate, before) => Math.max(0, 100 - (before?.inputTokens ?? 0)),
    });
    expect([path(), meta?.error?.kind]).toEqual([['try a', 'overloaded give_up'], 'overloaded']);
    expect(decisions.at(-1)?.because).toBe(
      'What the budget leaves does not pay for the same once more. There is no other candidate.',
    );
  });

  it('goes to a cheaper model', async () => {
    const { run, path } = runStage({ acts: { a: [used(100)], b: [says('b')] } });
    await run([A, B], { outputBound: ({ provider }, before) => (provider === 'a' && before !== undefined ? 0 : 10) });
    expect(path()).toEqual(['try a', 'overloaded fall_back', 'try b']);
  });

  it('passes over what it cannot pay, and says so', async () => {
    const { run, decisions } = runStage({ acts: { a: [says('a')], b: [says('b')] } });
    await run([A, B], { outputBound: ({ provider }) => (provider === 'a' ? 0 : undefined) });
    expect(decisions).toMatchObject([
      { type: 'selected', candidate: B, skipped: [{ candidate: A, because: 'a/m costs more than the budget leaves' }] },
    ]);
  });

  it('for nobody is a failure that says so, with nobody asked', async () => {
    const { run, runtimes } = runStage({ acts: { a: [says('a')] } });
    expect((await run([A], { outputBound: () => 0 })).meta?.error).toMatchObject({
      kind: 'unknown',
      message: 'no candidate can be tried: a/m costs more than the budget leaves',
    });
    expect(runtimes['a']?.asked).toEqual([]);
  });
});

describe('a stop', () => {
  it('in a wait is told with its own reason, not with the failure before it', async () => {
    const { start, clock, events } = runStage({ acts: { a: [fails('overloaded')] } });
    const stop = new AbortController();
    const run = start([A], { signal: stop.signal });
    await clock.advance(10);
    stop.abort('enough');
    await clock.advance(0);
    expect((await run.result).meta?.error).toEqual({ kind: 'aborted', message: 'enough' });
    expect(events.at(-1)?.data).toEqual({ phase: 'aborted', reason: 'enough' });
  });

  it('is not held up by an account whose value never comes', async () => {
    const { start, finish, clock, runtimes } = runStage({ acts: { a: [says('a')] } });
    const stop = new AbortController();
    const profiles = {
      list: async () => [{ id: 'one', provider: 'a' }],
      credential: () => new Promise<never>(() => undefined),
      add: async () => undefined,
      remove: async () => false,
    };
    const run = start([A], { signal: stop.signal, profiles });
    await clock.advance(10);
    stop.abort('enough');
    expect((await finish(run.result)).meta?.error?.kind).toBe('aborted');
    expect(runtimes['a']?.asked).toEqual([]);
  });
});

describe('the sum of what attempts used', () => {
  it.each([
    [undefined, undefined, undefined],
    [{ inputTokens: 1 }, undefined, { inputTokens: 1 }],
    [
      { inputTokens: 1, cost: 0.5 },
      { inputTokens: 2, outputTokens: 3 },
      { inputTokens: 3, outputTokens: 3, cost: 0.5 },
    ],
    [{ inputTokens: 1 }, { outputTokens: 1, isEstimate: true }, { inputTokens: 1, outputTokens: 1, isEstimate: true }],
  ])('%j and %j is %j', (one, other, sum) => {
    expect(sumOfUsage(one, other)).toEqual(sum);
  });
});
