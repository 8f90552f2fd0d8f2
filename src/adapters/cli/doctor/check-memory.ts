/** Checks what the agents of a home know: learnings, memory, the files that their sessions share, and the index that finds all that. */
import type { FileRetrievalIndexOptions } from '../../retrieval-files/file-retrieval-index.ts';
import type { AgentMemory } from '../../../actors/memory/agent-memory.ts';
import { rebuildLearnings } from '../../../actors/memory/captured-learnings.ts';
import type { LearningStore } from '../../../actors/memory/learning-store.ts';
import type { RetrievalIndex } from '../../../actors/retrieval/retrieval-index.ts';
import type { AgentCatalog } from '../../../actors/session/agent-catalog.ts';
import type { EventStore } from '../../../actors/session/event-store.ts';
import { RuntimeError, messageOf } from '../../../machines/errors.ts';
import { counted } from '../text.ts';
import { note, problem } from './finding.ts';
import type { RepairableFinding } from './finding.ts';

export interface MemoryCheck {
  readonly agents: Pick<AgentCatalog, 'list'>;
  readonly learnings: LearningStore;
  readonly memory: Pick<AgentMemory, 'read'>;
  readonly store: Pick<EventStore, 'read' | 'list'>;
  /** Opens the index of the home, which tells what is wrong with its files. */
  readonly openIndex: (onTrouble: FileRetrievalIndexOptions['onTrouble']) => Pick<RetrievalIndex, 'of' | 'clear' | 'close'>;
}

export async function checkMemory(check: MemoryCheck): Promise<RepairableFinding[]> {
  const findings: RepairableFinding[] = [];
  for (const { agentId } of await check.agents.list()) {
    findings.push(...(await learningFindings(agentId, check)), ...(await memoryFindings(agentId, check)), ...(await indexFindings(agentId, check)));
  }
  return findings;
}

async function learningFindings(agentId: string, { learnings, store }: MemoryCheck): Promise<RepairableFinding[]> {
  try {
    const { damagedLines } = await learnings.examine(agentId);
    if (damagedLines === 0) return [];
    const repair = async (): Promise<void> => void (await rebuildLearnings({ agentId, store, learnings, onUnreadable: refuseRebuild }));
    return [problem({ area: 'memory', where: agentId, what: `${counted(damagedLines, 'record')} of what the agent has learned cannot be read`, remedy: 'They are made anew of the logs of its sessions.', repair })];
  } catch (error) {
    return [unreadable(agentId, 'what the agent has learned', error)];
  }
}

/** What only that log knows would be lost with a rebuild. */
function refuseRebuild(sessionId: string, error: unknown): never {
  throw new RuntimeError('LEARNINGS_NOT_REBUILT', `the log of session ${sessionId} cannot be read: ${messageOf(error)}. "wakechart learnings rebuild" does it without that log`, { category: 'storage', cause: error });
}

async function memoryFindings(agentId: string, { memory }: MemoryCheck): Promise<RepairableFinding[]> {
  try {
    const { problem: damage } = await memory.read(agentId);
    if (damage === undefined) return [];
    return [problem({ area: 'memory', where: agentId, what: `the memory of the agent is not read: ${damage}`, remedy: 'Put the section in its MEMORY.md right by hand, or take up an older version: wakechart memory restore.' })];
  } catch (error) {
    return [unreadable(agentId, 'what the sessions of the agent share', error)];
  }
}

/** A cache: nothing is lost with it. */
async function indexFindings(agentId: string, { openIndex }: MemoryCheck): Promise<RepairableFinding[]> {
  const troubles: unknown[] = [];
  const index = openIndex((error) => troubles.push(error));
  try {
    await index.of(agentId);
  } catch (error) {
    troubles.push(error);
  } finally {
    await index.close();
  }
  if (troubles.length === 0) return [];
  const repair = (): Promise<void> => openIndex(() => undefined).clear(agentId);
  return [note({ area: 'memory', where: agentId, what: `the index of what its sessions have said cannot be read: ${messageOf(troubles[0])}`, remedy: 'It is removed; the next search makes it anew of the logs.', repair })];
}

function unreadable(agentId: string, what: string, error: unknown): RepairableFinding {
  return problem({ area: 'memory', where: agentId, what: `${what} cannot be read: ${messageOf(error)}`, remedy: (RuntimeError.is(error) ? error.hint : undefined) ?? 'Check who owns it and its permissions.' });
}
