/** What we use of `pg`, which is an optional peer: programs that store in files never load it. */
import { RuntimeError } from '../../machines/errors.ts';

export interface DriverResult {
  readonly rows: readonly unknown[];
}

export interface DriverClient {
  query(request: {
    readonly text: string;
    readonly values?: readonly unknown[];
    readonly name?: string;
  }): Promise<DriverResult>;
  on(event: 'error' | 'end', listener: (error?: unknown) => void): unknown;
  on(event: 'notification', listener: (message: Notified) => void): unknown;
}

/** `processId`: of the connection that said it, by the server. */
interface Notified {
  readonly channel: string;
  readonly payload?: string | undefined;
  readonly processId: number;
}

export interface PooledClient extends DriverClient {
  /** Of the server's process, as the other end has told when we connected. */
  readonly processID?: number | null | undefined;
  readonly connection: { readonly stream: { destroy(): unknown } };
  /** With true the connection is not used again. */
  release(destroy?: boolean): void;
}

export interface LoneClient extends DriverClient {
  /** Of the server's process, as the other end has told when we connected. */
  readonly processID?: number | null | undefined;
  readonly connection: { readonly stream: { destroy(): unknown } };
  connect(): Promise<unknown>;
  end(): Promise<void>;
}

export interface DriverPool {
  connect(): Promise<PooledClient>;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  on(event: 'connect', listener: (client: DriverClient) => void): unknown;
  end(): Promise<void>;
}

export interface ConnectionSettings {
  readonly connectionString: string;
  readonly application_name: string;
  readonly connectionTimeoutMillis: number;
  readonly query_timeout: number;
  readonly keepAlive: boolean;
  readonly keepAliveInitialDelayMillis: number;
}

export interface PostgresDriver {
  readonly Pool: new (
    settings: ConnectionSettings & {
      readonly max: number;
      readonly idleTimeoutMillis: number;
      readonly allowExitOnIdle: boolean;
    },
  ) => DriverPool;
  readonly Client: new (settings: ConnectionSettings) => LoneClient;
}

/** @throws RuntimeError POSTGRES_DRIVER_MISSING */
export async function loadDriver(): Promise<PostgresDriver> {
  try {
    const { default: pg } = await import('pg');
    return pg;
  } catch (cause) {
    throw new RuntimeError(
      'POSTGRES_DRIVER_MISSING',
      'expected the package pg, which speaks to PostgreSQL, and could not load it',
      {
        category: 'validation',
        hint: 'Install it beside wakechart: npm install pg',
        cause,
      },
    );
  }
}

/**
 * Whether the server itself is at the other end. A pooler of transactions delivers what comes while its client speaks
 * and drops the rest: a client that speaks through the connection on which it listens would hear itself, and take that
 * for a sign that it hears others.
 */
export async function isDirect(client: Pick<PooledClient, 'query' | 'processID'>): Promise<boolean> {
  const { rows } = await client.query({ text: 'SELECT pg_backend_pid() AS pid' });
  const [row] = rows;
  return typeof row === 'object' && row !== null && 'pid' in row && row.pid === client.processID;
}
