/**
 * Where the PostgreSQL servers of a run have their files, and the end of those that still run when it is over. Nothing
 * is made here, nor started: the first test file that needs a server does both (test/support/postgres-server.ts), so
 * that a run without one pays nothing.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { TestProject } from 'vitest/node';
import { IN_MEMORY, isFastEnough } from '../../scripts/in-memory.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    readonly postgresRun: PostgresRun;
  }
}

export interface PostgresRun {
  /** Names everything that this run makes on a server that is not its own. */
  readonly id: string;
  /**
   * Absolute path. Made by the first who needs it; for everybody to enter, because PostgreSQL refuses to run as root.
   */
  readonly folder: string;
  /** Of every user of its servers. Nothing may ever write it down. */
  readonly password: string;
  /** Of the process that runs the test files: a server must not outlive it. */
  readonly mainPid: number;
  /** Of a server that is there already, for a user who may make databases: `$WAKECHART_TEST_POSTGRES`. */
  readonly givenUrl: string | undefined;
}

/** Of the keeper of each server (test/support/postgres-keeper.mjs), and of a server whose keeper was killed. */
const KEEPER_FILE = 'keeper.pid';
const SERVER_FILE = 'data/postmaster.pid';
const POLL_MS = 10;
const ENDING_LIMIT_MS = 8_000;

let run: PostgresRun | undefined;

export function setup(project: TestProject): void {
  const id = randomBytes(4).toString('hex');
  const parent = isFastEnough(IN_MEMORY) ? IN_MEMORY : tmpdir();
  run = {
    id,
    folder: join(realpathSync(parent), `wcp-${id}`),
    password: `secret-${randomBytes(12).toString('hex')}`,
    mainPid: process.pid,
    givenUrl: process.env['WAKECHART_TEST_POSTGRES'],
  };
  project.provide('postgresRun', run);
}

export async function teardown(): Promise<void> {
  if (run === undefined || !existsSync(run.folder)) return;
  if (run.givenUrl !== undefined) {
    const { dropDatabasesOf } = await import('../support/postgres-databases.ts');
    await dropDatabasesOf(run.givenUrl, run.id);
  }
  const { folder } = run;
  const names = readdirSync(folder);
  for (const [file, signal] of [
    [KEEPER_FILE, 'SIGTERM'],
    [SERVER_FILE, 'SIGQUIT'],
  ] as const) {
    await Promise.all(names.map((name) => ended(pidIn(join(folder, name, file)), signal)));
  }
  rmSync(folder, { recursive: true, force: true });
}

function pidIn(file: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(file, 'utf8'), 10);
  } catch {
    return undefined;
  }
}

async function ended(pid: number | undefined, signal: NodeJS.Signals): Promise<void> {
  if (pid === undefined) return;
  const deadline = performance.now() + ENDING_LIMIT_MS;
  try {
    process.kill(pid, signal);
    while (performance.now() < deadline) {
      process.kill(pid, 0);
      await wait(POLL_MS);
    }
  } catch {
    // It is gone.
  }
}
