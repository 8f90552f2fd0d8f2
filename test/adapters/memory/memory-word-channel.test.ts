import { MemoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { MemoryWordChannel } from '../../../src/adapters/memory/memory-word-channel.ts';
import { describeWordChannel } from '../../contracts/word-channel.contract.ts';

describeWordChannel('memory', async () => {
  const process = { store: new MemoryEventStore(), words: new MemoryWordChannel() };
  return { one: process, other: process, dispose: () => process.store.close() };
});
