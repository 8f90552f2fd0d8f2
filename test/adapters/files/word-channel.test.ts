import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { FileEventStore } from '../../../src/adapters/files/file-event-store.ts';
import { describeWordChannel } from '../../contracts/word-channel.contract.ts';
import type { WordProcess } from '../../contracts/word-channel.contract.ts';
import { temporaryHome } from '../../support/temporary-home.ts';

const clock = createSystemClock();

function processesOver(home: string, options: { readonly socketDirectory?: string } = {}) {
  const open = (): WordProcess & { readonly store: FileEventStore } => {
    const store = new FileEventStore({ home, clock, ...options });
    return { store, words: store.words };
  };
  const [one, other] = [open(), open()];
  const close = async (): Promise<void> => {
    await one.store.close();
    await other.store.close();
  };
  return { one, other, close };
}

describeWordChannel('files', async () => {
  const home = await temporaryHome();
  const { one, other, close } = processesOver(home.path);
  return {
    one,
    other,
    async dispose() {
      await close();
      await home.remove();
    },
  };
});

describeWordChannel('files whose sockets lie elsewhere, in a home with a long path', async () => {
  const root = await temporaryHome();
  const home = join(root.path, 'a'.repeat(100), 'b'.repeat(100));
  const socketDirectory = join(root.path, 's');
  await mkdir(home, { recursive: true });
  await mkdir(socketDirectory, { mode: 0o700 });
  const { one, other, close } = processesOver(home, { socketDirectory });
  return {
    one,
    other,
    async dispose() {
      await close();
      await root.remove();
    },
  };
});
