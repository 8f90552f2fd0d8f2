/**
 * A base backup, the log archived behind it, and a restore to a moment: with the server's own functions on version 18,
 * and with `pg_basebackup` where Debian's package is.
 */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { migratePostgres } from '../../../src/adapters/postgres/migrate.ts';
import { createNodeRuntime } from '../../../src/node.ts';
import type { NodeRuntime } from '../../../src/node.ts';
import { readPage } from '../../docs/pages.ts';
import { ask, urlOf } from '../../support/postgres-databases.ts';
import { freePort } from '../../support/postgres-keeping.ts';
import { PostgresServer } from '../../support/postgres-process.ts';
import { DEBIAN_PROGRAMS, embeddedPrograms, hasDebianPostgres } from '../../support/postgres-programs.ts';
import type { PostgresPrograms } from '../../support/postgres-programs.ts';
import { programFolder, runProgram } from '../../support/postgres-run.ts';
import { debianServer, ownServer } from '../../support/postgres-server.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const DATABASE = 'wakechart';

const [, archiveCommand = ''] = /archive_command = '([^']+)'/.exec(readPage('docs/production.md')) ?? [];

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

type BaseBackup = (server: PostgresServer, into: string) => Promise<void>;

/** What `pg_basebackup` does, asked for by hand: the files between a start and a stop, and the label of the stop. */
const byHand: BaseBackup = async (server, into) => {
  const client = new Client({ connectionString: server.adminUrl() });
  await client.connect();
  await client.query("SELECT pg_backup_start('test', fast => true)");
  const copy = 'cp -R "$0" "$1" && rm -rf "$1"/postmaster.* "$1"/pg_wal && mkdir -m 700 "$1"/pg_wal';
  await runProgram('sh', ['-c', copy, join(server.place.folder, 'data'), into]);
  const { rows } = await client.query<{ readonly labelfile: string }>('SELECT labelfile FROM pg_backup_stop()');
  await client.end();
  await runProgram('sh', ['-c', 'printf %s "$0" > "$1"', rows[0]?.labelfile ?? '', join(into, 'backup_label')]);
};

const byProgram: BaseBackup = async (server, into) => {
  const program = join(DEBIAN_PROGRAMS.postgres, '../pg_basebackup');
  await runProgram(program, ['-d', server.adminUrl(), '-D', into, '--checkpoint=fast', '--wal-method=none']);
};

interface Kind {
  readonly name: string;
  readonly programs: () => Promise<PostgresPrograms>;
  readonly make: (settings: Readonly<Record<string, string>>) => Promise<PostgresServer | undefined>;
  readonly backUp: BaseBackup;
}

const KINDS: readonly Kind[] = [
  { name: 'PostgreSQL 18', programs: embeddedPrograms, make: (settings) => ownServer({ settings }), backUp: byHand },
  ...(hasDebianPostgres
    ? [
        {
          name: 'PostgreSQL 15 and pg_basebackup',
          programs: async () => DEBIAN_PROGRAMS,
          make: (settings: Readonly<Record<string, string>>) => debianServer({ settings }),
          backUp: byProgram,
        },
      ]
    : []),
];

interface Restored {
  readonly kind: Kind;
  readonly base: string;
  readonly archive: string;
  readonly until: string;
}

async function restored({ kind, base, archive, until }: Restored): Promise<PostgresServer> {
  await writeFile(join(base, 'data/recovery.signal'), '');
  const server = new PostgresServer(
    {
      programs: await kind.programs(),
      settings: {
        restore_command: `cp ${archive}/%f %p`,
        recovery_target_time: until,
        recovery_target_action: 'promote',
        full_page_writes: 'on',
      },
    },
    { folder: base, port: await freePort() },
  );
  closers.push(() => server.remove());
  await server.start();
  await expect
    .poll(() => ask(server.adminUrl(), 'SELECT pg_is_in_recovery() AS is_behind'), { timeout: 30_000 })
    .toEqual([{ is_behind: false }]);
  return server;
}

async function opened(home: TemporaryHome, postgres: string): Promise<NodeRuntime> {
  const runtime = await createNodeRuntime({ home: home.path, store: { postgres }, leaseMs: 2_000 });
  closers.push(() => runtime.shutdown().catch(() => undefined));
  return runtime;
}

async function agent(runtime: NodeRuntime, home: TemporaryHome, agentId: string, steps: object[]): Promise<string> {
  await runtime.agents.create({
    agentId,
    source: { frontmatter: { name: agentId, provider: 'script', model: 'script.json' }, instructions: 'Play.' },
  });
  const script = JSON.stringify({ format: 'wakechart-script/1', steps });
  await writeFile(join(home.path, 'agents', agentId, 'script.json'), script);
  const { sessionId } = await runtime.sessions.create({ agentId });
  return sessionId;
}

const sleeps = (summary: string): object => ({ directive: { outcome: 'sleep', summary } });
const says = (text: string): { readonly type: 'user.message'; readonly text: string } => ({
  type: 'user.message',
  text,
});

describe.each(KINDS)('a restore to a moment on $name', (kind) => {
  it('gives sessions as they were then, with no lease that holds, and a worker goes on with them', async () => {
    const home = await temporaryHome();
    closers.push(() => home.remove());
    const archive = await programFolder(`archive-${kind.name.replaceAll(' ', '-')}`);
    const server = await kind.make({
      wal_level: 'replica',
      archive_mode: 'on',
      archive_command: archiveCommand.replaceAll('/archive/', `${archive}/`),
      full_page_writes: 'on',
    });
    if (server === undefined) throw new Error('expected a server');
    closers.push(() => server.remove());
    const url = server.url();
    await migratePostgres({ url, clock: createSystemClock() });
    const runtime = await opened(home, url);

    const old = await agent(runtime, home, 'old', [sleeps('Before the backup.'), sleeps('After.')]);
    await runtime.sessions.send(old, says('One.'));
    await runtime.wake(old);
    const base = await programFolder(`restored-${kind.name.replaceAll(' ', '-')}`);
    await kind.backUp(server, join(base, 'data'));
    const later = await agent(runtime, home, 'later', [sleeps('After the backup.')]);
    await runtime.sessions.send(later, says('Two.'));
    await runtime.wake(later);
    const call = { name: 'shell_run', input: { command: 'sleep 600' } };
    const awake = await agent(runtime, home, 'awake', [{ toolCalls: [call] }, sleeps('Went on.')]);
    await runtime.sessions.send(awake, says('Three.'));
    void runtime.wake(awake).catch(() => undefined);
    await expect
      .poll(async () => (await runtime.sessions.status(awake)).openToolCalls[0]?.phase, { timeout: 20_000 })
      .toBe('started');
    const [moment] = await ask<{ readonly at: string }>(server.adminUrl(), 'SELECT clock_timestamp()::text AS at');
    const heads = await Promise.all([old, later, awake].map(async (id) => (await runtime.sessions.status(id)).head));
    await runtime.sessions.send(old, says('Too late.'));
    await runtime.wake(old);
    const lost = await agent(runtime, home, 'lost', []);
    await runtime.shutdown();
    await ask(server.adminUrl(), 'SELECT pg_switch_wal()');
    await expect
      .poll(() => ask(server.adminUrl(), 'SELECT count(*)::int AS n FROM pg_stat_archiver WHERE archived_count > 1'), {
        timeout: 30_000,
      })
      .toEqual([{ n: 1 }]);
    await server.stop();
    await rm(server.place.folder, { recursive: true, force: true });

    const again = await restored({ kind, base, archive, until: moment?.at ?? '' });
    const after = await opened(home, urlOf(again.url(), DATABASE));
    expect(await Promise.all([old, later, awake].map(async (id) => (await after.sessions.status(id)).head))).toEqual(
      heads,
    );
    await expect(after.sessions.status(lost)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    expect((await after.sessions.status(awake)).openWake).toBeDefined();
    await after.sessions.send(old, says('Again.'));
    await expect
      .poll(
        async () => {
          await after.startWorker({ untilIdle: true }).ended;
          const { openWake, lastWake } = await after.sessions.status(awake);
          return openWake === undefined ? lastWake?.outcome : 'open';
        },
        { timeout: 30_000 },
      )
      .toBe('sleep');
    expect(await after.sessions.status(old)).toMatchObject({ status: 'idle', summary: 'After.' });
    const results: string[] = [];
    for await (const event of after.sessions.events(awake))
      if (event.type === 'agent.tool_result') results.push(event.data.outcome);
    expect(results).toEqual(['unknown']);
  }, 120_000);
});
