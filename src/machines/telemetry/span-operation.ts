/** What becomes of the spans of a trace, as data: what a telemetry library is to be told, in this order. */

/**
 * `wake`: one run of an agent. `step`: a model was asked. `attempt`: one candidate of a step that took several. `tool`:
 * a tool call.
 */
export type SpanKind = 'wake' | 'step' | 'attempt' | 'tool';

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** `error` where something failed; who stops an agent, or denies it something, has no error. */
export type SpanStatus = { readonly code: 'unset' } | { readonly code: 'error'; readonly message?: string | undefined };

export interface SpanStart {
  readonly do: 'start';
  readonly kind: SpanKind;
  /** Unique among the open spans. */
  readonly key: string;
  /** Of a span that is open. Absent: it has none. */
  readonly parentKey?: string | undefined;
  readonly name: string;
  readonly attributes: SpanAttributes;
  /** ISO-8601. It may lie in the past. */
  readonly at: string;
}

export interface SpanEnd {
  readonly do: 'end';
  readonly key: string;
  /** Besides those of its start; of one name, these count. */
  readonly attributes: SpanAttributes;
  readonly status: SpanStatus;
  readonly at: string;
}

export type SpanOperation = SpanStart | SpanEnd;
