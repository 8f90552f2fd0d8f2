/**
 * What a wake of the whole Node runtime asks of the server beside its claim, counted at the wire: a change that adds to
 * it has to say so.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COPY_TABLE } from '../../../src/adapters/postgres/workspace-copy-tables.ts';
import { createNodeRuntime } from '../../../src/node.ts';
import type { NodeRuntime } from '../../../src/node.ts';
import { countedWire } from '../../support/counted-wire.ts';
import type { CountedWire } from '../../support/counted-wire.ts';
import { migratedDatabase } from '../../support/postgres-server.ts';
import type { FreshDatabase } from '../../support/postgres-server.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const MESSAGE = { type: 'user.message', text: 'What comes next?' } as const;
const SCRIPT = { format: 'wakechart-script/1', steps: [{ text: 'It was the age of wisdom.' }], onEnd: 'repeat-last' };

/** Of a worker's life and checks, of connections, and news for others. */
const OF_NO_WAKE = /claim_due|"wakechart"\.worker|pg_backend_pid|pg_notify/;

let database: FreshDatabase;
let wire: CountedWire;
let home: TemporaryHome;
let runtime: NodeRuntime;

beforeAll(async () => {
  database = await migratedDatabase();
  wire = await countedWire({ to: database.url });
  home = await temporaryHome();
  runtime = await createNodeRuntime({ home: home.path, store: { postgres: wire.url }, leaseMs: 600_000 });
  await runtime.agents.create({
    agentId: 'echo',
    source: { frontmatter: { name: 'Echo', provider: 'script', model: 'echo.json' }, instructions: 'Say something.' },
  });
  await writeFile(join(home.path, 'agents/echo/echo.json'), JSON.stringify(SCRIPT));
  await wokenFor(await newSession());
});
afterAll(async () => {
  await runtime.shutdown();
  await wire.stop();
  await database.drop();
  await home.remove();
});

async function newSession(): Promise<string> {
  return (await runtime.sessions.create({ agentId: 'echo' })).sessionId;
}

/** The functions and tables that the wake for one message asks, in order. */
async function wokenFor(sessionId: string): Promise<readonly string[]> {
  await runtime.sessions.send(sessionId, MESSAGE);
  wire.clear();
  await runtime.startWorker({ untilIdle: true }).ended;
  return wire.statements
    .filter((text) => !OF_NO_WAKE.test(text))
    .map((text) => /"wakechart"\.([a-z0-9_]+)/.exec(text)?.[1] ?? text);
}

describe('a wake of the whole Node runtime', () => {
  const ONE_WAKE = [
    ...['acquire_lease_2', COPY_TABLE, 'append_events_1'],
    ...['candidate_standing', 'append_events_1', 'append_events_1'],
    ...[COPY_TABLE, 'append_one_1'],
  ];

  it('asks eight times beside its claim: its folder is looked up once, and a copy of it kept once', async () => {
    expect(await wokenFor(await newSession())).toEqual(ONE_WAKE);
  });

  it('asks no more when the session is woken again', async () => {
    const sessionId = await newSession();
    await wokenFor(sessionId);
    expect(await wokenFor(sessionId)).toEqual(ONE_WAKE);
  });
});

describe('a session that is made under a key', () => {
  const askedFor = async (idempotencyKey?: string): Promise<number> => {
    wire.clear();
    await runtime.sessions.create({ agentId: 'echo' }, { idempotencyKey });
    return wire.statements.filter((text) => !OF_NO_WAKE.test(text)).length;
  };

  it('asks once more than one without, and only once when it is there', async () => {
    const plain = await askedFor();
    expect([await askedFor('k'), await askedFor('k')]).toEqual([plain + 1, 1]);
  });
});
