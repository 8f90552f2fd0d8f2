/**
 * What the sessions of a home work in, where several machines share the store: it comes along, or stays on its machine.
 */
import { copyBounds } from '../actors/workspace-copy/copy-bounds.ts';
import type { WorkspaceCopyStore } from '../actors/workspace-copy/copy-store.ts';
import { createWorkspaceCopies } from '../actors/workspace-copy/workspace-copies.ts';
import type { WorkspaceCopiesPorts } from '../actors/workspace-copy/workspace-copies.ts';
import { createSystemClock } from '../actors/clock/system-clock.ts';
import { FileAgentCatalog } from '../adapters/agents/file-agent-catalog.ts';
import type { HomeLayout } from '../adapters/files/layout.ts';
import { createHomeCopyFolders } from '../adapters/workspace-copy-files/home-copy-folders.ts';
import { attachmentsOf } from './attachments.ts';
import { nodeEnvironments } from './environments.ts';
import type { RuntimePorts } from '../runtime.ts';

export interface NodeWorkspaceCopiesParts extends Pick<
  WorkspaceCopiesPorts,
  'boundBecause' | 'lackedHere' | 'onTrouble'
> {
  readonly layout: HomeLayout;
  readonly copies: WorkspaceCopyStore;
}

export function nodeWorkspaceCopies({
  layout,
  copies,
  ...ports
}: NodeWorkspaceCopiesParts): Pick<RuntimePorts, 'attachments' | 'workspaceCopies'> {
  const folders = createHomeCopyFolders({ layout });
  return {
    attachments: attachmentsOf(layout, copies),
    workspaceCopies: createWorkspaceCopies({ copies, folders, ...ports }),
  };
}

/** The workspace copies of a home, for a process that moves them to or from another store without a runtime. */
export function workspaceCopiesOfHome(layout: HomeLayout): Pick<WorkspaceCopiesPorts, 'folders' | 'boundBecause'> {
  const { catalog, environments } = nodeEnvironments({
    layout,
    clock: createSystemClock(),
    defaultEnvironmentId: undefined,
    inCode: undefined,
    storeUrl: undefined,
    onTrouble: () => undefined,
  });
  const agents = new FileAgentCatalog({ agentsDirectory: layout.agents });
  return { folders: createHomeCopyFolders({ layout }), boundBecause: copyBounds({ agents, environments, catalog }) };
}
