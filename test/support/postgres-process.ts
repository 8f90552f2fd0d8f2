/** A PostgreSQL server as a process of the machine, with its data in a folder below the one of the run. */
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ask, makeDatabase, urlOf } from './postgres-databases.ts';
import type { FreshDatabase } from './postgres-databases.ts';
import { endKept, freePort, isKept, keepForTheRun, keepForThisProcess } from './postgres-keeping.ts';
import type { PostgresPrograms } from './postgres-programs.ts';
import { giveToPrograms, oncePerRun, postgresRun, programFolder, runProgram } from './postgres-run.ts';

const POLL_MS = 10;
const START_LIMIT_MS = 30_000;
const BINDING_TRIES = 5;

/** Owns the databases that tests get, and may nothing else. */
const DATABASE_OWNER = 'wakechart';
const ADMIN = 'postgres';

/**
 * What a run of tests needs: nothing has to survive the machine, and there is room for all files at once. The zone and
 * the order of texts are those of few machines, so that a statement which trusts either is found.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  full_page_writes: 'off',
  max_connections: '200',
  shared_buffers: '32MB',
  max_wal_size: '128MB',
  dynamic_shared_memory_type: 'mmap',
  jit: 'off',
  timezone: 'America/St_Johns',
};

export type StopMode = 'smart' | 'fast' | 'immediate';
const SIGNALS = { smart: 'SIGTERM', fast: 'SIGINT', immediate: 'SIGQUIT' } as const satisfies Record<
  StopMode,
  NodeJS.Signals
>;

export interface ServerRequest {
  readonly programs: PostgresPrograms;
  /** On top of those for tests, as in postgresql.conf: `{ fsync: 'on' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Called with the empty folder of the data, before anything is in it: a place to mount a small disk on. */
  readonly beforeData?: (folder: string) => void | Promise<void>;
  /** Outlives the process that starts it, until the end of the run. */
  readonly isShared?: boolean;
}

/** Where it is and which port it has stay the same when it is started again. */
export interface ServerPlace {
  readonly folder: string;
  readonly port: number;
}

export async function makeServer({ programs, beforeData, ...request }: ServerRequest): Promise<PostgresServer> {
  const template = await oncePerRun(`cluster-${programs.version}`, () => makeCluster(programs));
  const folder = await programFolder(`server-${randomBytes(4).toString('hex')}`);
  const data = join(folder, 'data');
  await runProgram('mkdir', ['-m', '700', data]);
  await beforeData?.(data);
  await giveToPrograms(data);
  await runProgram('cp', ['-R', `${template}/.`, data]);
  for (let tries = 1; ; tries += 1) {
    const server = new PostgresServer({ programs, ...request }, { folder, port: await freePort() });
    try {
      await server.start();
      return server;
    } catch (error) {
      // Somebody else took the port in between.
      if (tries < BINDING_TRIES && String(error).includes('could not bind')) continue;
      await server.remove();
      throw error;
    }
  }
}

async function makeCluster({ version, initdb, postgres }: PostgresPrograms): Promise<string> {
  const folder = await programFolder(`cluster-${version}`);
  const [data, passwordFile] = [join(folder, 'data'), join(folder, 'password')];
  await runProgram('sh', ['-c', 'umask 077; printf %s "$0" > "$1"', postgresRun.password, passwordFile]);
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en'];
  await runProgram(initdb, [
    '-D',
    data,
    '-U',
    ADMIN,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--no-sync',
    '--wal-segsize=4',
    // Thousands of connections are made, and four thousand rounds of hashing for each keep no secret here.
    ...(version === '18' ? ['-c', 'scram_iterations=1'] : []),
    ...locale,
  ]);
  const role = `CREATE ROLE ${DATABASE_OWNER} LOGIN PASSWORD '${postgresRun.password}'; CREATE DATABASE ${DATABASE_OWNER} OWNER ${DATABASE_OWNER}`;
  await runProgram('sh', [
    '-c',
    'printf "%s\\n" "$0" | "$1" --single -F -D "$2" postgres',
    role.replace('; ', ';\n'),
    postgres,
    data,
  ]);
  return data;
}

export class PostgresServer {
  readonly place: ServerPlace;
  readonly #request: Omit<ServerRequest, 'beforeData'>;
  #keeper: ChildProcess | undefined;

  constructor(request: Omit<ServerRequest, 'beforeData'>, place: ServerPlace) {
    this.#request = request;
    this.place = place;
  }

  /** For the owner of the databases, with the password. The database of its name is there from the start, and empty. */
  url(database = DATABASE_OWNER): string {
    return this.#urlOf(DATABASE_OWNER, database);
  }

  /** For who may do everything on this server. */
  adminUrl(database = 'postgres'): string {
    return this.#urlOf(ADMIN, database);
  }

  #urlOf(user: string, database: string): string {
    return urlOf(`postgres://${user}:${postgresRun.password}@127.0.0.1:${this.place.port}`, database);
  }

  freshDatabase(template?: string): Promise<FreshDatabase> {
    return makeDatabase({
      adminUrl: this.adminUrl(),
      userUrl: this.url(),
      runId: postgresRun.id,
      ...(template !== undefined && { template }),
    });
  }

  /** The log of all its lives. */
  log(): Promise<string> {
    return readFile(join(this.place.folder, 'log'), 'utf8');
  }

  async #lastWords(): Promise<string> {
    return (await this.log().catch(() => '')).slice(-2_000);
  }

  /** @returns when it takes connections @throws Error with its last words when it does not come up */
  async start(): Promise<void> {
    const { programs, settings, isShared = false } = this.#request;
    const { folder, port } = this.place;
    const all = { ...SETTINGS, ...(programs.version === '18' && { io_method: 'sync' }), ...settings, port: `${port}` };
    const words = [
      '-D',
      join(folder, 'data'),
      ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ];
    const program = { program: programs.postgres, words, folder, endSignal: SIGNALS.immediate };
    if (isShared) await keepForTheRun(program);
    else this.#keeper = keepForThisProcess(program);
    await this.#isUp();
  }

  async #isUp(): Promise<void> {
    let problem: unknown;
    for (const deadline = performance.now() + START_LIMIT_MS; performance.now() < deadline; await wait(POLL_MS)) {
      try {
        await ask(this.adminUrl(), 'SELECT 1');
        return;
      } catch (error) {
        problem = error;
      }
      if (
        this.#keeper === undefined ? (await this.#lastWords()).includes('could not create any') : !isKept(this.#keeper)
      )
        break;
    }
    throw new Error(`PostgreSQL did not start: ${await this.#lastWords()}`, { cause: problem });
  }

  /** `immediate` is what a crash looks like: no checkpoint, and the next start recovers. */
  stop(mode: StopMode = 'fast'): Promise<void> {
    return this.#signal(SIGNALS[mode]);
  }

  /** SIGKILL for the server's first process, as when memory runs out. */
  kill(): Promise<void> {
    return this.#signal('SIGKILL');
  }

  async #signal(signal: NodeJS.Signals): Promise<void> {
    const keeper = this.#keeper;
    if (!isKept(keeper)) return;
    const pid = Number((await readFile(join(this.place.folder, 'data/postmaster.pid'), 'utf8')).split('\n')[0]);
    const end = once(keeper, 'close');
    process.kill(pid, signal);
    await end;
    this.#keeper = undefined;
  }

  /** Stops it if need be. Nothing of it is left. */
  async remove(): Promise<void> {
    await endKept(this.#keeper);
    await rm(this.place.folder, { recursive: true, force: true });
  }
}
