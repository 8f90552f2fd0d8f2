/** Programs over one database ask each other what runs for a session. */
import { afterEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { FleetQuestion } from '../../../src/actors/inspection/fleet.ts';
import { createPostgresQuestions } from '../../../src/adapters/postgres/fleet-questions.ts';
import type { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import { IDENTITY, SESSION_ID, creation, idOf } from '../../../src/testing/session-fixtures.ts';
import { emptyStores } from './empty-stores.ts';

const { open, another } = emptyStores();
const NEW = { epoch: 0, isOpen: false };
const QUICK = { listMs: 0, endMs: 0 };
const clock = createSystemClock();

const opened: PostgresEventStore[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

interface Asked {
  readonly worker: PostgresEventStore;
  readonly viewer: PostgresEventStore;
}

/** One wakes the session, and one only checks. */
async function twoPrograms(): Promise<Asked> {
  const worker = await open({ owner: 'far:7' });
  const viewer = await another({ owner: 'near:1' });
  opened.push(worker, viewer);
  await worker.create(IDENTITY, creation());
  await worker.acquireWakeRight(SESSION_ID, NEW);
  return { worker, viewer };
}

const left = async ({ database }: PostgresEventStore): Promise<readonly unknown[]> =>
  database.run(`SELECT id FROM ${database.schema}.fleet_question`);

describe('a question to the program that wakes a session', () => {
  it('is answered by that program and no other, and leaves nothing', async () => {
    const { worker, viewer } = await twoPrograms();
    const third = await another({ owner: 'third:3' });
    opened.push(third);
    await third.acquireWakeRight(SESSION_ID, NEW).catch(() => undefined);
    const heard: (FleetQuestion & { readonly by: string })[] = [];
    for (const [by, store] of [
      ['far', worker],
      ['third', third],
    ] as const)
      createPostgresQuestions({ store, clock }).answerWith(async (question) => {
        heard.push({ ...question, by });
        return `said by ${by}`;
      });
    const { ask } = createPostgresQuestions({ store: viewer, clock });
    expect(await ask({ sessionId: SESSION_ID })).toEqual({ is: 'told', owner: 'far:7', answer: 'said by far' });
    expect(await ask({ sessionId: SESSION_ID, pid: 12 })).toMatchObject({ is: 'told' });
    expect(heard).toEqual([
      { sessionId: SESSION_ID, by: 'far' },
      { sessionId: SESSION_ID, pid: 12, by: 'far' },
    ]);
    expect(await left(viewer)).toEqual([]);
  });

  it('is not asked where no program wakes it, or the one that does is dead', async () => {
    const { worker, viewer } = await twoPrograms();
    await worker.create({ ...IDENTITY, sessionId: idOf(1) }, creation());
    const { ask } = createPostgresQuestions({ store: viewer, clock });
    expect(await ask({ sessionId: idOf(1) })).toBeUndefined();
    await viewer.database.run(
      `UPDATE ${viewer.database.schema}.worker SET alive_until = clock_timestamp() - interval '1 minute'`,
    );
    expect(await ask({ sessionId: SESSION_ID })).toEqual({ is: 'dead', owner: 'far:7' });
    expect(await left(viewer)).toEqual([]);
  });

  it('has no answer where that program says nothing, or fails', async () => {
    const { worker, viewer } = await twoPrograms();
    const { ask } = createPostgresQuestions({ store: viewer, clock, ...QUICK });
    expect(await ask({ sessionId: SESSION_ID })).toEqual({ is: 'silent', owner: 'far:7' });
    createPostgresQuestions({ store: worker, clock }).answerWith(async () => {
      throw new Error('it cannot');
    });
    expect(await ask({ sessionId: SESSION_ID })).toEqual({ is: 'silent', owner: 'far:7' });
    expect(await left(viewer)).toEqual([]);
  });

  it('is not taken by one that hears it late: what was to be ended then may be another now', async () => {
    const { worker, viewer } = await twoPrograms();
    let heard = 0;
    createPostgresQuestions({ store: worker, clock }).answerWith(async () => `${(heard += 1)}`);
    const { schema } = viewer.database;
    const id = idOf(9);
    await viewer.database.run(
      `INSERT INTO ${schema}.fleet_question (id, session_id, worker, pid, asked_at) VALUES ($1, $2, $3, 12, clock_timestamp() - interval '10 seconds')`,
      [id, SESSION_ID, worker.workerId],
    );
    await viewer.say({ about: 'ask', id, worker: worker.workerId ?? '' });
    const { ask } = createPostgresQuestions({ store: viewer, clock });
    expect(await ask({ sessionId: SESSION_ID })).toMatchObject({ answer: '1' });
  });
});
