/**
 * What the sessions of a home work in, where several machines share the store: it comes along, or stays on its machine.
 */
import { handBounds } from '../actors/hand/hand-bounds.ts';
import type { HandCopies } from '../actors/hand/hand-copies.ts';
import { lackedHere } from '../actors/hand/lacked-here.ts';
import { createSessionHands } from '../actors/hand/session-hands.ts';
import type { SessionHandsPorts } from '../actors/hand/session-hands.ts';
import { createSystemClock } from '../actors/clock/system-clock.ts';
import type { EnvironmentCatalog } from '../actors/environment/environment-catalog.ts';
import type { SessionEnvironments } from '../actors/environment/session-environment.ts';
import type { AgentCatalog } from '../actors/session/agent-catalog.ts';
import type { OnListenerError } from '../actors/streams/listener-errors.ts';
import { FileAgentCatalog } from '../adapters/agents/file-agent-catalog.ts';
import type { HomeLayout } from '../adapters/files/layout.ts';
import { createHomeHandFolders } from '../adapters/hand-files/home-hand-folders.ts';
import { attachmentsOf } from './attachments.ts';
import { nodeEnvironments } from './environments.ts';
import type { RuntimePorts } from '../runtime.ts';

export interface NodeHandsParts {
  readonly layout: HomeLayout;
  readonly copies: HandCopies;
  readonly agents: AgentCatalog;
  readonly environments: SessionEnvironments;
  readonly catalog: EnvironmentCatalog;
  readonly onTrouble: OnListenerError;
}

export function nodeHands({
  layout,
  copies,
  agents,
  environments,
  catalog,
  onTrouble,
}: NodeHandsParts): Pick<RuntimePorts, 'attachments' | 'hands'> {
  const folders = createHomeHandFolders({ layout });
  return {
    attachments: attachmentsOf(layout, copies),
    hands: createSessionHands({
      copies,
      folders,
      boundBecause: handBounds({ agents, environments, catalog }),
      lackedHere: lackedHere({ agents, environments, catalog }),
      onTrouble,
    }),
  };
}

/** The workspace copies of a home, for a process that moves them to or from another store without a runtime. */
export function handsOfHome(layout: HomeLayout): Pick<SessionHandsPorts, 'folders' | 'boundBecause'> {
  const { catalog, environments } = nodeEnvironments({
    layout,
    clock: createSystemClock(),
    defaultEnvironmentId: undefined,
    storeUrl: undefined,
    onTrouble: () => undefined,
  });
  const agents = new FileAgentCatalog({ agentsDirectory: layout.agents });
  return { folders: createHomeHandFolders({ layout }), boundBecause: handBounds({ agents, environments, catalog }) };
}
