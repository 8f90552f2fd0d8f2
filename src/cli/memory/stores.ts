/** The memory of the agents of a home, opened for one command, and what its commands have in common. */
import { createSystemClock } from '../../actors/clock/system-clock.ts';
import { AgentMemory } from '../../actors/memory/agent-memory.ts';
import type { SubstrateVersion } from '../../machines/memory/substrate-version.ts';
import { underLock } from '../../adapters/system/process-lock.ts';
import { createMemoryFiles } from '../../adapters/substrate-files/memory-files.ts';
import type { MemoryFiles } from '../../adapters/substrate-files/memory-files.ts';
import type { CommandContext } from '../context.ts';
import type { HomeLayout } from '../../adapters/files/layout.ts';
import { withAgents } from '../open/stores.ts';
import { tableLines } from '../terminal/table.ts';
import { localTime } from '../terminal/text.ts';
import { checkedAgentName } from '../names.ts';

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

function versionRows(versions: readonly SubstrateVersion[]): string[][] {
  return versions.map(({ version, at, by, why, changed }) => [
    String(version),
    localTime(at),
    by.kind === 'people' ? 'people' : `session ${by.sessionId}`,
    changed.join(' '),
    why,
  ]);
}

export async function tellVersions({ out }: CommandContext, versions: readonly SubstrateVersion[]): Promise<void> {
  for (const line of tableLines(['VERSION', 'MADE', 'BY', 'CHANGED', 'WHY'], versionRows(versions), out))
    await out.line(line);
}
