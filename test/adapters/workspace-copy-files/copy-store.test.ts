/** Memory and a shared folder keep workspace copies as every keeper does. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { createSharedFolderCopies } from '../../../src/adapters/workspace-copy-files/shared-folder-copies.ts';
import { createMemoryWorkspaceCopyStore } from '../../../src/adapters/memory/memory-workspace-copy-store.ts';
import type { WorkspaceCopyStore } from '../../../src/actors/workspace-copy/copy-store.ts';
import { createIdSource } from '../../../src/actors/session/id-source.ts';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { WORKSPACE_COPY_GRACE_MS } from '../../../src/actors/workspace-copy/copy-store.ts';
import { describeWorkspaceCopyStore } from '../../contracts/workspace-copy-store.contract.ts';

const ids = createIdSource({ clock: createSystemClock() });
const newSession = (): Promise<string> => Promise.resolve(ids.next());

describeWorkspaceCopyStore('a shared folder', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'wakechart-copies-'));
  return {
    copies: createSharedFolderCopies({ directory }),
    beside: createSharedFolderCopies({ directory }),
    impatient: createSharedFolderCopies({ directory, graceMs: 0 }),
    newSession,
    dispose: () => rm(directory, { recursive: true, force: true }),
  };
});

describeWorkspaceCopyStore('memory', async () => {
  const clock = createSimulatedClock();
  let laterMs = 0;
  const copies = createMemoryWorkspaceCopyStore({ clock: { ...clock, now: () => clock.now() + laterMs } });
  /** Asks when the grace of everything is over. */
  const later = <Value>(ask: () => Promise<Value>): Promise<Value> => {
    laterMs = WORKSPACE_COPY_GRACE_MS + 1;
    const answer = ask();
    laterMs = 0;
    return answer;
  };
  const impatient: WorkspaceCopyStore = {
    ...copies,
    prune: (...prune) => later(() => copies.prune(...prune)),
    has: (...has) => later(() => copies.has(...has)),
  };
  return { copies, beside: copies, impatient, newSession, dispose: () => Promise.resolve() };
});
