/**
 * A session that one runtime knows, while another one over the same home deletes it and brings it back with another
 * past.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { SimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { createIdSource } from '../../../src/actors/session/id-source.ts';
import { SessionJournal } from '../../../src/actors/session/session-journal.ts';
import type { JournalPorts } from '../../../src/actors/session/session-journal.ts';
import { FileEventStore } from '../../../src/adapters/files/file-event-store.ts';
import type { Runtime } from '../../../src/runtime.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { TurnSetup } from '../../support/turn-setup.ts';

let home: TemporaryHome;
let clock: SimulatedClock;
let setup: TurnSetup;
let stores: FileEventStore[];
let here: Runtime;
let elsewhere: Runtime;
let id: string;
afterEach(async () => {
  await setup[Symbol.asyncDispose]();
  await Promise.all(stores.map((store) => store.close()));
  await home.remove();
});

/** Two runtimes, each with its own view of the same files; `here` knows nothing of the session yet. */
async function open(): Promise<void> {
  home = await temporaryHome();
  clock = createSimulatedClock();
  const [mine, theirs] = (stores = [
    new FileEventStore({ home: home.path, clock }),
    new FileEventStore({ home: home.path, clock }),
  ]) as [FileEventStore, FileEventStore];
  setup = await openTurnSetup({ store: theirs, clock });
  elsewhere = setup.runtime;
  here = setup.open({ store: mine });
  await setup.agent('worker', ({ messages }) => ({
    text: `Read ${
      JSON.stringify(messages)
        .match(/(early|late|new)/g)
        ?.join(' ') ?? 'nothing'
    }.`,
  }));
  id = (await elsewhere.sessions.create({ agentId: 'worker', title: 'Kept' })).sessionId;
  await say('early');
}

const say = (text: string, by = elsewhere): Promise<unknown> => by.sessions.send(id, { type: 'user.message', text });

/** What `here` sees, and what is done in the moment after it has asked for the state that is kept folded. */
function portsHere(afterCheckpoint: () => Promise<void> = async () => undefined): JournalPorts {
  const [mine] = stores as [FileEventStore];
  const checkpoint: FileEventStore['checkpoint'] = async (sessionId) => {
    const state = await mine.checkpoint(sessionId);
    await afterCheckpoint();
    return state;
  };
  const get = (target: FileEventStore, name: string | symbol): unknown => {
    const value: unknown = name === 'checkpoint' ? checkpoint : Reflect.get(target, name, target);
    return typeof value === 'function' ? (value as (...given: unknown[]) => unknown).bind(target) : value;
  };
  return { store: new Proxy(mine, { get }), clock, ids: createIdSource({ clock }) };
}

async function exported(): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of elsewhere.sessions.export(id)) lines.push(line);
  return lines;
}

async function bringBack(lines: readonly string[]): Promise<void> {
  await elsewhere.sessions.delete(id);
  await elsewhere.sessions.import(lines);
}

describe('a session that is brought back with a shorter past', () => {
  it('is not terminated any more for who had seen it terminated, and takes messages', async () => {
    await open();
    const lines = await exported();
    await elsewhere.sessions.terminate(id);
    expect(await here.sessions.get(id)).toMatchObject({ status: 'terminated' });
    await bringBack(lines);
    expect(await here.sessions.get(id)).toEqual(await elsewhere.sessions.get(id));
    expect(await codeOf(say('new', here))).toBe('it succeeded');
    expect(await here.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Read early new.' });
  });

  it('is seen as it is by all who ask at the same time', async () => {
    await open();
    const lines = await exported();
    for (let count = 0; count < 5; count += 1) await say('late', here);
    await bringBack(lines);
    const states = await Promise.all(Array.from({ length: 20 }, () => here.sessions.get(id)));
    expect(new Set(states.map(({ head, messages }) => `${head} ${messages}`))).toEqual(new Set(['2 1']));
  });
});

describe('a session that is brought back and goes on', () => {
  it.each([
    ['is as long as it was', 1],
    ['is longer than it was', 3],
  ])('is seen with its new past alone, when it %s', async (_what, count) => {
    await open();
    const lines = await exported();
    await say('late', here);
    expect(await here.sessions.get(id)).toMatchObject({ head: 3 });
    await bringBack(lines);
    await clock.advance(1_000);
    for (let sent = 0; sent < count; sent += 1) await say('new');
    const state = await here.sessions.get(id);
    expect(state).toEqual(await elsewhere.sessions.get(id));
    expect(state).toMatchObject({ head: 2 + count, messages: 1 + count });
    expect(await here.wake(id)).toMatchObject({ outcome: 'sleep', summary: `Read early${' new'.repeat(count)}.` });
  });

  it('is seen with its new past alone, also by who had only its newest state in memory', async () => {
    await open();
    const lines = await exported();
    await say('late');
    await elsewhere.wake(id);
    const { head } = await here.sessions.get(id);
    await bringBack(lines);
    await clock.advance(1_000);
    while ((await elsewhere.sessions.get(id)).head <= head + 1) await say('new');
    expect(await here.sessions.get(id)).toEqual(await elsewhere.sessions.get(id));
  });

  it('as it was is the same session', async () => {
    await open();
    const before = await here.sessions.get(id);
    await bringBack(await exported());
    expect(await here.sessions.get(id)).toEqual(before);
  });
});

describe('a session that is gone', () => {
  it('is gone for who knows it, until it is brought back here', async () => {
    await open();
    const lines = await exported();
    await say('late', here);
    await elsewhere.sessions.delete(id);
    expect(await codeOf(here.sessions.get(id))).toBe('SESSION_NOT_FOUND');
    expect(await here.sessions.import(lines)).toMatchObject({ head: 2, messages: 1 });
    expect(await elsewhere.sessions.get(id)).toMatchObject({ head: 2, messages: 1 });
  });
});

describe('a journal of a session', () => {
  it.each([
    ['shorter', 0],
    ['as long', 1],
    ['longer', 3],
  ])('that is brought back, and is %s now, says that its session is gone', async (_what, count) => {
    await open();
    const lines = await exported();
    await say('late');
    const journal = await SessionJournal.open(id, portsHere());
    const before = journal.state;
    await bringBack(lines);
    await clock.advance(1_000);
    for (let sent = 0; sent < count; sent += 1) await say('new');
    expect(await codeOf(journal.refresh())).toBe('SESSION_NOT_FOUND');
    expect(journal.state).toBe(before);
  });

  it('that is brought back keeps the receipt of what it stored in the new one, and folds nothing of that', async () => {
    await open();
    const lines = await exported();
    await say('late');
    const journal = await SessionJournal.open(id, portsHere());
    await bringBack(lines);
    await say('new');
    await say('new');
    const { events } = await journal.append([{ type: 'user.message', data: { text: 'mine', delivery: 'queue' } }]);
    expect(events).toMatchObject([{ seq: 5, data: { text: 'mine' } }]);
    expect(journal.state).toMatchObject({ head: 3, messages: 2 });
    expect(await codeOf(journal.refresh())).toBe('SESSION_NOT_FOUND');
    expect(await here.sessions.get(id)).toMatchObject({ head: 5, messages: 4 });
  });

  it.each([
    ['shorter', 0],
    ['longer', 20],
  ])('that is brought back while it is opened, and is %s now, has the new past alone', async (_what, count) => {
    await open();
    const lines = await exported();
    await elsewhere.wake(id);
    const journal = await SessionJournal.open(
      id,
      portsHere(async () => {
        await bringBack(lines);
        await clock.advance(1_000);
        for (let sent = 0; sent < count; sent += 1) await say('new');
      }),
    );
    expect(journal.state).toEqual(await elsewhere.sessions.get(id));
    expect(journal.state).toMatchObject({ head: 2 + count, messages: 1 + count, epoch: 0 });
  });
});
