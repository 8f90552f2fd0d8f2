import { describe, expect, it } from 'vitest';
import { MemoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { describeEventStore } from '../../contracts/event-store.contract.ts';
import { IDENTITY, SESSION_ID, created, newEvent } from '../../support/session-events.ts';

describeEventStore('the memory store', async () => {
  const store = new MemoryEventStore();
  return { store, dispose: () => store.close() };
});

describe('the memory store', () => {
  it('hands out events that nobody can change', async () => {
    const store = new MemoryEventStore();
    await store.create(IDENTITY, [newEvent(1, created)]);
    const [event] = await store.read(SESSION_ID);
    expect(Object.isFrozen(event) && Object.isFrozen(event?.data)).toBe(true);
  });
});
