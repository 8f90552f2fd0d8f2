/**
 * What a hint of an activation has to look like, wherever it is kept: names of files and rows of tables are made from
 * it.
 */
import * as z from 'zod';
import { agentId, sessionId } from '../ids.ts';
import { parseOrThrow } from '../validate.ts';
import type { Activation } from './activation.ts';

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
