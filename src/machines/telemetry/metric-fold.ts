/**
 * Folds the events that wakes append into what is to be counted. It holds what is open of each wake, and no more than a
 * fixed number of that; so many different names are told of each label, and the rest as `other`.
 */
import { beginningOf } from '../cut-text.ts';
import type { SessionEvent, SessionEventOf } from '../session/session-event.ts';
import type { CountedMetric, MetricChange, MetricLabels } from './metric-catalog.ts';

/** Wakes of which something is remembered, at once. The one that began first is given up for another. */
const MAX_TRACKED_WAKES = 10_000;

/** Calls and steps of one wake of which it is known when they began. */
const MAX_OPEN = 200;

/** Different values of one label. Agents, models and tools have names that people and servers choose. */
export const MAX_LABEL_VALUES = 200;

const MAX_LABEL_CHARACTERS = 128;

/** Once it has told so many values of a label. */
export const OTHER = 'other';

interface OpenWake {
  readonly startedAt: string;
  /** By span and by call: when it began. */
  readonly begun: Map<string, string>;
  /** Of the step that runs: another candidate may answer than the one that was asked first. */
  step?: { readonly provider: string; readonly model: string } | undefined;
}

export class MetricFold {
  /** By session. */
  readonly #wakes = new Map<string, OpenWake>();
  readonly #values = new Map<string, Set<string>>();

  /** @param agentId the agent of the session, where it is known */
  take(event: SessionEvent, agentId = 'unknown'): MetricChange[] {
    return [this.#add('wakechart_events_total', { type: event.type }), ...this.#changesOf(event, agentId)];
  }

  /** Of something else that has happened, with its labels bounded as all are. */
  change(metric: CountedMetric, labels: MetricLabels, value: number): MetricChange {
    const bounded = Object.entries(labels).map(([label, text]) => [label, this.#bounded(label, text)]);
    return { metric, labels: Object.fromEntries(bounded) as MetricLabels, value: Math.max(0, value) };
  }

  #changesOf(event: SessionEvent, agent: string): MetricChange[] {
    const { type, sessionId } = event;
    if (type === 'wake.started') return this.#wakeStarted(event, agent);
    if (type === 'wake.ended') return this.#wakeEnded(event, agent);
    if (type === 'run.attempt_failed') return this.#attemptFailed(event);
    if (type === 'span.completed') return this.#stepEnded(event);
    if (type === 'agent.tool_result') return this.#toolEnded(event);
    if (type === 'span.started') {
      this.#begin(event, event.data.spanId);
      this.#chosen(sessionId, event.data);
    } else if (type === 'run.candidate_selected') this.#chosen(sessionId, event.data.candidate);
    else if (type === 'agent.tool_started') this.#begin(event, event.data.callId);
    return this.#asked(event);
  }

  #wakeStarted(event: SessionEventOf<'wake.started'>, agent: string): MetricChange[] {
    this.#track(event);
    return [this.#add('wakechart_wakes_started_total', { agent, trigger: event.data.trigger ?? 'manual' })];
  }

  #attemptFailed({ data: { candidate, error } }: SessionEventOf<'run.attempt_failed'>): MetricChange[] {
    const { provider, model } = candidate;
    return [this.#add('wakechart_model_attempt_failures_total', { provider, model, kind: error.kind })];
  }

  #wakeEnded({ sessionId, at, data }: SessionEventOf<'wake.ended'>, agent: string): MetricChange[] {
    const ended = this.#add('wakechart_wakes_total', { agent, outcome: data.outcome });
    // That a wake before was lost is said within the one that goes on.
    if (data.outcome === 'lost') return [ended];
    const wake = this.#wakes.get(sessionId);
    this.#wakes.delete(sessionId);
    const seconds = secondsBetween(wake?.startedAt, at);
    return [ended, ...this.#observed('wakechart_wake_duration_seconds', { agent }, seconds)];
  }

  #stepEnded({ sessionId, at, data }: SessionEventOf<'span.completed'>): MetricChange[] {
    const wake = this.#wakes.get(sessionId);
    const labels = wake?.step ?? { provider: 'unknown', model: 'unknown' };
    const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, reasoningTokens, cost } = data.usage ?? {};
    const tokens = {
      input: inputTokens,
      output: outputTokens,
      cached_input: cachedInputTokens,
      cache_write: cacheWriteTokens,
      reasoning: reasoningTokens,
    };
    const seconds = secondsBetween(this.#end(wake, data.spanId), at);
    if (wake !== undefined) wake.step = undefined;
    return [
      this.#add('wakechart_model_steps_total', { ...labels, outcome: data.outcome }),
      ...Object.entries(tokens).flatMap(([type, count]) =>
        this.#observed('wakechart_tokens_total', { ...labels, type }, count),
      ),
      ...this.#observed('wakechart_cost_usd_total', labels, cost),
      ...this.#observed('wakechart_model_step_duration_seconds', labels, seconds),
    ];
  }

  #toolEnded({ sessionId, at, data }: SessionEventOf<'agent.tool_result'>): MetricChange[] {
    const seconds = secondsBetween(this.#end(this.#wakes.get(sessionId), data.callId), at);
    return [
      this.#add('wakechart_tool_calls_total', { tool: data.name, outcome: data.outcome }),
      ...this.#observed('wakechart_tool_call_duration_seconds', { tool: data.name }, seconds),
    ];
  }

  #asked({ type }: SessionEvent): MetricChange[] {
    const kind = REQUESTS[type];
    return kind === undefined ? [] : [this.#add('wakechart_requests_total', { kind })];
  }

  #track({ sessionId, at }: SessionEvent): void {
    this.#wakes.delete(sessionId);
    const [oldest] = this.#wakes.keys();
    if (this.#wakes.size >= MAX_TRACKED_WAKES && oldest !== undefined) this.#wakes.delete(oldest);
    this.#wakes.set(sessionId, { startedAt: at, begun: new Map() });
  }

  #begin({ sessionId, at }: SessionEvent, id: string): void {
    const begun = this.#wakes.get(sessionId)?.begun;
    if (begun !== undefined && begun.size < MAX_OPEN) begun.set(id, at);
  }

  #chosen(sessionId: string, { provider, model }: { readonly provider: string; readonly model: string }): void {
    const wake = this.#wakes.get(sessionId);
    if (wake !== undefined) wake.step = { provider, model };
  }

  /** When it began. */
  #end(wake: OpenWake | undefined, id: string): string | undefined {
    const at = wake?.begun.get(id);
    wake?.begun.delete(id);
    return at;
  }

  #add(metric: CountedMetric, labels: MetricLabels): MetricChange {
    return this.change(metric, labels, 1);
  }

  /** What is not known is not told. */
  #observed(metric: CountedMetric, labels: MetricLabels, value: number | undefined): MetricChange[] {
    return value === undefined ? [] : [this.change(metric, labels, value)];
  }

  #bounded(label: string, text: string): string {
    const value = beginningOf(text, MAX_LABEL_CHARACTERS);
    const known = this.#values.get(label) ?? new Set();
    this.#values.set(label, known);
    if (known.has(value)) return value;
    if (known.size >= MAX_LABEL_VALUES) return OTHER;
    known.add(value);
    return value;
  }
}

const REQUESTS: Readonly<Partial<Record<SessionEvent['type'], string>>> = {
  'permission.requested': 'permission',
  'agent.question_asked': 'answer',
  'agent.custom_tool_use': 'custom_tool',
};

function secondsBetween(start: string | undefined, end: string): number | undefined {
  return start === undefined ? undefined : (Date.parse(end) - Date.parse(start)) / 1_000;
}
