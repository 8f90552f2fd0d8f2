/** What a route is: how it is asked for, what it takes and gives. The OpenAPI document is made of the same. */
import * as z from 'zod';
import { RuntimeError } from '../../machines/errors.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import type { Access } from './access.ts';
import { eventStream } from './event-stream.ts';
import type { StreamParts } from './event-stream.ts';
import type { HandlerSettings, HttpAction, ServedRuntime } from './handler-options.ts';
import type { OpenLimit } from './limits.ts';
import { STRICT } from './refusal.ts';

type Method = 'GET' | 'POST';

export interface Answer {
  readonly status: number;
  readonly what: string;
  /** Of its JSON. Absent: it has no body, or a stream. */
  readonly schema?: z.ZodType;
  readonly mediaType?: 'application/json' | 'text/event-stream';
}

/** What a route is handled with. */
export interface Exchange<Body = unknown, Query = unknown> {
  readonly request: Request;
  readonly runtime: ServedRuntime;
  readonly settings: HandlerSettings;
  readonly streams: OpenLimit;
  readonly reads: OpenLimit;
  readonly access: Access;
  /** The session that the path names; empty where it names none. */
  readonly sessionId: string;
  readonly body: Body;
  readonly query: Query;
}

export interface Route {
  readonly method: Method;
  /** `{sessionId}` is the one part that varies. */
  readonly path: string;
  readonly action: HttpAction;
  readonly summary: string;
  readonly body?: z.ZodType | undefined;
  readonly query?: z.ZodType | undefined;
  /** Headers that change what it does, with what they do. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly answers: readonly Answer[];
  readonly handle: (exchange: Exchange) => Promise<Response>;
}

interface RouteOf<Body extends z.ZodType, Query extends z.ZodType> extends Omit<Route, 'body' | 'query' | 'handle'> {
  readonly body?: Body;
  readonly query?: Query;
  readonly handle: (exchange: Exchange<z.output<Body>, z.output<Query>>) => Promise<Response>;
}

const REQUEST_INVALID = 'API_REQUEST_INVALID';

/** A route whose body and query are checked before it is handled. */
export function route<Body extends z.ZodType = z.ZodUndefined, Query extends z.ZodType = z.ZodUndefined>({
  handle,
  ...described
}: RouteOf<Body, Query>): Route {
  const { body, query } = described;
  return {
    ...described,
    handle: (exchange) => {
      if (body === undefined && exchange.body !== undefined)
        throw new RuntimeError(REQUEST_INVALID, 'expected no body', { category: 'validation', hint: 'Leave it out.' });
      if (query === undefined && Object.keys(exchange.query ?? {}).length > 0)
        throw new RuntimeError(REQUEST_INVALID, 'expected no query', { category: 'validation', hint: 'Leave it out.' });
      return handle({
        ...exchange,
        // Where there is no schema nothing is read of it.
        body: (body === undefined
          ? undefined
          : parseOrThrow(body, exchange.body, { what: 'body', code: REQUEST_INVALID })) as z.output<Body>,
        query: (query === undefined
          ? undefined
          : parseOrThrow(query, exchange.query, { what: 'query', code: REQUEST_INVALID })) as z.output<Query>,
      });
    },
  };
}

export function json(value: unknown, status = 200): Response {
  return Response.json(value, { status, headers: STRICT });
}

/** A stream of the caller's: it counts among those that it may hold open. */
export function streamed(
  { request, settings, streams, access }: Exchange,
  { open, headers = {}, failed }: Pick<StreamParts, 'open' | 'headers' | 'failed'>,
): Response {
  const give = streams.take(access.subject);
  return eventStream({
    open,
    request,
    headers,
    ...(failed === undefined ? {} : { failed }),
    clock: settings.clock,
    heartbeatMs: settings.heartbeatMs,
    maxMs: settings.maxStreamMs,
    onEnd: give,
    onError: (error) => settings.onError(error, request),
  });
}

// Numbers in the query of a request, all read alike.

const MOST = 999_999_999_999_999;

/** A whole number from `min` on, written in digits. */
export function queryNumber({ min, max = MOST }: { readonly min: number; readonly max?: number }): z.ZodType<number> {
  const range = max === MOST ? `from ${min} on` : `from ${min} to ${max}`;
  const error = `expected a whole number ${range}, in digits`;
  return z.preprocess(
    (value) => (typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value),
    z.int({ error }).min(min, { error }).max(max, { error }),
  );
}
