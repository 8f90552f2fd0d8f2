import { openMemoryHouse } from '../../support/memory-house.ts';
import { describeLearningStore, describeSubstrateStore } from '../../contracts/memory-stores.contract.ts';

describeSubstrateStore('the files store', async () => {
  const house = await openMemoryHouse();
  return { store: house.open().substrate, beside: house.open().substrate, dispose: () => house.dispose() };
});

describeLearningStore('the files store', async () => {
  const house = await openMemoryHouse();
  return { store: house.open().learnings, beside: house.open().learnings, dispose: () => house.dispose() };
});
