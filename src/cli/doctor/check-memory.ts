/**
 * Checks what the agents of a home know: learnings, memory, the files that their sessions share, and the index that
 * finds all that.
 */
import { lstat, readdir, rm } from 'node:fs/promises';
import type { AgentMemory } from '../../actors/memory/agent-memory.ts';
import { rebuildLearnings } from '../../actors/memory/captured-learnings.ts';
import type { LearningStore } from '../../actors/memory/learning-store.ts';
import type { AgentCatalog } from '../../actors/session/agent-catalog.ts';
import type { EventStore } from '../../actors/session/event-store.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { PartFolder } from '../../adapters/retrieval-files/part-folder.ts';
import { counted } from '../terminal/text.ts';
import { note, problem } from './finding.ts';
import type { RepairableFinding } from './finding.ts';

export interface MemoryCheck {
  readonly agents: Pick<AgentCatalog, 'list'>;
  readonly learnings: LearningStore;
  readonly memory: Pick<AgentMemory, 'read'>;
  readonly store: Pick<EventStore, 'read' | 'list'>;
  /** Where the index of an agent lies. */
  readonly indexDirectory: (agentId: string) => string;
}

export async function checkMemory(check: MemoryCheck): Promise<RepairableFinding[]> {
  const findings: RepairableFinding[] = [];
  for (const { agentId } of await check.agents.list()) {
    findings.push(
      ...(await learningFindings(agentId, check)),
      ...(await memoryFindings(agentId, check)),
      ...(await indexFindings(agentId, check)),
    );
  }
  return findings;
}

async function learningFindings(agentId: string, { learnings, store }: MemoryCheck): Promise<RepairableFinding[]> {
  try {
    const { damagedLines } = await learnings.examine(agentId);
    if (damagedLines === 0) return [];
    const repair = async (): Promise<void> =>
      void (await rebuildLearnings({ agentId, store, learnings, onUnreadable: refuseRebuild }));
    return [
      problem({
        area: 'memory',
        where: agentId,
        what: `${counted(damagedLines, 'record')} of what the agent has learned cannot be read`,
        remedy: 'They are made anew of the logs of its sessions.',
        repair,
      }),
    ];
  } catch (error) {
    return [unreadable(agentId, 'what the agent has learned', error)];
  }
}

/** What only that log knows would be lost with a rebuild. */
function refuseRebuild(sessionId: string, error: unknown): never {
  throw new RuntimeError(
    'LEARNINGS_NOT_REBUILT',
    `the log of session ${sessionId} cannot be read: ${messageOf(error)}. "wakechart learnings rebuild" does it without that log`,
    { category: 'storage', cause: error },
  );
}

async function memoryFindings(agentId: string, { memory }: MemoryCheck): Promise<RepairableFinding[]> {
  try {
    const { problem: damage } = await memory.read(agentId);
    if (damage === undefined) return [];
    return [
      problem({
        area: 'memory',
        where: agentId,
        what: `the memory of the agent is not read: ${damage}`,
        remedy:
          'Put the section in its MEMORY.md right by hand, or take up an older version: wakechart memory restore.',
      }),
    ];
  } catch (error) {
    return [unreadable(agentId, 'what the sessions of the agent share', error)];
  }
}

/**
 * A cache: nothing is lost with it, and what cannot be read of it is made anew. One that cannot be kept is made anew
 * again and again.
 */
async function indexFindings(agentId: string, { indexDirectory }: MemoryCheck): Promise<RepairableFinding[]> {
  const directory = indexDirectory(agentId);
  const present = await lstat(directory).catch(() => undefined);
  if (present === undefined) return [];
  const repair = (): Promise<void> => rm(directory, { recursive: true, force: true });
  const remedy = 'It can be removed: the next search makes it anew of the logs.';
  if (!present.isDirectory())
    return [
      note({
        area: 'memory',
        where: directory,
        what: 'something else is in the place of the index of what sessions have said, so that none can be kept',
        remedy,
        repair,
      }),
    ];
  const problemOf = await unreadParts(directory);
  return problemOf === undefined ? [] : [note({ area: 'memory', where: directory, what: problemOf, remedy, repair })];
}

async function unreadParts(directory: string): Promise<string | undefined> {
  const troubles: unknown[] = [];
  let read = 0;
  const count = async (): Promise<void> => void (read += 1);
  await new PartFolder({ folder: directory, onTrouble: (error) => troubles.push(error) }).readAll(count);
  const [trouble] = troubles;
  if (trouble !== undefined) return `the index of what sessions have said cannot be read: ${messageOf(trouble)}`;
  const names = (await readdir(directory)).filter((name) => !name.startsWith('.'));
  return names.length > read
    ? `${counted(names.length - read, 'file')} of the index of what sessions have said cannot be read`
    : undefined;
}

function unreadable(agentId: string, what: string, error: unknown): RepairableFinding {
  return problem({
    area: 'memory',
    where: agentId,
    what: `${what} cannot be read: ${messageOf(error)}`,
    remedy: (RuntimeError.is(error) ? error.hint : undefined) ?? 'Check who owns it and its permissions.',
  });
}
