/** An activation: "this session has something to do, due at T", and which of two is more urgent. */
import * as z from 'zod';
import { agentId, sessionId } from '../ids.ts';
import { parseOrThrow } from '../validate.ts';
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

// What a hint of an activation has to look like, wherever it is kept: names of files and rows of tables are made from
// it.

/** Characters of a cause's id. */
export const MAX_CAUSE_ID_CHARACTERS = 100;

/** The end of the year 9999: later times have no fixed number of digits. */
export const MAX_DUE_AT_MS = Date.UTC(10_000, 0) - 1;

const activation = z.object({
  sessionId,
  agentId,
  causeId: z
    .string()
    .regex(/^[A-Za-z0-9_.-]+$/, 'letters, digits, "_", "." and "-"')
    .max(MAX_CAUSE_ID_CHARACTERS),
  kind: z.enum(['ingress', 'wake', 'retry']),
  dueAtMs: z.number().int().min(0).max(MAX_DUE_AT_MS),
  priority: z.enum(['low', 'normal', 'high']),
});

/** @throws RuntimeError ACTIVATION_INVALID naming each wrong place */
export function checkActivation(value: Activation): Activation {
  return parseOrThrow(activation, value, {
    what: 'activation',
    code: 'ACTIVATION_INVALID',
    hint: 'Name the session, its agent and the cause by their ids, and give the time in whole milliseconds since the epoch.',
  });
}

/** Whether it could have been made: nothing else has to be searched for. */
export function isActivation(value: Activation): boolean {
  return activation.safeParse(value).success;
}
