/** Checks what a receiver is started with, and fills in what was left out. */
import * as z from 'zod';
import type { Clock } from '../../actors/clock/clock.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import { isLoopbackAddress } from '../system/loopback.ts';

export interface StatelyReceiverLimits {
  /** Programs at once. Default 16. */
  readonly connections?: number | undefined;
  /** Of one frame. A program that sends a longer one is disconnected. Default 4 MiB. */
  readonly frameBytes?: number | undefined;
  /** The newest records are kept, so many. Default 100,000. */
  readonly records?: number | undefined;
  /** And as many of those as take up so many characters of JSON. Default 64 Mi. */
  readonly characters?: number | undefined;
  /** Different charts. Actors of further ones are shown without a chart. Default 1,000. */
  readonly charts?: number | undefined;
  /** Living actors of one program. Further ones are not shown. Default 10,000. */
  readonly actors?: number | undefined;
}

export interface StatelyReceiverOptions {
  /** Default 8080, where `createWebSocketInspector` checks by itself. 0: a free one. */
  readonly port?: number | undefined;
  /** 127.0.0.1 or ::1. Default 127.0.0.1. */
  readonly host?: string | undefined;
  /**
   * Origins whose pages may connect, as browsers write them: `http://localhost:5173`. Default none: only programs that
   * send no Origin header, as Node does.
   */
  readonly origins?: readonly string[] | undefined;
  readonly limits?: StatelyReceiverLimits | undefined;
  /** Takes secrets out of every text before it is cut and kept. Without it none is taken out. */
  readonly redact?: ((text: string) => string) | undefined;
  readonly clock: Clock;
  /** Hears what those who connect are not told: what failed inside, and what followers throw. */
  readonly onProblem: (error: unknown) => void;
}

const MAX_ORIGINS = 16;
const bounded = (standard: number, max: number): z.ZodDefault<z.ZodInt> => z.int().min(1).max(max).default(standard);

const limits = z.strictObject({
  connections: bounded(16, 1_000),
  frameBytes: bounded(4 * 1_048_576, 64 * 1_048_576),
  records: bounded(100_000, 10_000_000),
  characters: bounded(64 * 1_048_576, 1_073_741_824),
  charts: bounded(1_000, 100_000),
  actors: bounded(10_000, 1_000_000),
});

const origin = z
  .string()
  .max(300)
  .refine(isWebOrigin, 'expected an origin as browsers write it: http://localhost:5173, without a path');
const isFunction = (value: unknown): boolean => typeof value === 'function';

const schema = z.strictObject({
  port: z.int().min(0).max(65_535).default(8_080),
  host: z
    .string()
    .refine(
      isLoopbackAddress,
      'expected 127.0.0.1 or ::1: any program that can connect can make the inspector show anything',
    )
    .default('127.0.0.1'),
  origins: z.array(origin).max(MAX_ORIGINS).readonly().default([]),
  limits: limits.prefault({}),
  redact: z.custom<NonNullable<StatelyReceiverOptions['redact']>>(isFunction, 'expected a function').optional(),
  clock: z.custom<StatelyReceiverOptions['clock']>(
    (value) => typeof value === 'object' && value !== null && isFunction((value as { readonly now?: unknown }).now),
    'expected a Clock',
  ),
  onProblem: z.custom<StatelyReceiverOptions['onProblem']>(isFunction, 'expected a function'),
});

export type CheckedReceiverOptions = Readonly<z.output<typeof schema>>;

/** @throws RuntimeError STATELY_OPTIONS_INVALID */
export function checkReceiverOptions(options: unknown): CheckedReceiverOptions {
  return parseOrThrow(schema, options, {
    what: 'options of the Stately receiver',
    code: 'STATELY_OPTIONS_INVALID',
    hint: 'Leave host out; name each origin whole, such as http://localhost:5173.',
  });
}

function isWebOrigin(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:') && url.origin === text;
}
