/** Which events of a log belong to one tool call, one model step or one wake. */
import type { SessionEvent } from '../session/session-event.ts';

export type TraceTarget = { readonly kind: 'call' | 'span' | 'wake'; readonly id: string };

export class TraceSelection {
  readonly #target: TraceTarget;
  readonly #events: SessionEvent[] = [];
  readonly #requests = new Set<string>();
  #hasBegun = false;
  #hasEnded = false;

  constructor(target: TraceTarget) {
    this.#target = target;
  }

  get events(): readonly SessionEvent[] {
    return this.#events;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Nothing that follows belongs to it. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The events must come in order. */
  ingest(event: SessionEvent): void {
    if (this.#hasEnded || !this.#belongs(event)) return;
    this.#events.push(event);
    this.#hasBegun ||= this.isBeginning(event);
    this.#hasEnded = this.#isEnd(event);
  }

  isBeginning(event: SessionEvent): boolean {
    const { kind, id } = this.#target;
    if (kind === 'call') return event.type === 'agent.tool_use' && event.data.callId === id;
    if (kind === 'span') return event.type === 'span.started' && event.data.spanId === id;
    return event.type === 'wake.started' && event.data.wakeId === id;
  }

  #belongs(event: SessionEvent): boolean {
    const { kind, id } = this.#target;
    if (kind === 'wake') return this.#hasBegun || this.isBeginning(event);
    const data: Readonly<Record<string, unknown>> = { ...event.data };
    if (kind === 'span') return data['spanId'] === id;
    const { requestId } = data;
    if (data['callId'] === id) {
      if (typeof requestId === 'string') this.#requests.add(requestId);
      return true;
    }
    return typeof requestId === 'string' && this.#requests.has(requestId);
  }

  #isEnd(event: SessionEvent): boolean {
    const { kind, id } = this.#target;
    if (kind === 'call') return event.type === 'agent.tool_result' && event.data.callId === id;
    // What the model said about what comes next is told after the step.
    if (kind === 'span') return false;
    return event.type === 'wake.ended' && event.data.wakeId === id;
  }
}
