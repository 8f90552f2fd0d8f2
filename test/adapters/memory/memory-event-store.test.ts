import { describe, expect, it } from 'vitest';
import { MemoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { describeEventStore } from '../../contracts/event-store.contract.ts';
import { describeWakeRights } from '../../contracts/wake-right.contract.ts';
import { IDENTITY, SESSION_ID, created, newEvent } from '../../support/session-events.ts';

const open = async (): Promise<{ store: MemoryEventStore; dispose: () => Promise<void> }> => {
  const store = new MemoryEventStore();
  return { store, dispose: () => store.close() };
};
describeEventStore('the memory store', open);
describeWakeRights('the memory store', open);

describe('the memory store', () => {
  it('hands out events that nobody can change', async () => {
    const store = new MemoryEventStore();
    await store.create(IDENTITY, [newEvent(1, created)]);
    const [event] = await store.read(SESSION_ID);
    expect(Object.isFrozen(event) && Object.isFrozen(event?.data)).toBe(true);
  });
});
