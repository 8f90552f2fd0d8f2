/** What callers pass to a wake, checked before it begins: a misspelt `signal` must not be none. */
import * as z from 'zod';
import { parseOrThrow } from '../validate.ts';

const listener = z.custom<unknown>((value) => typeof value === 'function', 'expected a function').optional();
const signal = z.instanceof(AbortSignal, { error: 'expected an AbortSignal' }).optional();

const wakeOptions = z.strictObject({
  isHere: z.boolean().optional(),
  signal,
  force: signal,
  humans: z.enum(['reachable', 'none']).optional(),
  onToolProgress: listener,
  opening: z.looseObject({}).optional(),
  isAutonomous: z.boolean().optional(),
  onRunEvent: listener,
});

/** @throws RuntimeError WAKE_OPTIONS_INVALID */
export function checkWakeOptions(options: unknown): void {
  if (options !== undefined) parseOrThrow(wakeOptions, options, { what: 'wake options', code: 'WAKE_OPTIONS_INVALID' });
}
