/** What becomes of the hints of an append that stores nothing. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { FileEventStore } from '../../../src/adapters/files/file-event-store.ts';
import type { Activation } from '../../../src/machines/session/activation.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { FailingOperations } from '../../support/failing-operations.ts';
import {
  AGENT_ID,
  IDENTITY,
  SESSION_ID,
  START_MS,
  created,
  idOf,
  message,
  newEvent,
  queued,
} from '../../support/session-events.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const failing = new FailingOperations();
let home: TemporaryHome;
let store: FileEventStore;
beforeEach(async () => {
  home = await temporaryHome();
  failing.failWith = () => undefined;
  store = new FileEventStore({ home: home.path, clock: createSimulatedClock(), operations: failing.operations });
  await store.create(IDENTITY, [newEvent(1, created)]);
});
afterEach(async () => {
  await store.close();
  await home.remove();
});

const hint = (causeId: string, dueAtMs = START_MS): Activation => ({
  sessionId: SESSION_ID,
  agentId: AGENT_ID,
  causeId,
  kind: 'ingress',
  dueAtMs,
  priority: 'normal',
});
const causes = async (): Promise<string[]> =>
  (await store.activations.due({ nowMs: START_MS + 1, limit: 10 })).due
    .flatMap(({ activations }) => activations.map(({ causeId }) => causeId))
    .toSorted();

describe('an append that stores nothing', () => {
  it('leaves no hint behind when its key was used before', async () => {
    await store.append(SESSION_ID, [newEvent(2, message('once'))], {
      idempotencyKey: 'key',
      activate: [hint(idOf(2))],
    });
    const again = await store.append(SESSION_ID, [newEvent(3, message('once'))], {
      idempotencyKey: 'key',
      activate: [hint(idOf(3))],
    });
    expect(again).toMatchObject({ isDuplicate: true, events: [{ id: idOf(2) }] });
    expect(await causes()).toEqual([idOf(2)]);
  });

  it('keeps the hint of the first when it has the same id', async () => {
    for (let n = 0; n < 2; n += 1)
      await store.append(SESSION_ID, [newEvent(2, message('once'))], { activate: [hint(idOf(2))] });
    expect(await causes()).toEqual([idOf(2)]);
  });

  it('leaves no hint behind when somebody else came first, and none of the wakes that it was to queue', async () => {
    const options = { expectedHead: 7, activate: [hint(idOf(2)), hint('later'), hint('of-somebody-else')] };
    expect(
      await codeOf(store.append(SESSION_ID, [newEvent(2, message('late')), newEvent(3, queued('later'))], options)),
    ).toBe('HEAD_MOVED');
    expect(await causes()).toEqual(['of-somebody-else']);
  });

  it('leaves no hint behind when it is too large', async () => {
    expect(
      await codeOf(
        store.append(
          SESSION_ID,
          [
            newEvent(2, message('x')),
            ...Array.from({ length: 80 }, (_, n) => newEvent(3 + n, message('x'.repeat(250_000)))),
          ],
          { activate: [hint(idOf(2))] },
        ),
      ),
    ).toBe('RECORD_TOO_LARGE');
    expect(await causes()).toEqual([]);
  });

  it('keeps its hint when the disk refused, since it may be stored all the same', async () => {
    failing.failWith = (operation) => (operation.startsWith('append') ? 'EIO' : undefined);
    expect(await codeOf(store.append(SESSION_ID, [newEvent(2, message('lost?'))], { activate: [hint(idOf(2))] }))).toBe(
      'STORAGE_FAILED',
    );
    expect(await causes()).toEqual([idOf(2)]);
  });

  it('keeps its hint when the very same events are stored by somebody else just then', async () => {
    const other = new FileEventStore({ home: home.path, clock: createSimulatedClock() });
    const events = [newEvent(2, message('the same'))] as const;
    let isStored = false;
    const { operations } = failing;
    const removing = new FileEventStore({
      home: home.path,
      clock: createSimulatedClock(),
      operations: {
        ...operations,
        removeFile: async (path) => {
          if (!isStored) {
            isStored = true;
            await other.append(SESSION_ID, events, { activate: [hint(idOf(2))] });
          }
          await operations.removeFile(path);
        },
      },
    });
    expect(await codeOf(removing.append(SESSION_ID, events, { expectedHead: 7, activate: [hint(idOf(2))] }))).toBe(
      'HEAD_MOVED',
    );
    expect(isStored).toBe(true);
    expect(await causes()).toEqual([idOf(2)]);
    await Promise.all([other.close(), removing.close()]);
  });
});
