import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { AgentRuntimeRegistry } from '../../../src/actors/run/agent-runtime-registry.ts';
import type { AgentRunResult } from '../../../src/actors/run/agent-runtime.ts';
import { executeAgentRun } from '../../../src/actors/run/execute-agent-run.ts';
import type { ExecuteAgentRunOptions, RunDecisionRecord } from '../../../src/actors/run/run-options.ts';
import { MemoryCandidateHealthStore } from '../../../src/adapters/memory/memory-candidate-health-store.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import type { ModelChoice } from '../../../src/machines/run/candidate.ts';
import type { AuthProfile } from '../../../src/machines/run/auth-profile.ts';
import type { AgentRunEvent } from '../../../src/machines/run/run-output.ts';
import type { RunFailureKind } from '../../../src/machines/run/run-failure.ts';
import { fails, hangs, says, toldRuntime } from '../../support/told-runtime.ts';
import type { Act, ToldRuntime } from '../../support/told-runtime.ts';

const START_MS = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;

const A: ModelChoice = { provider: 'a', model: 'm' };
const B: ModelChoice = { provider: 'b', model: 'm' };

interface Stage {
  readonly acts: Readonly<Record<string, readonly Act[]>>;
  readonly profiles?: readonly AuthProfile[];
  readonly turns?: boolean;
}

function stage({ acts, profiles = [], turns = false }: Stage) {
  const clock = createSimulatedClock({ now: START_MS });
  const runtimes: Record<string, ToldRuntime> = Object.fromEntries(
    Object.entries(acts).map(([id, list]) => [id, toldRuntime(id, list, turns ? { runs: 'turn' } : {})]),
  );
  const registry = new AgentRuntimeRegistry(Object.values(runtimes));
  const candidateHealth = new MemoryCandidateHealthStore({ clock });
  const decisions: RunDecisionRecord[] = [];
  const events: AgentRunEvent[] = [];
  const troubles: unknown[] = [];
  const start = (models: readonly ModelChoice[], more: Partial<ExecuteAgentRunOptions> = {}) =>
    executeAgentRun({
      request: {
        runId: 'run_1',
        sessionId: 's',
        config: {},
        workspaceDir: '/w',
        agentDir: '/a',
        modelStepsTaken: 0,
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      },
      models,
      registry,
      clock,
      candidateHealth,
      random: () => 0,
      profiles: {
        list: async (provider) => profiles.filter((profile) => provider === undefined || profile.provider === provider),
        credential: async (profileId) => ({ profileId, secret: `secret of ${profileId}` }),
        add: async () => undefined,
        remove: async () => false,
      },
      onDecision: async (decision) => void decisions.push(decision),
      onEvent: (event) => void events.push(event),
      onListenerError: (error) => void troubles.push(error),
      ...more,
    });
  /** Lets time pass until the run is over. */
  const finish = async (result: Promise<AgentRunResult>): Promise<AgentRunResult> => {
    let over: AgentRunResult | undefined;
    void result.then((value) => {
      over = value;
    });
    for (let turn = 0; turn < 500 && over === undefined; turn += 1) await clock.advance(500);
    return over ?? Promise.reject(new Error('the run has not ended'));
  };
  const run = (models: readonly ModelChoice[], more?: Partial<ExecuteAgentRunOptions>): Promise<AgentRunResult> =>
    finish(start(models, more).result);
  const path = (): string[] =>
    decisions.map((decision) =>
      decision.type === 'selected'
        ? `try ${decision.candidate.provider}${decision.candidate.profile === undefined ? '' : `:${decision.candidate.profile}`}`
        : decision.type === 'failed'
          ? `${decision.error.kind} ${decision.next}`
          : 'wait',
    );
  return { clock, runtimes, candidateHealth, decisions, events, troubles, start, finish, run, path };
}

const two: readonly AuthProfile[] = [
  { id: 'one', provider: 'a' },
  { id: 'other', provider: 'a' },
];

describe('a run with one candidate that answers', () => {
  it('is its answer, and writes nothing about it', async () => {
    const { run, path, events } = stage({ acts: { a: [says('Hello.')] } });
    const result = await run([A]);
    expect(result).toMatchObject({
      payloads: [{ type: 'text', text: 'Hello.' }],
      usage: { inputTokens: 10 },
      meta: { modelSteps: 1, attempts: [{ candidate: A }] },
    });
    expect(result.meta?.error).toBeUndefined();
    expect(result.meta?.fallbackModel).toBeUndefined();
    expect(path()).toEqual(['try a']);
    expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(events.map(({ stream, data }) => ('phase' in data ? `${stream} ${data.phase}` : stream))).toEqual([
      'lifecycle start',
      'attempt started',
      'assistant',
      'lifecycle end',
    ]);
  });

  it('offers the same events as a stream and to an iterator', async () => {
    const { start, events } = stage({ acts: { a: [says('Hello.')] } });
    const run = start([A]);
    const seen: AgentRunEvent[] = [];
    for await (const event of run) seen.push(event);
    expect(seen).toEqual(events);
    await run.result;
  });
});

describe('what comes after a failure', () => {
  // Two accounts of `a`, then the model `b`. A failure that passes is met once, one that does not for ever.
  it.each<[RunFailureKind, readonly string[]]>([
    ['auth', ['try a:one', 'auth rotate_profile', 'try a:other', 'auth fall_back', 'try b']],
    [
      'auth_permanent',
      ['try a:one', 'auth_permanent rotate_profile', 'try a:other', 'auth_permanent fall_back', 'try b'],
    ],
    ['billing', ['try a:one', 'billing rotate_profile', 'try a:other', 'billing fall_back', 'try b']],
    ['rate_limit', ['try a:one', 'rate_limit rotate_profile', 'try a:other', 'rate_limit fall_back', 'try b']],
    [
      'model_not_found',
      ['try a:one', 'model_not_found rotate_profile', 'try a:other', 'model_not_found fall_back', 'try b'],
    ],
    ['overloaded', ['try a:one', 'overloaded back_off', 'try a:one', 'overloaded fall_back', 'try b']],
    ['server_error', ['try a:one', 'server_error back_off', 'try a:one', 'server_error fall_back', 'try b']],
    ['timeout', ['try a:one', 'timeout back_off', 'try a:one', 'timeout fall_back', 'try b']],
    ['empty_response', ['try a:one', 'empty_response back_off', 'try a:one', 'empty_response fall_back', 'try b']],
    ['unknown', ['try a:one', 'unknown rotate_profile', 'try a:other', 'unknown fall_back', 'try b']],
    ['context_overflow', ['try a:one', 'context_overflow fall_back', 'try b']],
    ['format', ['try a:one', 'format fall_back', 'try b']],
    ['refusal', ['try a:one', 'refusal give_up']],
    ['aborted', ['try a:one', 'aborted give_up']],
    [
      'session_expired',
      ['try a:one', 'session_expired rotate_profile', 'try a:other', 'session_expired fall_back', 'try b'],
    ],
    [
      'coordination',
      [
        'try a:one',
        'coordination back_off',
        'try a:one',
        'coordination back_off',
        'try a:one',
        'coordination back_off',
        'try a:one',
        'coordination give_up',
      ],
    ],
  ])('%s: %j', async (kind, expected) => {
    const { run, path } = stage({ acts: { a: [fails(kind)], b: [says('From b.')] }, profiles: two });
    const result = await run([A, B]);
    expect(path()).toEqual(expected);
    if (expected.at(-1) === 'try b')
      expect(result).toMatchObject({
        payloads: [{ text: 'From b.' }],
        meta: { fallbackProvider: 'b', fallbackModel: 'm' },
      });
    else expect(result.meta?.error?.kind).toBe(kind);
    expect(result.meta?.attempts).toHaveLength(path().filter((step) => step.startsWith('try')).length);
  });

  it.each<[RunFailureKind, string]>([
    ['format', 'closed'],
    ['refusal', 'closed'],
    ['unknown', 'closed'],
    ['context_overflow', 'closed'],
    ['coordination', 'closed'],
    ['aborted', 'closed'],
    ['empty_response', 'closed'],
    ['session_expired', 'closed'],
    ['auth', 'cooling'],
    ['rate_limit', 'cooling'],
    ['overloaded', 'cooling'],
    ['server_error', 'cooling'],
    ['timeout', 'cooling'],
    ['billing', 'disabled'],
    ['auth_permanent', 'disabled'],
  ])('%s leaves the candidate %s', async (kind, state) => {
    const { run, candidateHealth } = stage({ acts: { a: [fails(kind)] } });
    await run([A], { limits: { maxBackOffs: 0 } });
    expect(await candidateHealth.read([A])).toMatchObject([{ state }]);
  });

  it('waits as long as the provider asks, and never less', async () => {
    const { run, decisions } = stage({ acts: { a: [fails('rate_limit', { retryAfterMs: 7_000 }), says('Now.')] } });
    expect(await run([A])).toMatchObject({ payloads: [{ text: 'Now.' }] });
    expect(decisions).toMatchObject([
      { type: 'selected' },
      { type: 'failed', next: 'back_off', waitMs: 7_000 },
      { type: 'selected' },
    ]);
  });

  it('does not wait longer than a run may', async () => {
    const { run } = stage({ acts: { a: [fails('rate_limit', { retryAfterMs: 3_600_000 })] } });
    expect((await run([A])).meta?.error).toMatchObject({ kind: 'rate_limit', retryAfterMs: 3_600_000 });
  });

  it('makes no more attempts than one run may, however many candidates there are', async () => {
    const models = Array.from({ length: 30 }, (_, index): ModelChoice => ({ provider: 'a', model: `m${index}` }));
    const { run, path } = stage({ acts: { a: [fails('unknown')] } });
    expect((await run(models)).meta?.attempts).toHaveLength(12);
    expect(path().at(-1)).toBe('unknown give_up');
  });

  it('runs nothing again that has run tools of its own', async () => {
    const acts: Act[] = [
      (_params, tell) => {
        tell({ stream: 'tool', data: { phase: 'requested', callId: '1', name: 'Bash', input: {} } });
        return { payloads: [], meta: { error: { kind: 'overloaded', message: 'busy' } } };
      },
    ];
    const { run, path } = stage({ acts: { a: acts, b: [says('x')] }, turns: true });
    expect((await run([A, B])).meta?.error?.kind).toBe('overloaded');
    expect(path()).toEqual(['try a', 'overloaded give_up']);
  });

  it('adds up what the attempts used', async () => {
    const failing: Act = () => ({
      payloads: [],
      usage: { inputTokens: 100, cachedInputTokens: 5 },
      meta: { modelSteps: 1, error: { kind: 'auth', message: 'no' } },
    });
    const { run } = stage({ acts: { a: [failing], b: [says('x')] } });
    expect(await run([A, B])).toMatchObject({
      usage: { inputTokens: 110, cachedInputTokens: 5, outputTokens: 1 },
      meta: { modelSteps: 2 },
    });
  });

  it('counts the model steps of failed attempts for the next', async () => {
    const failing: Act = () => ({ payloads: [], meta: { modelSteps: 1, error: { kind: 'auth', message: 'no' } } });
    const { run, runtimes } = stage({ acts: { a: [failing], b: [says('x')] } });
    await run([A, B]);
    expect(runtimes['b']?.asked[0]?.modelStepsTaken).toBe(1);
  });
});

describe('a request that a provider does not take', () => {
  it('is not given to another model of the same provider', async () => {
    const { run, path, runtimes } = stage({ acts: { a: [fails('format')], b: [says('From b.')] }, profiles: two });
    expect(await run([A, { ...A, model: 'n' }, B])).toMatchObject({ payloads: [{ text: 'From b.' }] });
    expect([path(), runtimes['a']?.asked.length]).toEqual([['try a:one', 'format fall_back', 'try b'], 1]);
  });

  it('is given up where no other provider is named', async () => {
    const { run, path } = stage({ acts: { a: [fails('format')] }, profiles: two });
    expect((await run([A, { ...A, model: 'n' }])).meta?.error?.kind).toBe('format');
    expect(path()).toEqual(['try a:one', 'format give_up']);
  });
});

describe('a crash of a backend', () => {
  it('is tried once more, then another model is', async () => {
    const { run, path } = stage({ acts: { a: [fails('server_error', { retry: 'once' })], b: [says('From b.')] } });
    await run([A, B]);
    expect(path()).toEqual(['try a', 'server_error back_off', 'try a', 'server_error fall_back', 'try b']);
    const alone = stage({ acts: { a: [fails('server_error', { retry: 'once' })] } });
    await alone.run([A]);
    expect(alone.path()).toEqual(['try a', 'server_error back_off', 'try a', 'server_error give_up']);
  });
});

describe('a context that is too much', () => {
  it('is made smaller once, without a session of the backend that holds all of it', async () => {
    const smaller = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'less' }] }];
    const { run, runtimes, path } = stage({ acts: { a: [fails('context_overflow'), says('It fits.')] } });
    const resumption = () => ({ sessionId: 'x', generation: 1, newMessages: [] });
    expect(await run([A], { compact: async () => smaller, resumption })).toMatchObject({
      payloads: [{ text: 'It fits.' }],
      meta: { compacted: true },
    });
    expect(path()).toEqual(['try a', 'context_overflow compact']);
    expect(runtimes['a']?.asked.map(({ messages, resume }) => [messages, resume?.sessionId])).toEqual([
      [expect.anything(), 'x'],
      [smaller, undefined],
    ]);
  });

  it('falls back at once where nothing can be left out, and after it was made smaller where that was not enough', async () => {
    for (const compact of [undefined, async () => undefined]) {
      const { run, path, runtimes } = stage({ acts: { a: [fails('context_overflow')], b: [says('It fits here.')] } });
      expect(await run([A, B], { compact })).toMatchObject({ payloads: [{ text: 'It fits here.' }] });
      expect([path(), runtimes['a']?.asked.length]).toEqual([['try a', 'context_overflow fall_back', 'try b'], 1]);
    }
    const still = stage({ acts: { a: [fails('context_overflow')], b: [says('It fits here.')] } });
    await still.run([A, B], { compact: async () => [] });
    expect(still.path()).toEqual(['try a', 'context_overflow compact', 'context_overflow fall_back', 'try b']);
  });

  it('is asked for once what could be left out, whoever overflows', async () => {
    let count = 0;
    const { run, path } = stage({ acts: { a: [fails('context_overflow')], b: [fails('context_overflow')] } });
    await run([A, B], {
      compact: async () => {
        count += 1;
        return undefined;
      },
    });
    expect([count, path()]).toEqual([1, ['try a', 'context_overflow fall_back', 'try b', 'context_overflow give_up']]);
  });

  it('fails when it cannot be made smaller, or not enough', async () => {
    const none = stage({ acts: { a: [fails('context_overflow')] } });
    expect((await none.run([A], { compact: async () => undefined })).meta?.error?.kind).toBe('context_overflow');
    const still = stage({ acts: { a: [fails('context_overflow')] } });
    expect((await still.run([A], { compact: async () => [] })).meta?.error?.kind).toBe('context_overflow');
    expect(still.path()).toEqual(['try a', 'context_overflow compact', 'context_overflow give_up']);
  });
});

describe('a session of the backend', () => {
  it('that is gone is given up, and the conversation is given to a new one', async () => {
    const { run, runtimes, path } = stage({ acts: { a: [fails('session_expired'), says('New.')] } });
    await run([A], { resumption: () => ({ sessionId: 'old', generation: 3, newMessages: [] }) });
    expect(path()).toEqual(['try a', 'session_expired back_off', 'try a']);
    expect(runtimes['a']?.asked.map(({ resume }) => resume?.sessionId)).toEqual(['old', undefined]);
  });
});

describe('accounts', () => {
  it('take turns, the one first that was used the longest ago', async () => {
    const { run, path, clock } = stage({ acts: { a: [says('x')] }, profiles: two });
    for (let turn = 0; turn < 4; turn += 1) {
      await run([A]);
      await clock.advance(1_000);
    }
    expect(path()).toEqual(['try a:one', 'try a:other', 'try a:one', 'try a:other']);
  });

  it('are tried in the order that is given', async () => {
    const { run, path } = stage({ acts: { a: [fails('auth')] }, profiles: two });
    await run([{ ...A, profiles: ['other', 'one'] }]);
    expect(path()).toEqual(['try a:other', 'auth rotate_profile', 'try a:one', 'auth give_up']);
  });

  it('that the user insists on are used whatever their health, and no other is', async () => {
    const { run, path, candidateHealth } = stage({ acts: { a: [fails('auth'), says('x')] }, profiles: two });
    const pinned = { ...A, profile: 'one' };
    expect((await run([pinned])).meta?.error?.kind).toBe('auth');
    expect(await candidateHealth.read([pinned])).toMatchObject([{ state: 'cooling' }]);
    expect(await run([pinned])).toMatchObject({ payloads: [{ text: 'x' }] });
    expect(path()).toEqual(['try a:one', 'auth give_up', 'try a:one']);
  });

  it('give the backend what opens them, and a value that is not there is a failure of that account', async () => {
    const { run, runtimes, path } = stage({ acts: { a: [says('x')] }, profiles: two });
    const credential = async (profileId: string) => {
      if (profileId === 'one')
        throw new RuntimeError('AUTH_VALUE_MISSING', 'expected the variable KEY to be set', { category: 'validation' });
      return { profileId, secret: 's' };
    };
    await run([A], {
      profiles: { list: async () => two, credential, add: async () => undefined, remove: async () => false },
    });
    expect(path()).toEqual(['try a:one', 'auth rotate_profile', 'try a:other']);
    expect(runtimes['a']?.asked.map(({ credential: given }) => given?.profileId)).toEqual(['other']);
  });
});

describe('candidates that rest', () => {
  it('are passed over with the reason, until they have recovered, and are back at the first success', async () => {
    const { run, path, clock, decisions, candidateHealth } = stage({
      acts: { a: [fails('rate_limit'), says('Back.')], b: [says('b')] },
    });
    await run([A, B]);
    await run([A, B]);
    expect(path()).toEqual(['try a', 'rate_limit fall_back', 'try b', 'try b']);
    expect(decisions.at(-1)).toMatchObject({
      skipped: [{ candidate: A, because: expect.stringContaining('(rate_limit: it has rate_limit)') as string }],
    });
    await clock.advance(MINUTE_MS);
    expect(await run([A, B])).toMatchObject({ payloads: [{ text: 'Back.' }] });
    expect(await candidateHealth.read([A])).toMatchObject([{ state: 'closed', failures: 0 }]);
  });

  it('are probed by one run at a time', async () => {
    const { start, finish, run, clock, decisions } = stage({
      acts: { a: [fails('rate_limit'), hangs], b: [says('b')] },
    });
    await run([A, B]);
    await clock.advance(MINUTE_MS);
    const stop = new AbortController();
    const probing = start([A, B], { signal: stop.signal });
    await clock.advance(0);
    expect(await run([A, B])).toMatchObject({ payloads: [{ text: 'b' }] });
    expect(decisions.at(-1)).toMatchObject({
      skipped: [{ because: expect.stringContaining('is being tried by another run') }],
    });
    stop.abort('enough');
    await finish(probing.result);
  });

  it('all of them: the run says which and until when, and waits where that is not long', async () => {
    const { run, path, clock } = stage({ acts: { a: [fails('rate_limit'), says('a again')] } });
    await run([A], { limits: { maxBackOffs: 0 } });
    const result = await run([A], { limits: { maxWaitMs: 1_000 } });
    expect(result.meta?.error).toMatchObject({
      kind: 'rate_limit',
      message: expect.stringContaining('a/m cools down until'),
      retryAfterMs: expect.any(Number),
    });
    expect(result.meta?.attempts).toEqual([]);
    expect(await run([A])).toMatchObject({ payloads: [{ text: 'a again' }] });
    expect(path()).toEqual(['try a', 'rate_limit give_up', 'wait', 'try a']);
    expect(clock.now() - START_MS).toBeGreaterThanOrEqual(MINUTE_MS);
  });

  it('cannot stop a run when what is known of them cannot be read', async () => {
    const broken = () => Promise.reject(new Error('disk'));
    const { run, troubles } = stage({ acts: { a: [says('x')] } });
    const candidateHealth = { read: broken, admit: broken, report: broken, reset: broken, list: broken };
    expect(await run([A], { candidateHealth })).toMatchObject({ payloads: [{ text: 'x' }] });
    expect(troubles.length).toBeGreaterThan(0);
  });
});

describe('a stop', () => {
  it('in an attempt keeps what was said, ends as aborted and says nothing against the candidate', async () => {
    const { start, finish, events, candidateHealth, clock } = stage({ acts: { a: [hangs], b: [says('x')] } });
    const stop = new AbortController();
    const run = start([A, B], { signal: stop.signal });
    await clock.advance(10);
    stop.abort('enough');
    const result = await finish(run.result);
    expect(result).toMatchObject({ payloads: [{ text: 'So far' }], meta: { error: { kind: 'aborted' } } });
    expect(events.at(-1)).toMatchObject({ stream: 'lifecycle', data: { phase: 'aborted' } });
    expect(await candidateHealth.read([A])).toMatchObject([{ state: 'closed', failures: 0 }]);
  });

  it('in a wait ends it at once', async () => {
    const { start, clock } = stage({ acts: { a: [fails('overloaded')] } });
    const stop = new AbortController();
    const run = start([A], { signal: stop.signal });
    await clock.advance(10);
    stop.abort('enough');
    await clock.advance(0);
    expect((await run.result).meta?.error?.kind).toBe('aborted');
    expect(clock.now() - START_MS).toBeLessThan(100);
  });

  it('before it begins tries nobody', async () => {
    const { start, finish, runtimes } = stage({ acts: { a: [says('x')] } });
    const result = await finish(start([A], { signal: AbortSignal.abort('no') }).result);
    expect(result.meta?.error?.kind).toBe('aborted');
    expect(runtimes['a']?.asked).toEqual([]);
  });

  it('of a backend that is deaf to it is not waited for longer than the grace', async () => {
    const { start, finish, clock } = stage({ acts: { a: [() => new Promise(() => undefined)] } });
    const stop = new AbortController();
    const run = start([A], { signal: stop.signal });
    await clock.advance(10);
    stop.abort('enough');
    expect((await finish(run.result)).meta?.error).toMatchObject({
      kind: 'aborted',
      message: expect.stringContaining('did not stop in time'),
    });
  });
});

describe('what is broken', () => {
  it('in a backend is a failure of its candidate, and the next is tried', async () => {
    const { run, path } = stage({ acts: { a: [() => Promise.reject(new TypeError('defect'))], b: [says('x')] } });
    await run([A, B]);
    expect(path()).toEqual(['try a', 'unknown fall_back', 'try b']);
  });

  it('in whoever stores decisions ends the run before it acts', async () => {
    const { run, runtimes } = stage({ acts: { a: [says('x')] } });
    const onDecision = () =>
      Promise.reject(new RuntimeError('WAKE_SUPERSEDED', 'another wake', { category: 'conflict' }));
    expect((await run([A], { onDecision })).meta?.error?.kind).toBe('coordination');
    expect(runtimes['a']?.asked).toEqual([]);
  });

  it('in the options is said before anything is done', () => {
    const { start } = stage({ acts: { a: [says('x')] } });
    expect(() => start([])).toThrow(expect.objectContaining({ code: 'RUN_OPTIONS_INVALID' }));
    expect(() => start([{ provider: '', model: 'm' }])).toThrow(
      expect.objectContaining({ code: 'RUN_OPTIONS_INVALID' }),
    );
  });
});
