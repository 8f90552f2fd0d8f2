/** A session that another process deletes, and perhaps brings back, while this one has it open. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { FileEventStore } from '../../../src/adapters/files/file-event-store.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { IDENTITY, SESSION_ID, created, idOf, message, newEvent } from '../../support/session-events.ts';
import { openFilesOf } from '../../setup/open-files.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const clock = createSimulatedClock();
let home: TemporaryHome;
let here: FileEventStore;
let elsewhere: FileEventStore;
beforeEach(async () => {
  home = await temporaryHome();
  [here, elsewhere] = [new FileEventStore({ home: home.path, clock }), new FileEventStore({ home: home.path, clock })];
  await elsewhere.create(IDENTITY, [newEvent(1, created)]);
  await here.append(SESSION_ID, [newEvent(2, message('before'))]);
});
afterEach(async () => {
  await Promise.all([here.close(), elsewhere.close()]);
  await home.remove();
});

const remove = (): Promise<void> => elsewhere.delete(SESSION_ID, { epoch: 0, isOpen: false });
const idsHere = async (): Promise<string[]> => (await here.read(SESSION_ID)).map(({ id }) => id);

describe('a session that another process deletes', () => {
  it('is gone for everybody who has it open', async () => {
    await remove();
    expect(await codeOf(here.read(SESSION_ID))).toBe('SESSION_NOT_FOUND');
    expect(await codeOf(here.append(SESSION_ID, [newEvent(3, message('too late'))]))).toBe('SESSION_NOT_FOUND');
    expect(await codeOf(here.identify(SESSION_ID))).toBe('SESSION_NOT_FOUND');
    expect(await codeOf(here.acquireWakeRight(SESSION_ID, { epoch: 0, isOpen: false }))).toBe('SESSION_NOT_FOUND');
  });

  it('and brings back can be read and written at once', async () => {
    await remove();
    await elsewhere.create(IDENTITY, [newEvent(1, created), newEvent(5, message('brought back'))]);
    expect((await here.append(SESSION_ID, [newEvent(6, message('after'))])).events).toMatchObject([{ seq: 3 }]);
    expect(await idsHere()).toEqual([idOf(1), idOf(5), idOf(6)]);
    expect(await elsewhere.head(SESSION_ID)).toBe(3);
    const right = await here.acquireWakeRight(SESSION_ID, { epoch: 0, isOpen: false });
    await right.release();
  });

  it('and brings back for another agent is found there', async () => {
    await remove();
    await elsewhere.create({ ...IDENTITY, agentId: 'another' }, [newEvent(1, created)]);
    expect(await here.head(SESSION_ID)).toBe(1);
    expect(await here.identify(SESSION_ID)).toEqual({ ...IDENTITY, agentId: 'another' });
  });

  it('and brings back is there for all who ask at the same time', async () => {
    await remove();
    await elsewhere.create(IDENTITY, [newEvent(1, created)]);
    const heads = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        n % 2 === 0 ? here.head(SESSION_ID) : here.read(SESSION_ID).then(({ length }) => length),
      ),
    );
    expect(new Set(heads)).toEqual(new Set([1]));
  });

  it.runIf(process.platform === 'linux')('again and again leaves no file open', async () => {
    const before = openFilesOf(home.path);
    for (let n = 0; n < 50; n += 1) {
      await remove();
      await elsewhere.create(IDENTITY, [newEvent(1, created)]);
      await here.head(SESSION_ID);
    }
    expect(openFilesOf(home.path)).toBeLessThan(before + 10);
  });
});
