import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SessionEvent, SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import { MAX_TRACKED_SESSIONS, SpanFold } from '../../../src/machines/telemetry/span-fold.ts';
import type { SpanAttributes, SpanOperation } from '../../../src/machines/telemetry/span-operation.ts';
import { SESSION_ID, START_MS, anyLog, eventAt, idOf, wakeEnded, wakeStarted } from '../../support/session-events.ts';

/** One second after another. */
function timed(drafts: readonly SessionEventDraft[], sessionId = SESSION_ID): SessionEvent[] {
  return drafts.map((draft, index) => ({
    ...eventAt(index + 1, draft),
    sessionId,
    at: new Date(START_MS + index * 1_000).toISOString(),
  }));
}

interface SeenSpan {
  readonly name: string;
  readonly parent: string | undefined;
  readonly kind: string;
  readonly from: number;
  readonly to: number | undefined;
  readonly attributes: SpanAttributes;
  readonly error: boolean;
}

/** The spans that the operations make, with seconds from the start; an operation on what is not open is a defect. */
function spansOf(operations: readonly SpanOperation[]): SeenSpan[] {
  const open = new Map<string, SeenSpan>();
  const seen: SeenSpan[] = [];
  const second = (at: string): number => (Date.parse(at) - START_MS) / 1_000;
  for (const operation of operations) {
    if (operation.do === 'start') {
      if (open.has(operation.key)) throw new Error(`${operation.key} is open already`);
      const parent = operation.parentKey === undefined ? undefined : open.get(operation.parentKey);
      if (operation.parentKey !== undefined && parent === undefined)
        throw new Error(`${operation.parentKey} is not open`);
      open.set(operation.key, {
        name: operation.name,
        parent: parent?.name,
        kind: operation.kind,
        from: second(operation.at),
        to: undefined,
        attributes: operation.attributes,
        error: false,
      });
    } else {
      const span = open.get(operation.key);
      if (span === undefined) throw new Error(`${operation.key} is not open`);
      open.delete(operation.key);
      seen.push({
        ...span,
        to: second(operation.at),
        attributes: { ...span.attributes, ...operation.attributes },
        error: operation.status.code === 'error',
      });
    }
  }
  return [...seen, ...open.values()];
}

function folded(drafts: readonly SessionEventDraft[], fold = new SpanFold()): SeenSpan[] {
  return spansOf(timed(drafts).flatMap((event) => fold.take(event, 'tester')));
}

const shape = (spans: readonly SeenSpan[]): unknown[] =>
  spans.map(({ name, parent, from, to, error }) => [name, parent, from, to, error]);

const stepBegun: SessionEventDraft = {
  type: 'span.started',
  data: {
    spanId: 's',
    kind: 'model_step',
    backend: 'embedded',
    provider: 'google',
    model: 'm1',
    step: 3,
    contextTokens: 20,
  },
};
const stepEnded = (
  rest: Partial<Extract<SessionEventDraft, { type: 'span.completed' }>['data']> = {},
): SessionEventDraft => ({
  type: 'span.completed',
  data: {
    spanId: 's',
    kind: 'model_step',
    outcome: 'completed',
    modelSteps: 1,
    usage: { inputTokens: 10, outputTokens: 2, cachedInputTokens: 4, cost: 0.5 },
    ...rest,
  },
});
const used = (callId = 'c', by?: 'backend'): SessionEventDraft => ({
  type: 'agent.tool_use',
  data: {
    callId,
    name: 'shell_run',
    input: { command: 'cat secret.txt' },
    spanId: 's',
    ...(by === undefined ? {} : { by }),
  },
});
const started = (callId = 'c', attempt?: number): SessionEventDraft => ({
  type: 'agent.tool_started',
  data: { callId, ...(attempt === undefined ? {} : { attempt }) },
});
const result = (
  callId = 'c',
  outcome: 'completed' | 'failed' | 'denied' | 'cancelled' | 'unknown' = 'completed',
): SessionEventDraft => ({
  type: 'agent.tool_result',
  data: { callId, name: 'shell_run', outcome, output: 'the secret' },
});
const said: SessionEventDraft = { type: 'agent.message', data: { text: 'my secret plan', spanId: 's' } };
const attemptFailed = (
  attempt: number,
  model: string,
  next: 'fall_back' | 'give_up' = 'fall_back',
): SessionEventDraft => ({
  type: 'run.attempt_failed',
  data: {
    spanId: 's',
    attempt,
    candidate: { provider: 'p', model },
    error: { kind: 'rate_limit', message: 'the secret' },
    next,
    because: 'x',
  },
});
const selected = (attempt: number, model: string): SessionEventDraft => ({
  type: 'run.candidate_selected',
  data: { spanId: 's', attempt, candidate: { provider: 'xai', model }, backend: 'embedded', because: 'x' },
});

describe('the spans of a wake', () => {
  it('are the wake, and in it its model steps and the tools that run', () => {
    const spans = folded([
      wakeStarted(1),
      stepBegun,
      said,
      used(),
      stepEnded(),
      started(),
      result(),
      wakeEnded('wake_1'),
    ]);
    expect(shape(spans)).toEqual([
      ['chat m1', 'invoke_agent tester', 1, 4, false],
      ['execute_tool shell_run', 'invoke_agent tester', 5, 6, false],
      ['invoke_agent tester', undefined, 0, 7, false],
    ]);
  });

  it('say who did what with what, in the words of the conventions', () => {
    const [step, tool, wake] = folded([
      wakeStarted(1),
      stepBegun,
      used(),
      stepEnded(),
      started('c', 2),
      result(),
      wakeEnded('wake_1'),
    ]);
    expect(step?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'gcp.gemini',
      'gen_ai.request.model': 'm1',
      'gen_ai.response.model': 'm1',
      'gen_ai.conversation.id': SESSION_ID,
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 2,
      'gen_ai.usage.cache_read.input_tokens': 4,
      'wakechart.usage.cost': 0.5,
      'wakechart.backend': 'embedded',
      'wakechart.context_tokens': 20,
      'wakechart.step.kind': 'model_step',
      'wakechart.step.number': 3,
      'wakechart.step.outcome': 'completed',
      'wakechart.step.attempts': 1,
    });
    expect(tool?.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'shell_run',
      'gen_ai.tool.call.id': 'c',
      'gen_ai.tool.type': 'function',
      'gen_ai.conversation.id': SESSION_ID,
      'wakechart.tool.attempt': 2,
      'wakechart.tool.outcome': 'completed',
    });
    expect(wake?.attributes).toEqual({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.id': 'tester',
      'gen_ai.agent.name': 'tester',
      'gen_ai.conversation.id': SESSION_ID,
      'gen_ai.provider.name': 'gcp.gemini',
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 2,
      'wakechart.usage.cost': 0.5,
      'wakechart.wake.id': 'wake_1',
      'wakechart.wake.epoch': 1,
      'wakechart.wake.outcome': 'sleep',
      'wakechart.wake.model_steps': 1,
    });
  });

  const telling = [
    wakeStarted(1),
    stepBegun,
    said,
    used(),
    attemptFailed(1, 'm1'),
    selected(2, 'm2'),
    stepEnded({ outcome: 'failed', error: { kind: 'auth', message: 'a secret' } }),
    started(),
    result(),
    wakeEnded('wake_1'),
  ];

  it('tell nothing of what was said and given', () => {
    const told = JSON.stringify(timed(telling).flatMap((event) => new SpanFold().take(event)));
    expect(told).not.toContain('secret');
  });

  it('tell as much of it as is asked for', () => {
    const fold = new SpanFold({ contentCharacters: 4 });
    const operations = timed(telling).flatMap((event) => fold.take(event));
    const told = Object.assign({}, ...operations.map(({ attributes }) => attributes)) as SpanAttributes;
    expect(told['gen_ai.tool.call.arguments']).toBe('{"co…');
    expect(told['gen_ai.tool.call.result']).toBe('the …');
    expect(told['gen_ai.output.messages']).toBe(
      '[{"role":"assistant","parts":[{"type":"text","content":"my s…"}],"finish_reason":"stop"}]',
    );
    expect(
      operations.flatMap((operation) =>
        operation.do === 'end' && operation.status.code === 'error' ? [operation.status.message] : [],
      ),
    ).toEqual(['the …', undefined, 'a se…']);
  });
});

describe('a step that took several attempts', () => {
  it('has a span for each of them, the first one from its own beginning', () => {
    const spans = folded([
      wakeStarted(1),
      stepBegun,
      attemptFailed(1, 'm1'),
      selected(2, 'm2'),
      attemptFailed(2, 'm2'),
      selected(3, 'm3'),
      stepEnded(),
    ]);
    expect(shape(spans.slice(0, 4))).toEqual([
      ['attempt m1', 'chat m1', 1, 2, true],
      ['attempt m2', 'chat m1', 3, 4, true],
      ['attempt m3', 'chat m1', 5, 6, false],
      ['chat m1', 'invoke_agent tester', 1, 6, false],
    ]);
    expect(spans[0]?.attributes).toEqual({
      'gen_ai.provider.name': 'p',
      'gen_ai.request.model': 'm1',
      'wakechart.attempt.number': 1,
      'wakechart.attempt.next': 'fall_back',
      'error.type': 'rate_limit',
    });
    expect(spans[3]?.attributes).toMatchObject({
      'gen_ai.request.model': 'm1',
      'gen_ai.response.model': 'm3',
      'gen_ai.provider.name': 'x_ai',
      'wakechart.step.attempts': 3,
    });
  });

  it('fails with the last of them, and says how long it waited', () => {
    const waiting: SessionEventDraft = { type: 'run.waiting', data: { spanId: 's', because: 'all rest', waitMs: 900 } };
    const spans = folded([
      wakeStarted(1),
      stepBegun,
      attemptFailed(1, 'm1'),
      waiting,
      selected(2, 'm2'),
      attemptFailed(2, 'm2', 'give_up'),
      stepEnded({ outcome: 'failed', error: { kind: 'rate_limit', message: 'x' } }),
    ]);
    expect(spans[2]).toMatchObject({
      name: 'chat m1',
      error: true,
      attributes: { 'error.type': 'rate_limit', 'wakechart.step.waited_ms': 900 },
    });
    expect(spans[2]?.attributes).not.toHaveProperty('gen_ai.response.model');
  });
});

describe('a tool call', () => {
  it.each([
    ['completed', undefined, false],
    ['failed', 'failed', true],
    ['denied', undefined, false],
    ['cancelled', undefined, false],
    ['unknown', 'lost', true],
  ] as const)('that is %s has the error %s', (outcome, errorType, isError) => {
    const [, tool] = folded([wakeStarted(1), stepBegun, used(), stepEnded(), started(), result('c', outcome)]);
    expect([tool?.attributes['wakechart.tool.outcome'], tool?.attributes['error.type'], tool?.error]).toEqual([
      outcome,
      errorType,
      isError,
    ]);
  });

  it('that never began has a span without a length', () => {
    expect(shape(folded([wakeStarted(1), stepBegun, used(), stepEnded(), result('c', 'denied')]).slice(1, 2))).toEqual([
      ['execute_tool shell_run', 'invoke_agent tester', 4, 4, false],
    ]);
  });

  it('that is run again has a span for each time', () => {
    const spans = folded([
      wakeStarted(1),
      stepBegun,
      used(),
      stepEnded(),
      started(),
      { type: 'agent.tool_requeued', data: { callId: 'c', attempt: 2 } },
      started('c', 2),
      result(),
      wakeEnded('wake_1'),
    ]);
    expect(shape(spans.slice(1, 3))).toEqual([
      ['execute_tool shell_run', 'invoke_agent tester', 4, 5, true],
      ['execute_tool shell_run', 'invoke_agent tester', 6, 7, false],
    ]);
  });

  it('that was asked for in another wake is as long as it ran', () => {
    expect(shape(folded([wakeStarted(1), started(), result(), wakeEnded('wake_1')]).slice(0, 1))).toEqual([
      ['execute_tool shell_run', 'invoke_agent tester', 1, 2, false],
    ]);
  });

  it('that the backend runs lies in the step that runs it', () => {
    const spans = folded([
      wakeStarted(1),
      stepBegun,
      used('c', 'backend'),
      started(),
      result(),
      used('d', 'backend'),
      result('d'),
      stepEnded(),
      wakeEnded('wake_1'),
    ]);
    expect(shape(spans.slice(0, 2))).toEqual([
      ['execute_tool shell_run', 'chat m1', 3, 4, false],
      ['execute_tool shell_run', 'chat m1', 5, 6, false],
    ]);
    expect(spans[0]?.attributes['wakechart.tool.ran_by']).toBe('backend');
  });
});

describe('a wake that does not end as it should', () => {
  it('fails with the code of its error', () => {
    const failed: SessionEventDraft = {
      type: 'wake.ended',
      data: {
        wakeId: 'wake_1',
        outcome: 'failed',
        summary: 'x',
        modelSteps: 0,
        completedWakeIds: [],
        error: { code: 'MODEL_FAILED', category: 'provider', message: 'secret' },
      },
    };
    expect(folded([wakeStarted(1), failed])[0]).toMatchObject({
      error: true,
      attributes: { 'error.type': 'MODEL_FAILED', 'wakechart.wake.outcome': 'failed' },
    });
  });

  it('is ended with an error by the one that says it is lost, with what was open in it', () => {
    const spans = folded([wakeStarted(1), stepBegun, used(), started(), wakeEnded('wake_1', 'lost'), wakeStarted(2)]);
    expect(shape(spans)).toEqual([
      ['chat m1', 'invoke_agent tester', 1, 4, true],
      ['execute_tool shell_run', 'invoke_agent tester', 3, 4, false],
      ['invoke_agent tester', undefined, 0, 4, true],
      ['invoke_agent tester', undefined, 5, undefined, false],
    ]);
  });

  it('and of which nobody has told has a span without a length, with an error', () => {
    const spans = folded([wakeEnded('wake_1', 'lost'), wakeStarted(2)]);
    expect(shape(spans.slice(0, 1))).toEqual([['invoke_agent tester', undefined, 0, 0, true]]);
    expect(spans[0]?.attributes).toMatchObject({ 'error.type': 'lost', 'wakechart.wake.id': 'wake_1' });
  });

  it('is ended by the next one when nobody says anything', () => {
    const spans = folded([wakeStarted(1), stepBegun, wakeStarted(2)]);
    expect(spans[1]).toMatchObject({
      name: 'invoke_agent tester',
      error: true,
      attributes: { 'error.type': 'superseded' },
    });
  });
});

describe('what a fold holds', () => {
  it('is what is open, and nothing is open for ever', () => {
    const fold = new SpanFold();
    const [begin] = timed([wakeStarted(1)]);
    const first: SpanOperation[] = [];
    if (begin === undefined) throw new Error('expected an event');
    for (let n = 0; n <= MAX_TRACKED_SESSIONS; n += 1) first.push(...fold.take({ ...begin, sessionId: idOf(n) }));
    const ends = first.filter((operation) => operation.do === 'end');
    expect(ends).toEqual([
      expect.objectContaining({
        key: `wake ${idOf(0)} wake_1`,
        status: expect.objectContaining({ code: 'error' }) as unknown,
        attributes: { 'error.type': 'untracked' },
      }),
    ]);
    expect(fold.close(begin.at)).toHaveLength(MAX_TRACKED_SESSIONS);
    expect(fold.close(begin.at)).toEqual([]);
  });

  it('of one wake is bounded too', () => {
    const calls = Array.from({ length: 1_500 }, (_, index) => used(`c${index}`));
    const fold = new SpanFold();
    const spans = folded(
      [wakeStarted(1), stepBegun, ...calls, ...calls.map((_, index) => result(`c${index}`)), wakeEnded('wake_1')],
      fold,
    );
    expect(spans).toHaveLength(1_502);
    expect(fold.close('2026-01-01T00:00:00.000Z')).toEqual([]);
  });

  it('is sound whatever comes in whatever order', () => {
    fc.assert(
      fc.property(anyLog, (events) => {
        const fold = new SpanFold({ contentCharacters: 10 });
        const operations = [...events.flatMap((event) => fold.take(event)), ...fold.close('2027-01-01T00:00:00.000Z')];
        expect(spansOf(operations).filter(({ to }) => to === undefined)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
