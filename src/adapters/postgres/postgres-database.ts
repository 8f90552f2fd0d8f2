/**
 * The connections of one store. A statement is one transaction: when the connection is cut, no client knows whether it
 * took place, so it is run again, and every statement of ours gives the same answer twice. A server that is away is
 * waited for.
 */
import { RuntimeError } from '../../machines/errors.ts';
import type { Clock } from '../../actors/clock/clock.ts';
import { storeClosed } from '../../actors/session/event-store.ts';
import { isDirect } from './postgres-driver.ts';
import type { ConnectionSettings, DriverPool, PooledClient, PostgresDriver } from './postgres-driver.ts';
import { codeOf, databaseFailed, isCollision, isPassing, isUnanswered, storeOverloaded } from './postgres-errors.ts';
import { quoted } from './postgres-options.ts';

/**
 * A statement whose changes a crash of the server may take although it was answered: the server does not wait for its
 * disk. All others are flushed before they are answered, because others go by the answer. Only `losable` makes one, and
 * it asks for the reason.
 */
export interface LosableStatement {
  readonly text: string;
  /** Why no caller is misled when it is lost. */
  readonly because: string;
}

export interface LosableParts {
  readonly because: string;
  /** What stands before SELECT, such as `WITH … AS (…)`. */
  readonly before?: string | undefined;
  readonly columns: string;
  /** With no row in the answer the statement is flushed all the same. */
  readonly from: string;
}

/** One that every wake asks for: where the connection is the server's own it is prepared once and then only named. */
interface FrequentStatement {
  readonly text: string;
  readonly because?: string | undefined;
  readonly isFrequent: true;
}

export type Statement = string | LosableStatement | FrequentStatement;

export function frequent(statement: string | LosableStatement): FrequentStatement {
  return typeof statement === 'string' ? { text: statement, isFrequent: true } : { ...statement, isFrequent: true };
}

/** For this transaction, which is this statement. */
const DO_NOT_WAIT = "set_config('synchronous_commit', 'off', true)";

/** Whether commits of this user wait for the server's own disk when a statement says nothing. */
export const COMMITS_WAIT = "current_setting('synchronous_commit') <> 'off'";

export function losable({ because, before = '', columns, from }: LosableParts): LosableStatement {
  return { text: `${before} SELECT ${columns}, ${DO_NOT_WAIT} AS answered_early FROM ${from}`.trim(), because };
}

export interface PostgresDatabase {
  /** The schema's name, quoted for use in statements. */
  readonly schema: string;
  /**
   * Runs one statement as a transaction of its own and gives its rows, when its changes are on the server's disk unless
   * it is losable. It is run again when the connection is cut or the server is away, so it has to be one that may take
   * place twice.
   * @throws RuntimeError STORAGE_FAILED, STORE_OVERLOADED, STORE_CLOSED
   */
  run<Row>(statement: Statement, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Several statements in one transaction, on one connection. Not run again by itself. */
  transaction<Value>(work: (run: PostgresDatabase['run']) => Promise<Value>): Promise<Value>;
}

export interface DatabaseSettings {
  readonly url: string;
  readonly clock: Clock;
  readonly schema: string;
  readonly poolSize: number;
  readonly patienceMs: number;
  readonly callLimitMs: number;
  readonly onStatement?: ((phase: 'before' | 'after', statement: string) => void | Promise<void>) | undefined;
}

/** Between two tries, in milliseconds: the first, and at most. */
const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 1_000;

/** How long making a connection may take, or waiting for a free one, in milliseconds. */
const CONNECT_LIMIT_MS = 10_000;

/** By which administrators know our connections, and we our own. */
const APPLICATION_NAME = 'wakechart';

/** A connection that was idle for so long is closed, in milliseconds. */
const IDLE_MS = 30_000;

export function connectionSettings({
  url,
  callLimitMs,
}: Pick<DatabaseSettings, 'url' | 'callLimitMs'>): ConnectionSettings {
  return {
    connectionString: url,
    application_name: APPLICATION_NAME,
    connectionTimeoutMillis: CONNECT_LIMIT_MS,
    query_timeout: callLimitMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  };
}

export class ConnectedDatabase implements PostgresDatabase {
  readonly schema: string;
  readonly #settings: DatabaseSettings;
  readonly #pool: DriverPool;
  readonly #pauses = new Set<() => void>();
  readonly #inUse = new Set<PooledClient>();
  /** Whether a connection is the server's own. */
  readonly #direct = new WeakMap<PooledClient, Promise<boolean>>();
  /** Names of frequent statements, by their text. */
  readonly #prepared = new Map<string, string>();
  #isHurried = false;
  #isCut = false;
  #closing: Promise<void> | undefined;

  constructor(driver: PostgresDriver, settings: DatabaseSettings) {
    this.schema = quoted(settings.schema);
    this.#settings = settings;
    this.#pool = new driver.Pool({
      ...connectionSettings(settings),
      max: settings.poolSize,
      idleTimeoutMillis: IDLE_MS,
      allowExitOnIdle: false,
    });
    // A connection that dies while it is idle is replaced by the next that a statement needs.
    this.#pool.on('error', () => undefined);
    // At once: the server may end a connection in the same breath in which it takes it, and an error without a listener
    // would end this process.
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  run<Row>(statement: Statement, values: readonly unknown[] = []): Promise<readonly Row[]> {
    // The rows are what the statement says they are: each place that runs one names their type beside it.
    return this.#patiently(textOf(statement), (client) => this.#ask(client, statement, values)) as Promise<
      readonly Row[]
    >;
  }

  async transaction<Value>(work: (run: PostgresDatabase['run']) => Promise<Value>): Promise<Value> {
    const within = async (client: PooledClient): Promise<Value> => {
      await client.query({ text: 'BEGIN' });
      const value = await work(
        <Row>(statement: Statement, values: readonly unknown[] = []) =>
          this.#ask(client, statement, values) as Promise<readonly Row[]>,
      );
      await client.query({ text: 'COMMIT' });
      return value;
    };
    try {
      return await this.#withClient(within);
    } catch (error) {
      throw databaseFailed('complete a transaction', error);
    }
  }

  /** From now on a server that is away is not waited for: the store is to close. */
  hurry(): void {
    this.#isHurried = true;
    for (const wake of this.#pauses) wake();
  }

  /** Ends what a server that says nothing was asked, and asks it nothing more. */
  cut(): void {
    this.#isCut = true;
    for (const { connection } of this.#inUse) connection.stream.destroy();
  }

  /** Waits for what runs. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#pool.end().catch(() => undefined);
    for (const wake of this.#pauses) wake();
    return this.#closing;
  }

  /**
   * Ends a statement that no caller waits for any more: it would hold its place on the server, while the next try takes
   * another one.
   */
  async #abandon(processId: number): Promise<void> {
    const ours = `pid = $1 AND usename = current_user AND application_name = '${APPLICATION_NAME}' AND state = 'active'`;
    await this.#withClient((client) =>
      client.query({
        text: `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${ours}`,
        values: [processId],
      }),
    );
  }

  async #patiently(
    statement: string,
    work: (client: PooledClient) => Promise<readonly unknown[]>,
  ): Promise<readonly unknown[]> {
    const { clock, patienceMs } = this.#settings;
    const beganMs = clock.steadyNow();
    for (let attempt = 1; ; attempt += 1) {
      if (this.#closing !== undefined) throw storeClosed();
      try {
        return await this.#withClient(work);
      } catch (error) {
        if (RuntimeError.is(error)) throw error;
        const isOver = this.#isHurried || clock.steadyNow() - beganMs >= patienceMs;
        if (!isPassing(error) || (isOver && !(isCollision(error) && attempt < 5)))
          throw databaseFailed(`run ${nameOf(statement)}`, error);
      }
      await this.#pause(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1)));
    }
  }

  async #ask(client: PooledClient, statement: Statement, values: readonly unknown[]): Promise<readonly unknown[]> {
    const { onStatement } = this.#settings;
    const text = textOf(statement);
    const isPrepared = typeof statement !== 'string' && 'isFrequent' in statement && (await this.#keepsNames(client));
    if (onStatement !== undefined) await onStatement('before', nameOf(text));
    const { rows } = await client.query({ text, values, ...(isPrepared ? { name: this.#nameOfPrepared(text) } : {}) });
    if (onStatement !== undefined) await onStatement('after', nameOf(text));
    return rows;
  }

  /**
   * A pooler of transactions may give each statement another connection of the server, which has not heard of the name.
   */
  async #keepsNames(client: PooledClient): Promise<boolean> {
    const known = this.#direct.get(client) ?? isDirect(client);
    this.#direct.set(client, known);
    known.catch(() => this.#direct.delete(client));
    return known;
  }

  #nameOfPrepared(text: string): string {
    const name = this.#prepared.get(text) ?? `wakechart_${this.#prepared.size + 1}`;
    this.#prepared.set(text, name);
    return name;
  }

  async #withClient<Value>(work: (client: PooledClient) => Promise<Value>): Promise<Value> {
    const client = await this.#client();
    this.#inUse.add(client);
    let isBroken = false;
    try {
      return await work(client);
    } catch (error) {
      // What a refused statement leaves is clean; after anything else the connection may still say anything.
      isBroken = codeOf(error) === undefined || isPassing(error);
      if (!isBroken) await client.query({ text: 'ROLLBACK' }).catch(() => (isBroken = true));
      if (isUnanswered(error) && typeof client.processID === 'number' && this.#closing === undefined)
        void this.#abandon(client.processID).catch(() => undefined);
      throw error;
    } finally {
      this.#inUse.delete(client);
      client.release(isBroken);
    }
  }

  async #client(): Promise<PooledClient> {
    if (this.#isCut) throw storeClosed();
    try {
      return await this.#pool.connect();
    } catch (error) {
      if (this.#closing !== undefined) throw storeClosed();
      if (this.#inUse.size >= this.#settings.poolSize && codeOf(error) === undefined)
        throw storeOverloaded(CONNECT_LIMIT_MS, error);
      throw error;
    }
  }

  async #pause(delayMs: number): Promise<void> {
    const { clock } = this.#settings;
    await new Promise<void>((resolve) => {
      const timer = clock.setTimeout(() => end(), delayMs);
      const end = (): void => {
        clock.clearTimeout(timer);
        this.#pauses.delete(end);
        resolve();
      };
      this.#pauses.add(end);
    });
  }
}

function textOf(statement: Statement): string {
  return typeof statement === 'string' ? statement : statement.text;
}

/** The function or the table that a statement is about, for errors and tests. */
function nameOf(statement: string): string {
  return /(?:"[a-z0-9_]+"\.)([a-z0-9_]+)/.exec(statement)?.[1] ?? statement.trim().slice(0, 40);
}
