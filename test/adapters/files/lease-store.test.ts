/**
 * The right to wake as the file store gives it, with its sockets where they lie by default and in a folder of their
 * own.
 */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { FileEventStore } from '../../../src/adapters/files/file-event-store.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { describeWakeRights } from '../../contracts/wake-right.contract.ts';
import { temporaryHome } from '../../support/temporary-home.ts';

for (const [name, hasOwnFolder] of [
  ['the file store', false],
  ['the file store with a folder for sockets', true],
] as const) {
  describeWakeRights(name, async () => {
    const home = await temporaryHome();
    const socketDirectory = hasOwnFolder ? join(home.path, 'sockets') : undefined;
    const store = new FileEventStore({ home: home.path, clock: createSimulatedClock(), socketDirectory });
    return {
      store,
      async dispose() {
        await store.close();
        await home.remove();
      },
    };
  });
}

describe('the options of a lease', () => {
  it.each([
    { leaseMs: 0 },
    { leaseMs: -1 },
    { leaseMs: Number.NaN },
    { leaseMs: Infinity },
    { leaseMs: 2 ** 31 },
    { socketDirectory: '' },
  ])('are refused when they are %j', (options) => {
    let code = 'none';
    try {
      const store = new FileEventStore({ home: 'nowhere', clock: createSimulatedClock(), ...options });
      code = `none, it is a store with ${store.durability} durability`;
    } catch (error) {
      code = RuntimeError.is(error) ? error.code : String(error);
    }
    expect(code).toBe('STORE_OPTIONS_INVALID');
  });
});
