/** The statements of the operations page, run as the role that they name, on a database with something in it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import { PostgresEventStore } from '../../src/adapters/postgres/postgres-event-store.ts';
import { OWNER, WORKER, rolesSetup } from '../adapters/postgres/roles-setup.ts';
import type { RolesSetup } from '../adapters/postgres/roles-setup.ts';
import { ask } from '../support/postgres-databases.ts';
import { ownServer } from '../support/postgres-server.ts';
import { IDENTITY, SESSION_ID, created, message, newEvent } from '../support/session-events.ts';
import { codeBlocks, readPage } from './pages.ts';

const MONITOR = 'wakechart_monitor';

const ROLES: Readonly<Record<string, string>> = { monitor: MONITOR, owner: OWNER, worker: WORKER, admin: 'postgres' };

const blocks = codeBlocks(readPage('docs/postgres-operations.md')).filter(({ info }) => info.startsWith('sql'));

let setup: RolesSetup;
let store: PostgresEventStore;

beforeAll(async () => {
  setup = rolesSetup(await ownServer());
  await setup.grant({ monitor: MONITOR });
  await setup.migrate();
  await setup.grant({ monitor: MONITOR });
  store = await PostgresEventStore.open({ url: setup.urlOf(WORKER), clock: createSystemClock(), owner: 'here:1' });
  await store.create(IDENTITY, [newEvent(1, created)]);
  await store.append(SESSION_ID, [newEvent(2, message('Something.'))], {
    activate: [{ ...IDENTITY, causeId: newEvent(2, created).id, kind: 'ingress', dueAtMs: 0, priority: 'normal' }],
  });
  await store.acquireWakeRight(SESSION_ID, { epoch: 0, isOpen: false });
});

afterAll(async () => {
  await store.close();
  await setup.server.remove();
});

describe('the operations page', () => {
  it.each(blocks.map(({ info, code, line }) => [line, info.split(' ')[1] ?? '', code] as const))(
    'has a statement on line %i that %s may run',
    async (_line, role, code) => {
      const statements = code.split(/;\n/).filter((statement) => statement.trim() !== '');
      for (const statement of statements)
        await expect(ask(setup.urlOf(ROLES[role] ?? ''), statement)).resolves.toBeDefined();
    },
  );

  it('says what is due, who works, and what they have in hand', async () => {
    const answers = await Promise.all(
      blocks
        .filter(({ info }) => info === 'sql monitor')
        .map(({ code }) => ask<Record<string, unknown>>(setup.urlOf(MONITOR), code)),
    );
    const rows = answers.flat();
    expect(rows).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ tenant: 'default', priority: 'normal', sessions: '1' }),
        expect.objectContaining({ owner: 'here:1', lives: true, sessions: '1' }),
        expect.objectContaining({ id: SESSION_ID, owner: 'here:1', holder_lives: true }),
        expect.objectContaining({ usename: WORKER, application_name: 'wakechart' }),
        expect.objectContaining({ version: 1, name: 'sessions' }),
      ]),
    );
  });
});
