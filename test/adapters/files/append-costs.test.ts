/**
 * What an append asks of the system, counted: the calls that touch a file, and those of them that another thread makes.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { FileEventStore } from '../../../src/adapters/files/file-event-store.ts';
import type { Activation } from '../../../src/machines/session/activation.ts';
import {
  AGENT_ID,
  IDENTITY,
  SESSION_ID,
  START_MS,
  created,
  idOf,
  message,
  newEvent,
} from '../../support/session-events.ts';
import { costsOf, countCalls, countNoMore } from '../../support/counted-calls.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const clock = createSimulatedClock();
const activation = (n: number): Activation => ({
  sessionId: SESSION_ID,
  agentId: AGENT_ID,
  causeId: idOf(n),
  kind: 'ingress',
  dueAtMs: START_MS,
  priority: 'normal',
});
let home: TemporaryHome;
let store: FileEventStore;

async function openStore(durability: 'disk' | 'os'): Promise<void> {
  store = new FileEventStore({ home: home.path, clock, durability });
  await store.create(IDENTITY, [newEvent(1, created)]);
  await store.append(SESSION_ID, [newEvent(2, message('opens the log'))], { activate: [activation(2)] });
}

beforeAll(countCalls);
afterAll(countNoMore);
beforeEach(async () => {
  home = await temporaryHome();
});
afterEach(async () => {
  await store.close();
  await home.remove();
});

describe('an append to a session whose log is open', () => {
  it('writes, checks the size, and keeps the end itself, and has another thread wait for the disk', async () => {
    await openStore('disk');
    const costs = await costsOf(() => store.append(SESSION_ID, [newEvent(3, message('one'))]));
    expect(costs).toEqual({ atOnce: ['write', 'fstat', 'write'], passedOn: 1 });
  });

  it('costs the same for sixty-four at once', async () => {
    await openStore('disk');
    const numbers = Array.from({ length: 64 }, (_, index) => index + 3);
    const costs = await costsOf(() =>
      Promise.all(numbers.map((n) => store.append(SESSION_ID, [newEvent(n, message(`m${n}`))]))),
    );
    expect(costs).toEqual({ atOnce: ['write', 'fstat', 'write'], passedOn: 1 });
  });

  it('makes a hint before, by one call, and rings the bell after, by another', async () => {
    await openStore('disk');
    const costs = await costsOf(() =>
      store.append(SESSION_ID, [newEvent(3, message('due'))], { activate: [activation(3)] }),
    );
    expect(costs).toEqual({ atOnce: ['link', 'write', 'fstat', 'write', 'utimes'], passedOn: 1 });
  });

  it('removes a hint by one call', async () => {
    await openStore('disk');
    const costs = await costsOf(() =>
      store.append(SESSION_ID, [newEvent(3, message('settles'))], { settle: [activation(2)] }),
    );
    expect(costs).toEqual({ atOnce: ['write', 'fstat', 'write', 'unlink'], passedOn: 1 });
  });

  it('waits for no other thread where no sync is asked for', async () => {
    await openStore('os');
    const costs = await costsOf(() => store.append(SESSION_ID, [newEvent(3, message('one'))]));
    expect(costs).toEqual({ atOnce: ['write', 'fstat', 'write'], passedOn: 0 });
  });

  it('has another thread write what is long', async () => {
    await openStore('os');
    const costs = await costsOf(() => store.append(SESSION_ID, [newEvent(3, message('long '.repeat(20_000)))]));
    expect(costs).toEqual({ atOnce: ['fstat', 'write'], passedOn: 1 });
  });

  it('is told of many hints by one ring in a turn', async () => {
    await openStore('disk');
    const numbers = Array.from({ length: 16 }, (_, index) => index + 3);
    const { atOnce } = await costsOf(() =>
      Promise.all(
        numbers.map((n) => store.append(SESSION_ID, [newEvent(n, message(`m${n}`))], { activate: [activation(n)] })),
      ),
    );
    expect(atOnce.filter((name) => name === 'utimes').length).toBeLessThanOrEqual(2);
  });
});
