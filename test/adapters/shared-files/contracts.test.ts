import { openMemoryHouse } from '../../support/memory-house.ts';
import { describeLearningStore, describeSharedFilesStore } from '../../contracts/memory-stores.contract.ts';

describeSharedFilesStore('the files store', async () => {
  const house = await openMemoryHouse();
  return { store: house.open().sharedFiles, beside: house.open().sharedFiles, dispose: () => house.dispose() };
});

describeLearningStore('the files store', async () => {
  const house = await openMemoryHouse();
  return { store: house.open().learnings, beside: house.open().learnings, dispose: () => house.dispose() };
});
