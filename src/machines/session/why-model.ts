/**
 * Why a model speaks in a session: who was asked in the last model step and why, who was passed over, and what was
 * decided after each failure.
 */
import type { Candidate } from '../run/candidate.ts';
import type { RunFailure } from '../run/run-failure.ts';
import type { SessionEvent, SessionEventData, SessionEventOf } from './session-event.ts';

export interface PassedOver {
  readonly candidate: Candidate;
  /** Says also until when it rests, where that is known. */
  readonly because: string;
}

/** What was decided in a step, as it was decided. `at` is ISO-8601, waits are in milliseconds. */
export type ModelDecision =
  | ({ readonly kind: 'failed'; readonly at: string } & Omit<SessionEventData<'run.attempt_failed'>, 'spanId'>)
  | ({ readonly kind: 'selected'; readonly at: string } & Omit<SessionEventData<'run.candidate_selected'>, 'spanId'>)
  | ({ readonly kind: 'waiting'; readonly at: string } & Omit<SessionEventData<'run.waiting'>, 'spanId'>)
  | ({ readonly kind: 'reduced'; readonly at: string } & Omit<SessionEventData<'run.context_reduced'>, 'spanId'>);

export interface ModelExplanation {
  readonly spanId: string;
  /** Number of the step in the session, from 1. */
  readonly step: number;
  /** ISO-8601: when the step began. */
  readonly since: string;
  /** `waiting`: all candidates rest, and the first that recovers is waited for. `lost`: its process died. */
  readonly state: 'running' | 'waiting' | 'completed' | 'failed' | 'aborted' | 'lost';
  /** Who was asked last; of a step in which none could be, the one that would have been. */
  readonly candidate: Candidate;
  readonly backend: string;
  /** Absent: there was no other. */
  readonly because?: string | undefined;
  /** In the last search for a candidate. */
  readonly passedOver: readonly PassedOver[];
  /** In their order; the first choice is not among them. */
  readonly decisions: readonly ModelDecision[];
  /** Why the step failed. */
  readonly error?: RunFailure | undefined;
  /** Why the backend had to be given the whole conversation anew. */
  readonly reseeded?: string | undefined;
}

/** The types of events that tell it. */
export function tellsOfModel({ type }: SessionEvent): boolean {
  return type.startsWith('run.') || type.startsWith('span.') || type === 'backend.session_bound';
}

export function beginsModelStep(event: SessionEvent): event is SessionEventOf<'span.started'> {
  return event.type === 'span.started' && event.data.kind === 'model_step';
}

/** @param events a part of a log, in order. Undefined when no model step began in it. */
export function explainModel(events: readonly SessionEvent[]): ModelExplanation | undefined {
  const first = events.findLastIndex(beginsModelStep);
  const started = events[first];
  if (started?.type !== 'span.started') return undefined;
  return events.slice(first + 1).reduce(withEvent, begun(started));
}

function begun({
  at,
  data: { spanId, step, provider, model, profile, backend, because, skipped = [] },
}: SessionEventOf<'span.started'>): ModelExplanation {
  return {
    spanId,
    step,
    since: at,
    state: 'running',
    candidate: { provider, model, ...(profile === undefined ? {} : { profile }) },
    backend,
    ...(because === undefined ? {} : { because }),
    passedOver: skipped,
    decisions: [],
  };
}

function withEvent(known: ModelExplanation, { type, at, data }: SessionEvent): ModelExplanation {
  const decided = (decision: ModelDecision, change: Partial<ModelExplanation>): ModelExplanation => ({
    ...known,
    ...change,
    decisions: [...known.decisions, decision],
  });
  if (!('spanId' in data) || data.spanId !== known.spanId) return known;
  if (type === 'run.attempt_failed') {
    const { spanId: _, ...failure } = data;
    return decided({ kind: 'failed', at, ...failure }, {});
  }
  if (type === 'run.candidate_selected') {
    const { spanId: _, ...choice } = data;
    const { candidate, backend, because, skipped = [] } = choice;
    return decided(
      { kind: 'selected', at, ...choice },
      { state: 'running', candidate, backend, because, passedOver: skipped },
    );
  }
  if (type === 'run.waiting') {
    const { spanId: _, ...wait } = data;
    return decided({ kind: 'waiting', at, ...wait }, { state: 'waiting', passedOver: wait.skipped ?? [] });
  }
  if (type === 'run.context_reduced') {
    const { spanId: _, ...reduced } = data;
    return decided({ kind: 'reduced', at, ...reduced }, {});
  }
  if (type === 'backend.session_bound')
    return data.reseeded === undefined ? known : { ...known, reseeded: data.reseeded };
  return type === 'span.completed'
    ? { ...known, state: data.outcome, ...(data.error === undefined ? {} : { error: data.error }) }
    : known;
}
