/** The spans that are open, in the words of OpenTelemetry. */
import type { Span, Tracer } from '@opentelemetry/api';
import type { SpanEnd, SpanKind, SpanOperation, SpanStart } from '../../machines/telemetry/span-operation.ts';

export type TracingApi = Pick<
  typeof import('@opentelemetry/api'),
  'ROOT_CONTEXT' | 'SpanKind' | 'SpanStatusCode' | 'context' | 'trace'
>;

/** Models are asked elsewhere; everything else happens here. */
const IS_ASKED_ELSEWHERE: Readonly<Record<SpanKind, boolean>> = {
  wake: false,
  step: true,
  attempt: false,
  tool: false,
};

interface OpenSpan {
  readonly span: Span;
  readonly startMs: number;
}

export class OpenSpans {
  readonly #api: TracingApi;
  readonly #open = new Map<string, OpenSpan>();

  constructor(api: TracingApi) {
    this.#api = api;
  }

  /** All of them, though one may fail. @throws what the first failed with, when the others are done */
  apply(operations: readonly SpanOperation[]): void {
    const failures: unknown[] = [];
    for (const operation of operations) {
      try {
        if (operation.do === 'start') this.#start(operation);
        else this.#end(operation);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Forgets them without an end. */
  clear(): void {
    this.#open.clear();
  }

  #start({ kind, key, parentKey, name, attributes, at }: SpanStart): void {
    const { SpanKind: kinds, context, trace, ROOT_CONTEXT } = this.#api;
    const parent = parentKey === undefined ? undefined : this.#open.get(parentKey)?.span;
    // A wake belongs to whatever asked for it, if that is traced; what has lost its parent is a trace of its own.
    const surroundings =
      parent === undefined ? (kind === 'wake' ? context.active() : ROOT_CONTEXT) : trace.setSpan(ROOT_CONTEXT, parent);
    const startMs = Date.parse(at);
    const span = this.#tracer().startSpan(
      name,
      {
        kind: IS_ASKED_ELSEWHERE[kind] ? kinds.CLIENT : kinds.INTERNAL,
        attributes: { ...attributes },
        startTime: new Date(startMs),
      },
      surroundings,
    );
    this.#open.set(key, { span, startMs });
  }

  #end({ key, attributes, status, at }: SpanEnd): void {
    const open = this.#open.get(key);
    if (open === undefined) return;
    // Before the exporter hears of it: one that throws must not be told of the same span again.
    this.#open.delete(key);
    const { span, startMs } = open;
    span.setAttributes({ ...attributes });
    if (status.code === 'error')
      span.setStatus({
        code: this.#api.SpanStatusCode.ERROR,
        ...(status.message === undefined ? {} : { message: status.message }),
      });
    // The clock of the records may have been set back.
    span.end(new Date(Math.max(startMs, Date.parse(at))));
  }

  #tracer(): Tracer {
    return this.#api.trace.getTracer('wakechart');
  }
}
