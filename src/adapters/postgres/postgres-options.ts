/** How a store is opened: what may be said, and what holds when it is not. */
import * as z from 'zod';
import { RuntimeError } from '../../machines/errors.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import type { Clock } from '../../actors/clock/clock.ts';
import type { SessionIdentity } from '../../actors/session/event-store.ts';
import { isPostgresUrl, wordsProblem } from './postgres-url.ts';

export const DEFAULT_SCHEMA = 'wakechart';

export interface PostgresPlace {
  /** postgres://user:password@host:port/database, with sslmode and the like as the driver reads them. */
  readonly url: string;
  /** Runs timers and measures durations. What time it is, the database says. */
  readonly clock: Clock;
  /** Schema of the tables. Default `wakechart`. */
  readonly schema?: string | undefined;
}

export interface PostgresEventStoreOptions extends PostgresPlace {
  /** `os` acknowledges before the server has synced its log, and says so in every receipt. Default `disk`. */
  readonly durability?: 'disk' | 'os' | undefined;
  /**
   * How long a process may give no sign of life, in milliseconds, before another may take over its wakes. Default
   * 15,000.
   */
  readonly leaseMs?: number | undefined;
  /** How long a call waits for a server that is away, in milliseconds, before it fails. Default 30,000. */
  readonly patienceMs?: number | undefined;
  /** Connections of this store at most, besides the one that listens. Default 4. */
  readonly poolSize?: number | undefined;
  /** How long one statement may take, in milliseconds. Default 30,000. */
  readonly callLimitMs?: number | undefined;
  /**
   * `poll` never listens. Default `listen`, which polls all the same while nothing is heard, as behind a pooler of
   * transactions.
   */
  readonly news?: 'listen' | 'poll' | undefined;
  /** How often it checks for news while it hears none, in milliseconds. Default 500. */
  readonly pollMs?: number | undefined;
  /**
   * How often it checks although it hears, in milliseconds: two checks pass until a process that has died is missed.
   * Default 5,000, or `leaseMs` where that is less.
   */
  readonly slowPollMs?: number | undefined;
  /**
   * The tenant that a session works for: claims are fair between tenants. Default: the setting `wakechart.tenant` of
   * the role, else `default`.
   */
  readonly tenantOf?: ((identity: SessionIdentity) => string) | undefined;
  /** Names this process for people. */
  readonly owner?: string | undefined;
  /** Hears of every statement, for tests that stop a process between two of them. @internal */
  readonly onStatement?: ((phase: 'before' | 'after', statement: string) => void | Promise<void>) | undefined;
}

const milliseconds = z.number().int().positive().max(86_400_000);
export const schemaName = z
  .string()
  .regex(/^[a-z_][a-z0-9_]{0,40}$/, 'a name of lower-case letters, digits and "_", such as wakechart');
const listener = z.custom<unknown>((value) => typeof value === 'function', 'expected a function');
const port = z.custom<Clock>((value) => typeof value === 'object' && value !== null, 'expected a clock');

const place = { url: z.string().min(1), clock: port, schema: schemaName.default(DEFAULT_SCHEMA) };

const placeShape = z.strictObject(place);

const storeShape = z.strictObject({
  ...place,
  durability: z.enum(['disk', 'os']).default('disk'),
  leaseMs: milliseconds.min(100).default(15_000),
  patienceMs: z.number().int().nonnegative().default(30_000),
  poolSize: z.number().int().min(1).max(1_000).default(4),
  callLimitMs: milliseconds.default(30_000),
  news: z.enum(['listen', 'poll']).default('listen'),
  pollMs: milliseconds.default(500),
  slowPollMs: milliseconds.optional(),
  tenantOf: listener.optional(),
  owner: z.string().max(200).default('runtime'),
  onStatement: listener.optional(),
});

export type StoreSettings = Omit<z.output<typeof storeShape>, 'slowPollMs' | 'tenantOf' | 'onStatement'> &
  Pick<PostgresEventStoreOptions, 'tenantOf' | 'onStatement'> & { readonly slowPollMs: number };
export type PlaceSettings = z.output<typeof placeShape>;

const CODE = 'STORE_OPTIONS_INVALID';
const SLOW_POLL_MS = 5_000;

/** @throws RuntimeError STORE_OPTIONS_INVALID, which never repeats the URL */
export function checkPlace(value: PostgresPlace): PlaceSettings {
  const settings = parseOrThrow(placeShape, value, { what: 'options of the PostgreSQL store', code: CODE });
  checkUrl(settings.url);
  return settings;
}

/** @throws RuntimeError STORE_OPTIONS_INVALID, which never repeats the URL */
export function checkStoreOptions(value: PostgresEventStoreOptions): StoreSettings {
  const settings = parseOrThrow(storeShape, value, { what: 'options of the PostgreSQL store', code: CODE });
  checkUrl(settings.url);
  const { tenantOf, onStatement } = value;
  const { slowPollMs = Math.min(SLOW_POLL_MS, settings.leaseMs) } = settings;
  return { ...settings, slowPollMs, tenantOf, onStatement };
}

/** Quoted for use in statements. */
export function quoted(schema: string): string {
  return `"${schema}"`;
}

function checkUrl(url: string): void {
  if (isPostgresUrl(url)) {
    const wrong = wordsProblem(url);
    if (wrong === undefined) return;
    throw new RuntimeError(CODE, `expected ${wrong}`, {
      category: 'validation',
      hint: 'Leave it out. The schema of the tables and the number of connections are options in a program: schema, poolSize.',
    });
  }
  throw new RuntimeError(CODE, 'expected the URL of a PostgreSQL database, received something else', {
    category: 'validation',
    hint: 'Write it as postgres://user:password@host:5432/database; characters such as "@", "/", "?" and "#" in a password, and "@" anywhere else, have to be percent-encoded.',
  });
}

/** Stands for what has to be filled in: a URL that holds a password is not shown. */
const NOT_SHOWN = 'URL';

/** Which database is meant, as a word of a command that may be shown and typed again. */
export function storeWord({ url, schema }: Pick<PostgresPlace, 'url' | 'schema'>): string {
  if (!isPostgresUrl(url)) return NOT_SHOWN;
  const { username, password, host, pathname, search } = new URL(url);
  // Passwords come as parameters too.
  if (password !== '' || search !== '') return NOT_SHOWN;
  return `postgres://${username === '' ? '' : `${username}@`}${host}${pathname}${schema === undefined ? '' : `?schema=${schema}`}`;
}
