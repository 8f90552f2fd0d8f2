import parsePrometheus from 'parse-prometheus-text-format';
import { describe, expect, it } from 'vitest';
import { MetricRegistry } from '../../../src/machines/telemetry/metric-registry.ts';
import { MAX_LABEL_VALUES, MetricFold, OTHER } from '../../../src/machines/telemetry/metric-fold.ts';
import { prometheusText } from '../../../src/machines/telemetry/prometheus-text.ts';
import type { MetricChange } from '../../../src/machines/telemetry/metric-catalog.ts';
import type { SessionEvent, SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import { START_MS, eventAt, wakeEnded, wakeStarted } from '../../support/session-events.ts';

/** One second after another. */
const events = (...drafts: readonly SessionEventDraft[]): SessionEvent[] =>
  drafts.map((draft, index) => ({
    ...eventAt(index + 1, draft),
    at: new Date(START_MS + index * 1_000).toISOString(),
  }));

const changesOf = (...drafts: readonly SessionEventDraft[]): MetricChange[] => {
  const fold = new MetricFold();
  return events(...drafts).flatMap((event) => fold.take(event, 'tester'));
};

const valueOf = (changes: readonly MetricChange[], metric: string, labels: object = {}): number | undefined => {
  const found = changes.filter(
    (change) =>
      change.metric === metric && Object.entries(labels).every(([name, value]) => change.labels[name] === value),
  );
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
};

const STEP: SessionEventDraft = {
  type: 'span.started',
  data: { spanId: 's', kind: 'model_step', backend: 'embedded', provider: 'anthropic', model: 'claude', step: 1 },
};

const DONE: SessionEventDraft = {
  type: 'span.completed',
  data: {
    spanId: 's',
    kind: 'model_step',
    outcome: 'completed',
    modelSteps: 1,
    usage: { inputTokens: 7, outputTokens: 3, cachedInputTokens: 2, cost: 0.25 },
  },
};

describe('what is counted of a wake', () => {
  it('is how it began, how it ended and how long it took', () => {
    const changes = changesOf(wakeStarted(1), STEP, DONE, wakeEnded('wake_1'));
    expect(valueOf(changes, 'wakechart_wakes_started_total', { agent: 'tester' })).toBe(1);
    expect(valueOf(changes, 'wakechart_wakes_total', { agent: 'tester', outcome: 'sleep' })).toBe(1);
    expect(valueOf(changes, 'wakechart_wake_duration_seconds')).toBe(3);
    expect(valueOf(changes, 'wakechart_events_total')).toBe(4);
  });

  it('is what its model steps used, by the model that answered', () => {
    const other = { provider: 'openai', model: 'gpt' };
    const changes = changesOf(
      wakeStarted(1),
      STEP,
      {
        type: 'run.attempt_failed',
        data: {
          spanId: 's',
          attempt: 1,
          candidate: { provider: 'anthropic', model: 'claude' },
          error: { kind: 'overloaded', message: 'busy' },
          next: 'fall_back',
          because: 'it is busy',
        },
      },
      {
        type: 'run.candidate_selected',
        data: { spanId: 's', attempt: 2, candidate: other, backend: 'embedded', because: 'it is next' },
      },
      DONE,
    );
    expect(valueOf(changes, 'wakechart_model_attempt_failures_total', { model: 'claude', kind: 'overloaded' })).toBe(1);
    expect(valueOf(changes, 'wakechart_model_steps_total', { ...other, outcome: 'completed' })).toBe(1);
    expect(valueOf(changes, 'wakechart_tokens_total', { ...other, type: 'input' })).toBe(7);
    expect(valueOf(changes, 'wakechart_tokens_total', { ...other, type: 'cached_input' })).toBe(2);
    expect(valueOf(changes, 'wakechart_tokens_total', { type: 'reasoning' })).toBeUndefined();
    expect(valueOf(changes, 'wakechart_cost_usd_total', other)).toBe(0.25);
    expect(valueOf(changes, 'wakechart_model_step_duration_seconds', other)).toBe(3);
  });

  it('is its tool calls, and how long those ran that began in it', () => {
    const changes = changesOf(
      wakeStarted(1),
      { type: 'agent.tool_started', data: { callId: 'c' } },
      { type: 'agent.tool_result', data: { callId: 'c', name: 'shell_run', outcome: 'failed', output: '' } },
      { type: 'agent.tool_result', data: { callId: 'd', name: 'read', outcome: 'denied', output: '' } },
    );
    expect(valueOf(changes, 'wakechart_tool_calls_total', { tool: 'shell_run', outcome: 'failed' })).toBe(1);
    expect(valueOf(changes, 'wakechart_tool_calls_total', { tool: 'read', outcome: 'denied' })).toBe(1);
    expect(valueOf(changes, 'wakechart_tool_call_duration_seconds', { tool: 'shell_run' })).toBe(1);
    expect(valueOf(changes, 'wakechart_tool_call_duration_seconds', { tool: 'read' })).toBeUndefined();
  });

  it('counts a wake that was lost before as lost, and goes on with its own', () => {
    const changes = changesOf(wakeStarted(2), wakeEnded('wake_1', 'lost'), wakeEnded('wake_2'));
    expect(valueOf(changes, 'wakechart_wakes_total', { outcome: 'lost' })).toBe(1);
    expect(valueOf(changes, 'wakechart_wake_duration_seconds')).toBe(2);
  });

  it('tells no more than so many names of tools, and no session', () => {
    const fold = new MetricFold();
    const told = new Set<string | undefined>();
    for (let n = 0; n < MAX_LABEL_VALUES + 50; n += 1) {
      const [event] = events({
        type: 'agent.tool_result',
        data: { callId: 'c', name: `tool_${n}`, outcome: 'completed', output: '' },
      });
      for (const { metric, labels } of event === undefined ? [] : fold.take(event)) {
        expect(Object.values(labels)).not.toContain(event?.sessionId);
        if (metric === 'wakechart_tool_calls_total') told.add(labels['tool']);
      }
    }
    expect(told.size).toBe(MAX_LABEL_VALUES + 1);
    expect(told).toContain(OTHER);
  });
});

describe('the text for a scraper', () => {
  it('is read by a parser of it, with names that hold quotes, line breaks and backslashes', () => {
    const book = new MetricRegistry();
    const tool = 'a "b"\n\\c, {d}';
    book.apply([
      { metric: 'wakechart_tool_calls_total', labels: { tool, outcome: 'completed' }, value: 1 },
      { metric: 'wakechart_tool_calls_total', labels: { outcome: 'completed', tool }, value: 1 },
    ]);
    const text = prometheusText(book.families([{ metric: 'wakechart_store_up', labels: {}, value: 1 }]));
    expect(text.endsWith('\n')).toBe(true);
    expect(parsePrometheus(text)).toMatchObject([
      {
        name: 'wakechart_tool_calls_total',
        type: 'COUNTER',
        metrics: [{ value: '2', labels: { outcome: 'completed' } }],
      },
      { name: 'wakechart_store_up', type: 'GAUGE', metrics: [{ value: '1' }] },
    ]);
    expect(text).toContain('{tool="a \\"b\\"\\n\\\\c, {d}",outcome="completed"} 2');
  });

  it('gives histograms cumulative buckets, their sum and their count', () => {
    const book = new MetricRegistry();
    for (const value of [0.2, 4, 4_000])
      book.apply([{ metric: 'wakechart_wake_duration_seconds', labels: { agent: 'tester' }, value }]);
    const text = prometheusText(book.families());
    expect(text).toContain('wakechart_wake_duration_seconds_sum{agent="tester"} 4004.2\n');
    expect(text).toContain('wakechart_wake_duration_seconds_count{agent="tester"} 3\n');
    const [family] = parsePrometheus(text);
    expect(family?.type).toBe('HISTOGRAM');
    const buckets = family?.metrics[0]?.buckets ?? {};
    expect(buckets).toMatchObject({ '0.1': '0', '0.5': '1', '5': '2', '1800': '2', '+Inf': '3' });
  });
});
