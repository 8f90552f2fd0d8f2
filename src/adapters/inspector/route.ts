/** What a route is, and what all of them share. */
import { sessionId as sessionIdSchema } from '../../machines/ids.ts';
import { Refusal } from './refusal.ts';
import { numberOf } from './request-gate.ts';
import type { Exchange } from './respond.ts';

export interface Visit extends Exchange {
  readonly query: URLSearchParams;
  /** What the address names, decoded; empty where it names nothing. */
  readonly name: string;
}

export interface Route {
  /** Its group, where it has one, is the name. */
  readonly pattern: RegExp;
  readonly methods: readonly string[];
  readonly answer: (visit: Visit) => Promise<void>;
}

export const READING = ['GET', 'HEAD'];

/** Numbers of records and of events. @throws Refusal 400 */
export function sequenceNumber(text: string): number {
  return numberOf('from', text, { min: 1, max: Number.MAX_SAFE_INTEGER });
}

/**
 * The id as it was given, where sessions can have it. @throws Refusal 404 for any other: no source is asked for what
 * cannot be
 */
export function sessionNamed(name: string): string {
  if (!sessionIdSchema.safeParse(name).success) throw sessionUnknown();
  return name;
}

export function sessionUnknown(): Refusal {
  return new Refusal(404, 'INSPECTOR_SESSION_UNKNOWN', 'there is no session of this id', {
    hint: '/api/sessions lists them.',
  });
}
