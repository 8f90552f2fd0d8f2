/** The memory of the agents of a home, opened for one command, and what its commands have in common. */
import { createSystemClock } from '../../actors/clock/system-clock.ts';
import { AgentMemory } from '../../actors/memory/agent-memory.ts';
import type { SharedFilesVersion } from '../../machines/memory/shared-files-version.ts';
import { underLock } from '../../adapters/system/process-lock.ts';
import { createMemoryFiles } from '../../adapters/shared-files/memory-files.ts';
import type { MemoryFiles } from '../../adapters/shared-files/memory-files.ts';
import type { CommandContext } from '../context.ts';
import type { HomeLayout } from '../../adapters/files/layout.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { withAgents } from '../open/stores.ts';
import { tableLines } from '../terminal/table.ts';
import { localTime } from '../terminal/text.ts';
import { checkedAgentName } from '../usage.ts';

export interface MemoryStores extends MemoryFiles {
  readonly memory: AgentMemory;
}

export function memoryStores(layout: HomeLayout): MemoryStores {
  const files = createMemoryFiles({
    agentDirectory: (agentId) => layout.agentDirectory(agentId),
    clock: createSystemClock(),
    exclusively: underLock,
  });
  return { ...files, memory: new AgentMemory(files) };
}

/** Lets `work` use the memory of an agent that is there. */
export function withMemory<Result>(
  context: CommandContext,
  agent: string,
  work: (stores: MemoryStores, agentId: string, layout: HomeLayout) => Promise<Result>,
): Promise<Result> {
  const name = checkedAgentName(agent);
  return withAgents(context, async ({ agents, layout }) => {
    const { agentId } = await agents.get(name);
    return work(memoryStores(layout), agentId, layout);
  });
}

function versionRows(versions: readonly SharedFilesVersion[]): string[][] {
  return versions.map(({ version, at, by, why, changed }) => [
    String(version),
    localTime(at),
    by.kind === 'people' ? 'people' : `session ${by.sessionId}`,
    changed.join(' '),
    why,
  ]);
}

/** @param none what is said where there are no versions */
export async function listVersions(
  context: CommandContext,
  agent: string,
  {
    isListed = () => true,
    none,
  }: { isListed?: (version: SharedFilesVersion) => boolean; none: (agentId: string) => string },
): Promise<number> {
  const { out, json } = context;
  const { agentId, head, versions } = await withMemory(context, agent, async ({ sharedFiles }, id) => ({
    agentId: id,
    head: (await sharedFiles.head(id)).version,
    versions: (await sharedFiles.versions(id, { limit: 200 })).filter(isListed),
  }));
  if (json) await out.document({ agentId, head, versions });
  else if (versions.length === 0) await out.line(none(agentId));
  else
    for (const line of tableLines(['VERSION', 'MADE', 'BY', 'CHANGED', 'WHY'], versionRows(versions), out))
      await out.line(line);
  return EXIT_SUCCESS;
}
