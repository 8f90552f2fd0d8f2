import { openMemorySetup } from '../../support/memory-setup.ts';
import { describeLearningStore, describeSharedFilesStore } from '../../contracts/memory-stores.contract.ts';

describeSharedFilesStore('the files store', async () => {
  const setup = await openMemorySetup();
  return { store: setup.open().sharedFiles, beside: setup.open().sharedFiles, dispose: () => setup.dispose() };
});

describeLearningStore('the files store', async () => {
  const setup = await openMemorySetup();
  return { store: setup.open().learnings, beside: setup.open().learnings, dispose: () => setup.dispose() };
});
