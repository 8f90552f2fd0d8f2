/** What an operator asks of a runtime over a database: also of one that is away. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { migratePostgres } from '../../../src/adapters/postgres/migrate.ts';
import { createHealthHandler, createNodeRuntime } from '../../../src/node.ts';
import type { NodeRuntime } from '../../../src/node.ts';
import { ask } from '../../support/postgres-databases.ts';
import { ownServer } from '../../support/postgres-server.ts';
import { temporaryHome } from '../../support/temporary-home.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function place(): Promise<{
  readonly runtime: NodeRuntime;
  readonly server: Awaited<ReturnType<typeof ownServer>>;
}> {
  const server = await ownServer();
  closers.push(() => server.remove());
  await migratePostgres({ url: server.url(), clock: createSystemClock() });
  const home = await temporaryHome();
  closers.push(() => home.remove());
  const runtime = await createNodeRuntime({ home: home.path, store: { postgres: server.url(), patienceMs: 5_000 } });
  closers.push(() => runtime.shutdown().catch(() => undefined));
  await runtime.agents.create({
    agentId: 'actor',
    source: { frontmatter: { name: 'Actor', provider: 'script', model: 'script.json' }, instructions: 'Play.' },
  });
  const script = { format: 'wakechart-script/1', steps: [{ directive: { outcome: 'sleep', summary: 'Done.' } }] };
  await writeFile(join(home.path, 'agents/actor/script.json'), JSON.stringify(script));
  return { runtime, server };
}

const get = (handler: (request: Request) => Promise<Response>, path: string): Promise<Response> =>
  handler(new Request(`http://localhost${path}`));

describe('a runtime over PostgreSQL', () => {
  it('tells of the fleet, is not ready while the server is away, and holds no scrape up', async () => {
    const { runtime, server } = await place();
    const handler = createHealthHandler(runtime);
    const { sessionId } = await runtime.sessions.create({ agentId: 'actor' });
    await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Begin.' });
    const before = await (await get(handler, '/metrics')).text();
    expect(before).toContain('wakechart_due_sessions 1\n');
    expect(before).toMatch(/^wakechart_fleet_workers\{alive="true"\} \d$/m);
    await runtime.startWorker({ untilIdle: true }).ended;
    expect(await (await get(handler, '/metrics')).text()).toContain('wakechart_due_sessions 0\n');
    await server.stop('immediate');
    const away = await get(handler, '/readyz');
    expect(away.status).toBe(503);
    expect(await away.json()).toMatchObject({
      reasons: expect.arrayContaining([
        expect.objectContaining({ because: expect.stringMatching(/^store_(?:silent|failed)$/) as string }),
      ]) as unknown,
    });
    const scraped = await (await get(handler, '/metrics')).text();
    expect(scraped).toContain('wakechart_store_up 0\n');
    expect(scraped).toContain('wakechart_wakes_total{agent="actor",outcome="sleep"} 1\n');
    expect(scraped).not.toContain('wakechart_due_sessions ');
    expect((await get(handler, '/healthz')).status).toBe(200);
    await server.start();
    await expect
      .poll(async () => (await get(handler, '/metrics')).text(), { timeout: 20_000 })
      .toContain('store_up 1\n');
  }, 60_000);

  it('is not ready where its schema serves no program this old', async () => {
    const { runtime, server } = await place();
    await ask(server.url(), 'UPDATE wakechart.migration SET serves = 10000');
    expect(await runtime.operations.readiness()).toMatchObject({
      isReady: false,
      reasons: [{ because: 'store_failed', code: 'STORE_SCHEMA_NEW' }],
    });
  }, 60_000);

  it('prunes sessions that rest, and no row of theirs is left', async () => {
    const { runtime, server } = await place();
    const { sessionId } = await runtime.sessions.create({ agentId: 'actor' });
    await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Begin.' });
    expect((await runtime.sessions.prune({ idleForMs: 0 })).pruned).toEqual([]);
    await runtime.wake(sessionId);
    expect(await runtime.sessions.prune({ idleForMs: 0 })).toMatchObject({ pruned: [{ sessionId }], left: [] });
    for (const table of ['session', 'event', 'view', 'activation', 'claim'])
      expect(await ask(server.url(), `SELECT count(*)::int AS rows FROM wakechart.${table}`)).toEqual([{ rows: 0 }]);
  }, 60_000);
});
