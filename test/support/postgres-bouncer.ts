/**
 * A real PgBouncer for tests, in transaction mode. Where it is missing they are skipped and counted, with a word about
 * it; in CI that is a failure.
 */
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ask } from './postgres-databases.ts';
import { endKept, freePort, isKept, keepForThisProcess } from './postgres-keeping.ts';
import { PROGRAM_USER, programFolder } from './postgres-run.ts';

export interface PgBouncer {
  /** The same user, password and database, by way of it. */
  readonly url: string;
  /** Ends it, and whoever is connected by way of it. */
  stop(): Promise<void>;
}

const PROGRAM = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/opt/homebrew/bin/pgbouncer'].find((file) =>
  existsSync(file),
);
const POLL_MS = 10;
const START_LIMIT_MS = 30_000;

/** For `describe.skipIf(!hasPgBouncer)`. */
export const hasPgBouncer = PROGRAM !== undefined;

if (PROGRAM === undefined) {
  const word = 'pgbouncer: there is none; nobody tests the store behind it. Run scripts/ci-needs.sh, which brings it.';
  if (process.env['CI'] === 'true') throw new Error(word);
  process.stderr.write(`${word}\n`);
}

/** @param to the URL of a database, with a password @throws Error with its last words when it does not come up */
export async function pgBouncer({
  to,
  poolSize = 5,
}: {
  readonly to: string;
  readonly poolSize?: number;
}): Promise<PgBouncer> {
  const folder = await programFolder(`bouncer-${randomBytes(4).toString('hex')}`);
  const port = await freePort();
  const url = new URL(to);
  await writeForPrograms(
    join(folder, 'users'),
    `"${decodeURIComponent(url.username)}" "${decodeURIComponent(url.password)}"\n`,
  );
  await writeForPrograms(join(folder, 'settings.ini'), settingsOf({ server: url, folder, port, poolSize }));
  const keeper = keepForThisProcess({
    program: PROGRAM ?? 'pgbouncer',
    words: [join(folder, 'settings.ini')],
    folder,
    endSignal: 'SIGTERM',
  });
  const stop = async (): Promise<void> => {
    await endKept(keeper);
    await rm(folder, { recursive: true, force: true });
  };
  url.port = `${port}`;
  try {
    await isUp(url.href, keeper);
  } catch (error) {
    const log = await readFile(join(folder, 'log'), 'utf8').catch(() => '');
    await stop();
    throw new Error(`PgBouncer did not start: ${log.slice(-2_000)}`, { cause: error });
  }
  return { url: url.href, stop };
}

function settingsOf({
  server,
  folder,
  port,
  poolSize,
}: {
  readonly server: URL;
  readonly folder: string;
  readonly port: number;
  readonly poolSize: number;
}): string {
  return [
    '[databases]',
    `* = host=${server.hostname} port=${server.port === '' ? '5432' : server.port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${join(folder, 'users')}`,
    'pool_mode = transaction',
    `default_pool_size = ${poolSize}`,
    'max_client_conn = 200',
    '',
  ].join('\n');
}

async function writeForPrograms(file: string, text: string): Promise<void> {
  await writeFile(file, text, { mode: 0o600 });
  const { uid, gid } = PROGRAM_USER;
  if (uid !== undefined && gid !== undefined) await chown(file, uid, gid);
}

async function isUp(url: string, keeper: ChildProcess): Promise<void> {
  for (const deadline = performance.now() + START_LIMIT_MS; ; await wait(POLL_MS)) {
    try {
      await ask(url, 'SELECT 1');
      return;
    } catch (error) {
      if (!isKept(keeper) || performance.now() > deadline) throw error;
    }
  }
}
