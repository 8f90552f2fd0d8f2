/** The options of a worker, checked, with their defaults. */
import * as z from 'zod';
import { agentId } from '../ids.ts';
import { parseOrThrow } from '../validate.ts';

const durationMs = z.number().int().positive();

const settings = z.strictObject({
  concurrency: z.number().int().positive().max(1_000).default(4),
  agentId: agentId.optional(),
  untilIdle: z.boolean().default(false),
  drainLimitMs: durationMs.default(30_000),
  restLimitMs: durationMs.default(60_000),
});

const stopping = z.strictObject({ running: z.enum(['drain', 'abort']).optional(), reason: z.string().optional() });

export type WorkerSettings = Readonly<z.output<typeof settings>>;

/** @throws RuntimeError WORKER_OPTIONS_INVALID naming each wrong place */
export function checkWorkerOptions(options: unknown): WorkerSettings {
  return parseOrThrow(settings, options, {
    what: 'worker options',
    code: 'WORKER_OPTIONS_INVALID',
    hint: 'See docs/workers.md for what a worker can be told.',
  });
}

/** Of one stop. @throws RuntimeError WORKER_OPTIONS_INVALID */
export function checkStopOptions(options: unknown): void {
  parseOrThrow(stopping, options, { what: 'options of a stop', code: 'WORKER_OPTIONS_INVALID' });
}
