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

// Bounds how long a client waits for what a source is asked.

/**
 * What `value` resolves with, unless that takes so long that the client is told rather than left waiting. @throws
 * Refusal 504
 */
export async function soon<Value>(value: Promise<Value>, requestMs: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () =>
        reject(
          new Refusal(504, 'INSPECTOR_SOURCE_SLOW', `there was no answer within ${requestMs} ms`, {
            hint: 'Try again: an answer to a request counts once, however often it is sent.',
          }),
        ),
      requestMs,
    );
  });
  return Promise.race([value, late]).finally(() => clearTimeout(timer));
}
