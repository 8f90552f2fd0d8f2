/** An activation: "this session has something to do, due at T", and which of two is more urgent. */
import type { WakePriority } from '../wake/directive.ts';

export interface Activation {
  readonly sessionId: string;
  readonly agentId: string;
  /**
   * What makes it due: the id of an ingress event, of a queued wake, or of a wake that has to be followed by another.
   */
  readonly causeId: string;
  readonly kind: ActivationKind;
  /** Milliseconds since the epoch. */
  readonly dueAtMs: number;
  readonly priority: WakePriority;
}

/** `ingress`: a message or an answer came. `wake`: a queued wake. `retry`: a wake ended before its work did. */
export type ActivationKind = 'ingress' | 'wake' | 'retry';

const PRIORITY_RANKS: Readonly<Record<WakePriority, number>> = { high: 0, normal: 1, low: 2 };
const KIND_RANKS: Readonly<Record<ActivationKind, number>> = { ingress: 0, wake: 1, retry: 2 };
const KIND_COUNT = Object.keys(KIND_RANKS).length;

/**
 * How urgent an activation is, its time left aside: by priority, then what a client waits for before what the session
 * planned.
 */
export function urgencyRank({ priority, kind }: Pick<Activation, 'priority' | 'kind'>): number {
  return PRIORITY_RANKS[priority] * KIND_COUNT + KIND_RANKS[kind];
}

/** Orders activations that are due: by their rank, then by time. */
export function compareUrgency(one: Activation, other: Activation): number {
  return (
    urgencyRank(one) - urgencyRank(other) ||
    one.dueAtMs - other.dueAtMs ||
    (one.causeId < other.causeId ? -1 : Number(one.causeId > other.causeId))
  );
}
