/**
 * A machine that wakes a session and kills itself on the way: `node copy-process.mjs <json>` with `{ home, copies,
 * session, epoch, file?, dieAt }`. Its workspace comes here, is written in, and a copy is left. The process ends with
 * SIGKILL in place of change number `dieAt` of a disk. It writes lines of text to standard output: `arrived`, `left`,
 * and last `changes N`.
 */
import { writeSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { countOperations } from '../../fixtures/processes/counted-operations.mjs';

const { home, copies, session, epoch, file, dieAt } = JSON.parse(process.argv[2] ?? '{}');
const { createWorkspaceCopies } = await import('../../../dist/actors/workspace-copy/workspace-copies.js');
const { createHomeCopyFolders } = await import('../../../dist/adapters/workspace-copy-files/home-copy-folders.js');
const { createSharedFolderCopies } =
  await import('../../../dist/adapters/workspace-copy-files/shared-folder-copies.js');
const { HomeLayout } = await import('../../../dist/adapters/files/layout.js');
const { initialSessionState } = await import('../../../dist/machines/session/session-state.js');

const layout = new HomeLayout(home);
const workspaceCopies = createWorkspaceCopies({
  copies: createSharedFolderCopies({ directory: copies }),
  folders: createHomeCopyFolders({ layout }),
  boundBecause: async () => undefined,
  onTrouble: (error) => {
    throw error;
  },
});

let changes = 0;
await countOperations(() => {
  changes += 1;
  if (changes === dieAt) process.kill(process.pid, 'SIGKILL');
});
const workspaceCopy = await workspaceCopies.arrive({ ...initialSessionState(session), epoch: epoch - 1 }, { epoch });
writeSync(1, 'arrived\n');
if (file !== undefined) await writeFile(join(await layout.workspaceDirectory(session), file), `by ${epoch}`);
await workspaceCopy.leave();
writeSync(1, `left\nchanges ${changes}\n`);
