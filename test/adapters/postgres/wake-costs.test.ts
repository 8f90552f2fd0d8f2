/**
 * What one wake asks of the server, counted at the wire: it does not depend on the machine, and a change that adds to
 * it has to say so.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SessionWorker } from '../../../src/actors/session/session-worker.ts';
import type { SessionWorkerEvent } from '../../../src/actors/session/session-worker-types.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import { FileAgentCatalog } from '../../../src/adapters/agents/file-agent-catalog.ts';
import { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import { createScriptAgentRuntime } from '../../../src/adapters/script/script-agent-runtime.ts';
import { createRuntime } from '../../../src/runtime.ts';
import type { Runtime } from '../../../src/runtime.ts';
import { countedWire } from '../../support/counted-wire.ts';
import type { CountedWire } from '../../support/counted-wire.ts';
import { ask } from '../../support/postgres-databases.ts';
import { migratedDatabase } from '../../support/postgres-server.ts';
import type { FreshDatabase } from '../../support/postgres-server.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const clock = createSystemClock();
const MESSAGE = { type: 'user.message', text: 'What comes next?' } as const;

let database: FreshDatabase;
let wire: CountedWire;
let home: TemporaryHome;
let maker: Runtime;
let waker: Runtime;
let worker: SessionWorker;
const stores: PostgresEventStore[] = [];

async function open(url: string): Promise<Runtime> {
  const store = await PostgresEventStore.open({ url, clock, leaseMs: 600_000, slowPollMs: 600_000 });
  stores.push(store);
  const agents = new FileAgentCatalog({ agentsDirectory: join(home.path, 'agents') });
  return createRuntime({
    clock: store.clock,
    store,
    directories: {
      agentDirectory: (agentId) => join(home.path, 'agents', agentId),
      workspaceDirectory: async () => home.path,
    },
    agents,
    runtimes: [createScriptAgentRuntime({ clock })],
    tasks: new BackgroundTaskManager({ runners: {}, clock }),
    onListenerError: () => undefined,
  });
}

beforeAll(async () => {
  database = await migratedDatabase();
  wire = await countedWire({ to: database.url });
  home = await temporaryHome();
  maker = await open(database.url);
  await maker.agents.create({
    agentId: 'echo',
    source: { frontmatter: { name: 'Echo', provider: 'script', model: 'echo.json' }, instructions: 'Say something.' },
  });
  await writeFile(
    join(home.path, 'agents/echo/echo.json'),
    JSON.stringify({
      format: 'wakechart-script/1',
      steps: [{ text: 'It was the age of wisdom.' }],
      onEnd: 'repeat-last',
    }),
  );
  waker = await open(wire.url);
  worker = waker.startWorker({ concurrency: 1 });
  await said('idle');
});
afterAll(async () => {
  await worker.stop();
  await Promise.all([maker.shutdown(), waker.shutdown()]);
  await Promise.all(stores.map((store) => store.close()));
  await wire.stop();
  await database.drop();
  await home.remove();
});

/** Of a statement: the function or table that it is about. */
const nameOf = (text: string): string => /"wakechart"\.([a-z0-9_]+)/.exec(text)?.[1] ?? text.trim().slice(0, 40);

/**
 * News for others, over the connection that listens: no wake waits for it, and how many appends are told together
 * depends on the machine.
 */
const NEWS = 'SELECT pg_notify($1, $2)';

interface Cost {
  /** Without news. */
  readonly statements: readonly string[];
  readonly roundTrips: number;
}

/** Resolves when the worker has said this, and what it has said then was done. */
function said(type: SessionWorkerEvent['type']): Promise<void> {
  return new Promise((resolve) => {
    const told = worker.events$.subscribe((event) => {
      if (event.type !== type) return;
      resolve();
      queueMicrotask(() => told.unsubscribe());
    });
  });
}

/**
 * The worker, which rests, is told of a message by another process, and wakes the session: from the check that finds it
 * to its sleep.
 */
async function costOfWake(sessionId: string): Promise<Cost> {
  const idle = said('idle');
  let cost: Cost | undefined;
  const slept = worker.events$.subscribe(({ type }) => {
    if (type !== 'slept') return;
    const names = wire.statements.map(nameOf);
    const own = names.filter((name) => name !== NEWS);
    // Late news of what came before has the worker check once more, and find nothing: that is no part of this wake.
    const earlier = own.lastIndexOf('claim_due_2');
    cost = { statements: own.slice(earlier), roundTrips: wire.roundTrips - (names.length - own.length) - earlier };
  });
  wire.clear();
  await maker.sessions.send(sessionId, MESSAGE);
  await idle;
  slept.unsubscribe();
  if (cost === undefined) throw new Error('expected a wake');
  return cost;
}

describe('one wake of a worker', () => {
  const ONE_WAKE = ['claim_due_2', 'append_one_1', 'append_events_1', 'append_events_1', 'append_one_1'];

  it('asks for what is due with all that it has to know, and appends four times: five ways there and back', async () => {
    const { sessionId: other } = await maker.sessions.create({ agentId: 'echo' });
    // Connections are made, and statements prepared.
    await costOfWake(other);
    const { sessionId } = await maker.sessions.create({ agentId: 'echo' });
    for (const nth of ['first', 'second']) {
      const { statements, roundTrips } = await costOfWake(sessionId);
      expect([nth, statements, roundTrips]).toEqual([nth, ONE_WAKE, 5]);
    }
  });

  it('keeps the view and releases the session with the record that ends it', async () => {
    const { sessionId } = await maker.sessions.create({ agentId: 'echo' });
    await costOfWake(sessionId);
    const [row] = await ask(
      database.url,
      'SELECT s.lease_worker, s.lease_given, s.epoch, v.head = s.head AS is_kept, (SELECT count(*)::int FROM wakechart.claim) AS claims FROM wakechart.session s JOIN wakechart.view v ON v.session_id = s.id WHERE s.id = $1',
      [sessionId],
    );
    expect(row).toEqual({ lease_worker: null, lease_given: 1, epoch: 1, is_kept: true, claims: 0 });
  });
});
