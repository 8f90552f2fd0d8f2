import { ROOT_CONTEXT, SpanKind, SpanStatusCode, context, trace } from '@opentelemetry/api';
import type { Context, ContextManager } from '@opentelemetry/api';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import { afterEach, describe, expect, it } from 'vitest';
import { createOpenTelemetry } from '../../../src/adapters/opentelemetry/open-telemetry.ts';
import type { Telemetry } from '../../../src/actors/telemetry/telemetry.ts';
import type { SessionEvent, SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import { SESSION_ID, START_MS, eventAt, idOf, wakeEnded, wakeStarted } from '../../support/session-events.ts';

afterEach(() => {
  trace.disable();
  context.disable();
});

const memory = (): InMemorySpanExporter => new InMemorySpanExporter();

function register<Exporter extends SpanExporter>(exporter: Exporter): Exporter {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  return exporter;
}

const LIFE: readonly SessionEventDraft[] = [
  wakeStarted(1),
  {
    type: 'span.started',
    data: { spanId: 's', kind: 'model_step', backend: 'embedded', provider: 'anthropic', model: 'claude', step: 1 },
  },
  { type: 'agent.message', data: { text: 'my secret plan', spanId: 's' } },
  { type: 'agent.tool_use', data: { callId: 'c', name: 'shell_run', input: { command: 'secret' }, spanId: 's' } },
  {
    type: 'span.completed',
    data: {
      spanId: 's',
      kind: 'model_step',
      outcome: 'failed',
      modelSteps: 1,
      usage: { inputTokens: 7 },
      error: { kind: 'overloaded', message: 'secret' },
    },
  },
  { type: 'agent.tool_started', data: { callId: 'c' } },
  { type: 'agent.tool_result', data: { callId: 'c', name: 'shell_run', outcome: 'completed', output: 'secret' } },
  wakeEnded('wake_1'),
];

/** One second after another. */
function events(drafts = LIFE, sessionId = SESSION_ID): SessionEvent[] {
  return drafts.map((draft, index) => ({
    ...eventAt(index + 1, draft),
    sessionId,
    at: new Date(START_MS + index * 1_000).toISOString(),
  }));
}

/** Until the interface is loaded, what was taken waits. */
async function taken(telemetry: Telemetry, all = events()): Promise<void> {
  for (const event of all) telemetry.take(event, 'tester');
  await telemetry.close();
}

const seconds = ([whole, nanos]: readonly [number, number]): number => whole + nanos / 1e9 - START_MS / 1_000;
const byName = (spans: readonly ReadableSpan[], name: string): ReadableSpan => {
  const found = spans.find((span) => span.name === name);
  if (found === undefined)
    throw new Error(`expected a span ${name}, received ${spans.map((span) => span.name).join(', ')}`);
  return found;
};

/** What a program that traces has around a call. */
class FixedContext implements ContextManager {
  readonly #active: Context;

  constructor(active: Context) {
    this.#active = active;
  }

  active = (): Context => this.#active;
  with: ContextManager['with'] = (_context, work, self, ...args) =>
    work.call(self as ThisParameterType<typeof work>, ...args);
  bind: ContextManager['bind'] = (_context, target) => target;
  enable = (): this => this;
  disable = (): this => this;
}

describe('a registered provider', () => {
  it('gets the spans of a wake, one in the other, at the times of the events', async () => {
    const exporter = register(memory());
    await taken(createOpenTelemetry());
    const spans = exporter.getFinishedSpans();
    const [wake, step, tool] = ['invoke_agent tester', 'chat claude', 'execute_tool shell_run'].map((name) =>
      byName(spans, name),
    );
    expect(spans).toHaveLength(3);
    expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1);
    expect([wake?.parentSpanContext, step?.parentSpanContext?.spanId, tool?.parentSpanContext?.spanId]).toEqual([
      undefined,
      wake?.spanContext().spanId,
      wake?.spanContext().spanId,
    ]);
    expect(
      [wake, step, tool].map((span) => [span?.kind, span && seconds(span.startTime), span && seconds(span.endTime)]),
    ).toEqual([
      [SpanKind.INTERNAL, 0, 7],
      [SpanKind.CLIENT, 1, 4],
      [SpanKind.INTERNAL, 5, 6],
    ]);
    expect(step?.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(step?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.usage.input_tokens': 7,
      'error.type': 'overloaded',
    });
    expect(wake?.status).toEqual({ code: SpanStatusCode.UNSET });
    expect(wake?.instrumentationScope.name).toBe('wakechart');
    expect(JSON.stringify(spans.map(({ attributes, status, name }) => [attributes, status, name]))).not.toContain(
      'secret',
    );
  });

  it('gets as much of what was said as is asked for', async () => {
    const exporter = register(memory());
    await taken(createOpenTelemetry({ contentCharacters: 100 }));
    expect(byName(exporter.getFinishedSpans(), 'execute_tool shell_run').attributes).toMatchObject({
      'gen_ai.tool.call.arguments': '{"command":"secret"}',
      'gen_ai.tool.call.result': 'secret',
    });
    expect(byName(exporter.getFinishedSpans(), 'chat claude').status.message).toBe('secret');
    expect(() => createOpenTelemetry({ contentCharacters: -1 })).toThrow(/whole number from 0 on, received -1/);
  });

  it('gets a wake in the trace of whatever asked for it', async () => {
    const exporter = register(memory());
    const outer = trace.getTracer('test').startSpan('request');
    context.setGlobalContextManager(new FixedContext(trace.setSpan(ROOT_CONTEXT, outer)));
    await taken(createOpenTelemetry());
    outer.end();
    expect(byName(exporter.getFinishedSpans(), 'invoke_agent tester').parentSpanContext?.spanId).toBe(
      outer.spanContext().spanId,
    );
  });

  it('gets the wakes of several sessions apart', async () => {
    const exporter = register(memory());
    const [one, two] = [events(), events(LIFE, idOf(9))];
    await taken(
      createOpenTelemetry(),
      one.flatMap((event, index) => [event, two[index] ?? event]),
    );
    expect(new Set(exporter.getFinishedSpans().map((span) => span.spanContext().traceId)).size).toBe(2);
    expect(exporter.getFinishedSpans()).toHaveLength(6);
  });

  it('that comes later gets what happens from then on', async () => {
    const telemetry = createOpenTelemetry();
    const [begun, ...rest] = events();
    if (begun !== undefined) telemetry.take(begun, 'tester');
    const exporter = register(memory());
    await taken(telemetry, rest);
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['chat claude', 'execute_tool shell_run']);
  });

  it('that goes away is left alone, and the next one gets whole wakes only', async () => {
    const first = register(memory());
    const telemetry = createOpenTelemetry();
    const [begun, asked, ...rest] = events();
    for (const event of [begun, asked]) if (event !== undefined) telemetry.take(event, 'tester');
    await new Promise((resolve) => setImmediate(resolve));
    trace.disable();
    for (const event of rest) telemetry.take(event, 'tester');
    const second = register(memory());
    await taken(telemetry);
    expect(first.getFinishedSpans()).toEqual([]);
    expect(second.getFinishedSpans()).toHaveLength(3);
  });

  it('hears of what is open when the telemetry is closed, and of nothing afterwards', async () => {
    const exporter = register(memory());
    const telemetry = createOpenTelemetry({ now: () => START_MS + 60_000 });
    const [begun, asked, ...rest] = events();
    for (const event of [begun, asked]) if (event !== undefined) telemetry.take(event, 'tester');
    await telemetry.close();
    await telemetry.close();
    for (const event of rest) telemetry.take(event);
    expect(exporter.getFinishedSpans().map(({ name, endTime }) => [name, seconds(endTime)])).toEqual([
      ['chat claude', 60],
      ['invoke_agent tester', 60],
    ]);
  });

  it('gets no span that ends before it began when the clock was set back', async () => {
    const exporter = register(memory());
    await taken(
      createOpenTelemetry(),
      events().map((event, index, { length }) => ({
        ...event,
        at: new Date(START_MS + (length - index) * 1_000).toISOString(),
      })),
    );
    for (const { startTime, endTime } of exporter.getFinishedSpans()) expect(endTime).toEqual(startTime);
  });
});

describe('without a provider', () => {
  it('nothing is kept', async () => {
    const telemetry = createOpenTelemetry();
    for (const event of events()) telemetry.take(event);
    const exporter = register(memory());
    await telemetry.close();
    expect(exporter.getFinishedSpans()).toEqual([]);
  });
});

describe('an exporter that', () => {
  const throwing = (): never => {
    throw new Error('the exporter is broken');
  };

  it('throws hurts nobody, and the next span is told to it as if nothing had been', async () => {
    let exported = 0;
    const count = (): never => {
      exported += 1;
      return throwing();
    };
    register({ export: count, shutdown: () => Promise.resolve() });
    await taken(createOpenTelemetry(), [...events(), ...events(LIFE, idOf(9))]);
    expect(exported).toBe(6);
  });

  it('cannot even start a span hurts nobody and is told of once, also to a listener that throws', async () => {
    let told = 0;
    trace.setGlobalTracerProvider({ getTracer: throwing });
    const onError = (): never => {
      told += 1;
      return throwing();
    };
    await taken(createOpenTelemetry({ onError }), [...events(), ...events(LIFE, idOf(9))]);
    expect(told).toBe(1);
  });
});
