/**
 * The crash matrix of the server: it crashes before or after any statement that changes something, and comes back. The
 * process that asked goes on, or another machine has gone on in its place by then: what was acknowledged is there, no
 * epoch was given twice, no effect was begun twice, every session can be read and comes to rest, and a folder that may
 * have lost something says so.
 */
import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { createWorkspaceCopies } from '../../../src/actors/workspace-copy/workspace-copies.ts';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import type { Tool } from '../../../src/actors/turn/tool.ts';
import { FileAgentCatalog } from '../../../src/adapters/agents/file-agent-catalog.ts';
import { HomeLayout } from '../../../src/adapters/files/layout.ts';
import { createHomeCopyFolders } from '../../../src/adapters/workspace-copy-files/home-copy-folders.ts';
import { createPostgresCandidateHealthStore } from '../../../src/adapters/postgres/candidate-health-store.ts';
import { createPostgresWorkspaceCopyStore } from '../../../src/adapters/postgres/workspace-copy-store.ts';
import { createPostgresJobRecords } from '../../../src/adapters/postgres/job-records.ts';
import type { PostgresJobRecords } from '../../../src/adapters/postgres/job-records.ts';
import { migratePostgres } from '../../../src/adapters/postgres/migrate.ts';
import { createPostgresPolicyStore } from '../../../src/adapters/postgres/policy-store.ts';
import { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import { createPostgresScheduleStore } from '../../../src/adapters/postgres/schedule-store.ts';
import { createScriptAgentRuntime } from '../../../src/adapters/script/script-agent-runtime.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { parseRule } from '../../../src/machines/permission/permission-rule.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import { createRuntime } from '../../../src/runtime.ts';
import type { Runtime } from '../../../src/runtime.ts';
import { IDENTITY, SESSION_ID, creation, messageOf } from '../../../src/testing/session-fixtures.ts';
import { claimed, planned } from '../../actors/schedule/schedule-store-contract.ts';
import { jobRecord } from '../../contracts/job-records.contract.ts';
import { ACTING_STEPS, expectWhole } from '../../runtime/crash-matrix-suite.ts';
import { ask } from '../../support/postgres-databases.ts';
import { ownServer } from '../../support/postgres-server.ts';
import type { PostgresServer } from '../../support/postgres-server.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';
import { LAZY_LOG, crash } from './crashing-server.ts';

const clock = createSystemClock();

/** Statements that change nothing. */
const READING = /^(session|event|blob|migration|read_events_1)$|^SELECT /;

interface Machine {
  readonly runtime: Runtime;
  readonly store: PostgresEventStore;
  /** Called around each statement. */
  onStatement: (phase: 'before' | 'after', statement: string) => Promise<void>;
  close(): Promise<void>;
}

const effects: string[] = [];
/** By session: what it was given, and what it was told is stored. */
const epochs = new Map<string, number[]>();
const acknowledged = new Map<string, string[]>();

const effectTool: Tool<{ name: string }> = {
  definition: {
    name: 'effect',
    description: 'Does something.',
    inputSchema: z.object({ name: z.string() }),
    ownership: 'custom',
    permissionPolicy: 'always_allow',
    readOnly: false,
    destructive: false,
    interruptBehavior: 'cancel',
  },
  async run({ name }, { callId, workspaceDirectory }) {
    effects.push(callId);
    await writeFile(join(workspaceDirectory, `${name}.txt`), callId);
    return { did: name };
  },
};

function noted<Key, Value>(notes: Map<Key, Value[]>, key: Key, ...values: readonly Value[]): void {
  notes.set(key, [...(notes.get(key) ?? []), ...values]);
}

async function machine(url: string, name: string, home: TemporaryHome): Promise<Machine> {
  const layout = new HomeLayout(home.path);
  const hook: Pick<Machine, 'onStatement'> = { onStatement: async () => undefined };
  const store = await PostgresEventStore.open({
    url,
    clock,
    owner: name,
    leaseMs: 60_000,
    onStatement: (phase, statement) => hook.onStatement(phase, statement),
  });
  const [append, acquire] = [store.append.bind(store), store.acquireWakeRight.bind(store)];
  store.append = async (sessionId, ...rest) => {
    const result = await append(sessionId, ...rest);
    noted(acknowledged, sessionId, ...result.events.map(({ id }) => id));
    return result;
  };
  store.acquireWakeRight = async (sessionId, claim) => {
    const right = await acquire(sessionId, claim);
    noted(epochs, sessionId, right.epoch);
    return right;
  };
  const agents = new FileAgentCatalog({ agentsDirectory: layout.agents });
  await agents.create({
    agentId: 'player',
    source: {
      frontmatter: {
        name: 'player',
        provider: 'script',
        model: 'play.json',
        permission: 'preapproved',
        tools: ['effect'],
      },
      instructions: '',
    },
  });
  await writeFile(
    join(layout.agents, 'player', 'play.json'),
    JSON.stringify({ format: 'wakechart-script/1', steps: ACTING_STEPS, onEnd: 'sleep' }),
  );
  const workspaceCopies = createWorkspaceCopies({
    copies: createPostgresWorkspaceCopyStore({ database: store.database }),
    folders: { ...createHomeCopyFolders({ layout }), host: async () => ({ id: name, name }) },
    boundBecause: async () => undefined,
    onTrouble: () => undefined,
  });
  const runtime = createRuntime({
    ...{ clock: store.clock, store, directories: layout, agents, workspaceCopies, tools: [effectTool], owner: name },
    runtimes: [createScriptAgentRuntime({ clock })],
    tasks: new BackgroundTaskManager({ runners: {}, clock }),
    onListenerError: () => undefined,
  });
  return Object.assign(hook, { runtime, store, close: () => runtime.shutdown().then(() => store.close()) });
}

let server: PostgresServer;
let url: string;
let homes: readonly TemporaryHome[];
let one: Machine;
let two: Machine;
let jobs: PostgresJobRecords;

beforeAll(async () => {
  server = await ownServer({ settings: LAZY_LOG });
  ({ url } = await server.freshDatabase());
  await migratePostgres({ url, clock });
  homes = await Promise.all([temporaryHome(), temporaryHome()]);
  const [here, there] = homes;
  if (here === undefined || there === undefined) throw new Error('expected two homes');
  [one, two] = [await machine(url, 'one', here), await machine(url, 'two', there)];
  const outputs = { keepOutput: () => Promise.reject(new Error('there is none')), remove: async () => undefined };
  jobs = createPostgresJobRecords({ database: one.store.database, clock, place: 'here', machine: 'one', outputs });
});
afterAll(async () => {
  await jobs.close();
  await Promise.all([one, two].map((each) => each.close()));
  await server.remove();
  await Promise.all(homes.map((home) => home.remove()));
});

type Phase = 'before' | 'after';

/**
 * Counts what a machine asks for, and does something in the place of one of them: before it is asked, or after it was
 * answered.
 */
function atPoint(
  target: Machine,
  { point, phases }: { readonly point: number; readonly phases: readonly Phase[] },
  act: () => Promise<void>,
): { readonly passed: () => number } {
  let count = 0;
  target.onStatement = async (phase, statement) => {
    if (READING.test(statement) || !phases.includes(phase)) return;
    count += 1;
    if (count === point) await act();
  };
  return { passed: () => count };
}

async function logOf(sessionId: string): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of two.runtime.sessions.events(sessionId)) events.push(event);
  return events;
}

/** Everything that must hold after it. */
async function expectRecovered(sessionId: string): Promise<void> {
  for (let round = 0; round < 4; round += 1)
    if ((await two.runtime.sessions.get(sessionId)).status !== 'terminated') await wakeIfFree(two, sessionId);
  const { status, openWake, openToolCalls, pending } = await two.runtime.sessions.get(sessionId);
  expect({ openWake, openToolCalls, pending }).toEqual({ openWake: undefined, openToolCalls: [], pending: [] });
  expect(status).toMatch(/idle|terminated/);
  const events = await logOf(sessionId);
  expectWhole(events);
  const ids = new Set(events.map(({ id }) => id));
  expect((acknowledged.get(sessionId) ?? []).filter((id) => !ids.has(id))).toEqual([]);
  const given = epochs.get(sessionId) ?? [];
  expect(new Set(given).size).toBe(given.length);
  expect(new Set(effects).size).toBe(effects.length);
  expectMovesTold(events);
}

/** A wake on another machine than the one before it says so, and what the one that died had in no copy. */
function expectMovesTold(events: readonly SessionEvent[]): void {
  const wakes = events.filter((event) => event.type === 'wake.started');
  for (const [index, wake] of wakes.entries()) {
    const before = wakes[index - 1];
    if (before === undefined || before.data.host?.id === wake.data.host?.id) continue;
    const told = events.find((event) => event.type === 'workspace.restored' && event.epoch === wake.data.epoch);
    const hasDied = events.some(
      (event) =>
        event.type === 'wake.ended' && event.data.wakeId === before.data.wakeId && event.epoch === wake.data.epoch,
    );
    expect(
      told?.type === 'workspace.restored' && told.data,
      `wake ${wake.data.epoch} on ${wake.data.host?.name}`,
    ).toMatchObject({ from: before.data.host?.name, ...(hasDied ? { mayHaveLost: true } : {}) });
  }
}

async function wakeIfFree({ runtime }: Machine, sessionId: string): Promise<void> {
  try {
    await runtime.trigger(sessionId);
  } catch (error) {
    // Somebody else was faster, or has gone on in its place.
    if (!RuntimeError.is(error) || error.category !== 'conflict') throw error;
  }
}

/** Counts for nobody any more, however well it is. */
async function silence({ store }: Machine): Promise<void> {
  await ask(url, 'UPDATE wakechart.worker SET alive_until = least(alive_until, clock_timestamp()) WHERE id = $1', [
    store.workerId,
  ]);
}

/** The other machine takes the session over before the one that asked hears of anything. */
async function takenOver(sessionId: string): Promise<void> {
  await crash(server);
  await silence(one);
  await wakeIfFree(two, sessionId);
}

interface Scenario {
  readonly what: string;
  readonly atLeast: number;
  /**
   * After one statement and before the next the server has the same: where the time counts, only the first is tried.
   */
  readonly phases: readonly Phase[];
  readonly act: (sessionId: string) => Promise<void>;
  readonly crashes: (sessionId: string) => Promise<void>;
}

const crashed = (): Promise<void> => crash(server);

const SCENARIOS: readonly Scenario[] = [
  { what: 'a wake', atLeast: 14, phases: ['after'], act: (sessionId) => wakeIfFree(one, sessionId), crashes: crashed },
  {
    what: 'messages with keys',
    atLeast: 4,
    phases: ['before', 'after'],
    act: async (sessionId) => {
      for (const n of [1, 2])
        await one.runtime.sessions.send(
          sessionId,
          { type: 'user.message', text: `message ${n}` },
          { idempotencyKey: `key ${n}`, delivery: n === 2 ? 'interrupt' : 'queue' },
        );
    },
    crashes: crashed,
  },
  {
    what: 'a worker',
    atLeast: 16,
    phases: ['after'],
    act: async () => void (await one.runtime.startWorker({ untilIdle: true, concurrency: 1 }).ended),
    crashes: crashed,
  },
  {
    what: 'a wake that is taken over',
    atLeast: 14,
    phases: ['after'],
    act: (sessionId) => wakeIfFree(one, sessionId),
    crashes: takenOver,
  },
];

async function newSession(): Promise<string> {
  const { sessionId } = await two.runtime.sessions.create({ agentId: 'player' });
  await two.runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go' });
  return sessionId;
}

async function live({ act, crashes, phases }: Scenario, point: number): Promise<number> {
  const sessionId = await newSession();
  const { passed } = atPoint(one, { point, phases }, () => crashes(sessionId));
  await act(sessionId);
  one.onStatement = async () => undefined;
  const count = passed();
  await expectRecovered(sessionId).catch((error: unknown) => {
    throw new Error(`after a crash at statement ${point}`, { cause: error });
  });
  return count;
}

describe('a server that crashes at any statement', () => {
  it.each(SCENARIOS)(
    'of $what loses nothing, doubles nothing and wedges nobody',
    { timeout: 600_000 },
    async (scenario) => {
      const operations = await live(scenario, Infinity);
      expect(operations).toBeGreaterThanOrEqual(scenario.atLeast);
      for (let point = 1; point <= operations; point += 1) await live(scenario, point);
    },
  );
});

/** What others go by: done on one machine, searched for on the other after a crash in the moment of the answer. */
const ANSWERS: readonly {
  readonly what: string;
  readonly say: () => Promise<unknown>;
  readonly find: () => Promise<unknown>;
  readonly found: unknown;
}[] = [
  {
    what: 'a session',
    say: () => one.store.create(IDENTITY, creation()),
    find: () => two.store.head(SESSION_ID),
    found: 1,
  },
  {
    what: 'an event and its key',
    say: () => one.store.append(SESSION_ID, [messageOf(2)], { idempotencyKey: 'key' }),
    find: async () => (await two.store.findByKey(SESSION_ID, 'key'))?.events.length,
    found: 1,
  },
  {
    what: 'what is due',
    say: () =>
      one.store.activations.add([
        { ...IDENTITY, causeId: messageOf(2).id, kind: 'ingress', dueAtMs: 0, priority: 'normal' },
      ]),
    find: async () =>
      (await two.store.activations.due({ nowMs: Date.now(), limit: 10 })).due.some(
        ({ sessionId }) => sessionId === SESSION_ID,
      ),
    found: true,
  },
  {
    what: 'the place of a copy',
    say: () => workspaceCopiesOf(one).record(SESSION_ID, { epoch: 1, host: { id: 'one', name: 'one' } }),
    find: async () => (await workspaceCopiesOf(two).latest(SESSION_ID))?.host?.name,
    found: 'one',
  },
  {
    what: 'a piece of a copy',
    say: () => workspaceCopiesOf(one).put(SESSION_ID, [{ hash: 'a'.repeat(64), bytes: new Uint8Array([1]) }]),
    find: async () => (await workspaceCopiesOf(two).has(SESSION_ID, ['a'.repeat(64)])).size,
    found: 1,
  },
  {
    what: 'the slot of a schedule',
    say: () => slotsOf(one).append('nightly', [planned(), claimed(1, 'a')]),
    find: () => slotsOf(two).append('nightly', [claimed(1, 'b')]),
    found: [false],
  },
  {
    what: 'the number and the record of a job',
    say: () => jobs.create(jobRecord),
    find: async () => (await jobs.list()).length,
    found: 1,
  },
  {
    what: 'the failure of a candidate, which rests',
    say: () =>
      candidateHealthOf(one).report(CANDIDATE, {
        kind: 'failed',
        failure: { kind: 'overloaded', message: 'it was overloaded' },
      }),
    find: async () => (await candidateHealthOf(two).read([CANDIDATE]))[0]?.failures,
    found: 1,
  },
  {
    what: 'a rule',
    say: () =>
      rulesOf(one).keep('player', parseRule('allow effect'), { by: { sessionId: SESSION_ID, requestId: 'request' } }),
    find: async () => (await rulesOf(two).rules('player')).length,
    found: 1,
  },
];

const CANDIDATE = { provider: 'anthropic', model: 'large', profile: 'work' };
const workspaceCopiesOf = ({ store: { database } }: Machine) => createPostgresWorkspaceCopyStore({ database });
const slotsOf = ({ store: { database } }: Machine) => createPostgresScheduleStore({ database });
const candidateHealthOf = ({ store: { database } }: Machine) => createPostgresCandidateHealthStore({ database, clock });
const rulesOf = ({ store: { database } }: Machine) => createPostgresPolicyStore({ database, clock });

describe('a server that crashes in the moment of its answer', () => {
  it.each(ANSWERS)('has $what on its disk', { timeout: 120_000 }, async ({ say, find, found }) => {
    let isAnswered = false;
    one.onStatement = async (phase) => {
      isAnswered = phase === 'after';
    };
    await say();
    expect(isAnswered).toBe(true);
    one.onStatement = async () => undefined;
    await crash(server);
    expect(await find()).toEqual(found);
  });
});
