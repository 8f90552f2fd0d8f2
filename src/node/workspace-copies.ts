/**
 * What the sessions of a home work in, where several machines share the store: it comes along, or stays on its machine.
 */
import { copyBounds } from '../actors/workspace-copy/copy-bounds.ts';
import type { WorkspaceCopyStore } from '../actors/workspace-copy/copy-store.ts';
import { lackedHere } from '../actors/workspace-copy/lacked-here.ts';
import { createWorkspaceCopies } from '../actors/workspace-copy/workspace-copies.ts';
import type { WorkspaceCopiesPorts } from '../actors/workspace-copy/workspace-copies.ts';
import { createSystemClock } from '../actors/clock/system-clock.ts';
import type { EnvironmentCatalog } from '../actors/environment/environment-catalog.ts';
import type { SessionEnvironments } from '../actors/environment/session-environment.ts';
import type { AgentCatalog } from '../actors/session/agent-catalog.ts';
import type { OnListenerError } from '../actors/streams/listener-errors.ts';
import { FileAgentCatalog } from '../adapters/agents/file-agent-catalog.ts';
import type { HomeLayout } from '../adapters/files/layout.ts';
import { createHomeCopyFolders } from '../adapters/workspace-copy-files/home-copy-folders.ts';
import { attachmentsOf } from './attachments.ts';
import { nodeEnvironments } from './environments.ts';
import type { RuntimePorts } from '../runtime.ts';

export interface NodeWorkspaceCopiesParts {
  readonly layout: HomeLayout;
  readonly copies: WorkspaceCopyStore;
  readonly agents: AgentCatalog;
  readonly environments: SessionEnvironments;
  readonly catalog: EnvironmentCatalog;
  readonly onTrouble: OnListenerError;
}

export function nodeWorkspaceCopies({
  layout,
  copies,
  agents,
  environments,
  catalog,
  onTrouble,
}: NodeWorkspaceCopiesParts): Pick<RuntimePorts, 'attachments' | 'workspaceCopies'> {
  const folders = createHomeCopyFolders({ layout });
  return {
    attachments: attachmentsOf(layout, copies),
    workspaceCopies: createWorkspaceCopies({
      copies,
      folders,
      boundBecause: copyBounds({ agents, environments, catalog }),
      lackedHere: lackedHere({ agents, environments, catalog }),
      onTrouble,
    }),
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
