/** What the handler is given, and how that is checked. */
import * as z from 'zod';
import type { Clock } from '../../actors/clock/clock.ts';
import { createSystemClock } from '../../actors/clock/system-clock.ts';
import type { Sessions } from '../../actors/session/sessions.ts';
import type { WordsOptions } from '../../actors/words/runtime-words.ts';
import type { LackedHere } from '../../actors/workspace-copy/lacked-here.ts';
import type { SessionWord } from '../../machines/words/session-word.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import { BASE_PATH } from './base-path.ts';

/**
 * What a caller may do. `read`: what a session is and says. `events`: its log, with all that its agent did.
 * `answer-always`: allow a tool for ever, which counts for all sessions of the agent, whatever their owner.
 * `choose-environment`: create a session that works elsewhere than its agent says.
 */
export type HttpAction = (typeof httpActions)[number];
export const httpActions = [
  ...(['create', 'list', 'read', 'events', 'send', 'answer', 'interrupt', 'terminate'] as const),
  ...(['answer-always', 'choose-environment'] as const),
] as const;

/** What an action is about. */
export interface HttpActionSubject {
  readonly sessionId?: string;
  readonly agentId?: string;
  /** The one that `choose-environment` is about. */
  readonly environmentId?: string;
}

/** Who sends a request. */
export interface HttpCaller {
  /** The id of a user, a tenant or a service: it owns the sessions that it creates, and limits count for it. */
  readonly subject: string;
  /**
   * Whose sessions there are for it; all others are answered as if they were not there. Default: its own. `all`: those
   * without an owner too.
   */
  readonly sees?: 'all' | readonly string[] | undefined;
  /**
   * Decides about what it sees: only `true` allows. Default: everything is allowed, but `answer-always` and
   * `choose-environment` only to those who see `all`.
   */
  readonly may?: ((action: HttpAction, what: HttpActionSubject) => boolean | Promise<boolean>) | undefined;
}

/** `undefined` is answered with 401; a response is given as it is. */
export type Authorize = (
  request: Request,
) => HttpCaller | Response | undefined | Promise<HttpCaller | Response | undefined>;

export interface HttpHandlerOptions {
  /** Asked before anything else is done about a request. */
  readonly authorize: Authorize;
  /** The path under which the handler is mounted, such as `/agent`. Default: none. */
  readonly basePath?: string | undefined;
  /** Bytes of a body. Default 1 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Requests of one subject; `burst` at once. Default 600 a minute and 60; `false`: without a limit. */
  readonly rate?: { readonly perMinute: number; readonly burst: number } | false | undefined;
  /** Streams that one subject holds open. Default 64. */
  readonly maxStreams?: number | undefined;
  /** A comment is sent after so long without an event, so that proxies keep streams open. Default 15,000. */
  readonly heartbeatMs?: number | undefined;
  /**
   * Streams end after so long, and the client asks again: who is not authorized any more sees no more than that.
   * Default 3,600,000.
   */
  readonly maxStreamMs?: number | undefined;
  /** Pages of these origins may call it from a browser. Default: none. */
  readonly cors?: { readonly origins: readonly string[] } | undefined;
  /** Hears of errors of which a client is told no more than that there was one. Default: the console. */
  readonly onError?: ((error: unknown, request: Request) => void) | undefined;
  /** What time it is, for tests. Default: the system's. */
  readonly clock?: Clock | undefined;
}

/** The part of a runtime that the handler is over. */
export interface ServedRuntime {
  readonly sessions: Sessions;
  words(sessionId: string, options?: WordsOptions): AsyncIterable<SessionWord>;
  readonly lacks: LackedHere;
  /** Where its home lies is not told to callers. */
  readonly inspection: { readonly home?: string | undefined };
}

/** Timers of more are due at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const given = z.custom<unknown>((value) => typeof value === 'function', 'expected a function');
const origin = z.string().refine((text) => URL.canParse(text) && new URL(text).origin === text, {
  error: 'expected an origin such as https://app.example.com',
});

const shapes = {
  authorize: given,
  basePath: z.string().regex(BASE_PATH, 'expected a path such as /agent').default(''),
  maxBodyBytes: z
    .int()
    .positive()
    .default(1024 * 1024),
  rate: z
    .union([z.literal(false), z.strictObject({ perMinute: z.number().positive(), burst: z.int().positive() })])
    .default({ perMinute: 600, burst: 60 }),
  maxStreams: z.int().positive().default(64),
  heartbeatMs: z.number().positive().default(15_000),
  maxStreamMs: z.number().positive().max(MAX_TIMER_MS).default(3_600_000),
  cors: z.strictObject({ origins: z.array(origin) }).optional(),
  onError: given.optional(),
  clock: z.custom<object>((value) => typeof value === 'object' && value !== null, 'expected an object').optional(),
} satisfies Record<keyof HttpHandlerOptions, z.ZodType>;

const optionsSchema = z.strictObject(shapes);

export interface HandlerSettings extends Pick<
  z.output<typeof optionsSchema>,
  'basePath' | 'maxBodyBytes' | 'rate' | 'maxStreams' | 'heartbeatMs' | 'maxStreamMs' | 'cors'
> {
  readonly authorize: Authorize;
  readonly onError: (error: unknown, request: Request) => void;
  readonly clock: Clock;
}

/** @throws RuntimeError API_OPTIONS_INVALID */
export function checkedOptions(options: HttpHandlerOptions): HandlerSettings {
  const checked = parseOrThrow(optionsSchema, options, {
    what: 'options of the HTTP handler',
    code: 'API_OPTIONS_INVALID',
    hint: 'createHttpHandler(runtime, { authorize }) needs authorize(request), which says who sends a request; all else has a default.',
  });
  return {
    ...checked,
    authorize: options.authorize,
    onError: options.onError ?? ((error) => console.error(error)),
    clock: options.clock ?? createSystemClock(),
  };
}
