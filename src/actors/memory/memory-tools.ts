/**
 * The managed tools of the family `memory`: what an agent remembers and has learned. What they promote passes the gate
 * where it takes effect.
 */
import { RuntimeError } from '../../machines/errors.ts';
import {
  MAX_CAPTURES_PER_WAKE,
  learningCaptureDefinition,
  learningGetDefinition,
  learningListDefinition,
  memoryPromoteDefinition,
  memoryReadDefinition,
  memoryRestoreDefinition,
  memoryVersionsDefinition,
} from '../../machines/memory/memory-tool-definitions.ts';
import type {
  LearningGetInput,
  LearningListInput,
  MemoryPromoteInput,
  MemoryReadInput,
  RestoreInput,
  VersionsInput,
} from '../../machines/memory/memory-tool-definitions.ts';
import type { KeptLearning, NewLearning } from '../../machines/memory/learning.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import { MEMORY_FILE } from '../../machines/memory/shared-file-path.ts';
import { MAX_VERSIONS_LISTED } from './shared-files-store.ts';
import type { SharedFilesStore } from './shared-files-store.ts';
import { requirePromotion } from '../outcome/promotion-gate.ts';
import { Mutex } from '../concurrency/mutex.ts';
import type { EventStore } from '../session/event-store.ts';
import type { IdSource } from '../session/id-source.ts';
import type { Tool } from '../turn/tool.ts';
import type { AgentMemory } from './agent-memory.ts';
import type { LearningStore } from './learning-store.ts';
import { keepLearnings, namedLearnings } from './session-promotion.ts';
import { shownText, shownVersion, wakeOf } from './tool-parts.ts';

export interface MemoryToolPorts {
  readonly store: Pick<EventStore, 'read'>;
  readonly sharedFiles: SharedFilesStore;
  readonly learnings: LearningStore;
  readonly memory: AgentMemory;
  readonly ids: IdSource;
}

export function createMemoryTools(ports: MemoryToolPorts): readonly Tool[] {
  // Calls of one step run together, and each has to learn what became of its own learning.
  const mutex = new Mutex();
  return [
    readTool(ports),
    versionsTool(ports),
    promoteTool(ports, mutex),
    restoreTool(ports),
    listTool(ports),
    getTool(ports),
    captureTool(ports, mutex),
  ];
}

function readTool({ memory }: MemoryToolPorts): Tool<MemoryReadInput> {
  return {
    definition: memoryReadDefinition,
    async run({ version }, { session }) {
      const reading = await memory.read(session.agentId, version);
      const entries = reading.entries.map(({ learningId, at, kind, title }) => ({ learningId, at, kind, title }));
      return {
        version: reading.version,
        ...shownText(reading.text),
        entries: entries.slice(-MAX_SHOWN_ENTRIES),
        ...(reading.problem === undefined ? {} : { problem: reading.problem }),
      };
    },
  };
}

const MAX_SHOWN_ENTRIES = 60;

function versionsTool({ sharedFiles }: MemoryToolPorts): Tool<VersionsInput> {
  return {
    definition: memoryVersionsDefinition,
    async run({ before, limit }, { session: { agentId } }) {
      const { version: head } = await sharedFiles.head(agentId);
      const found = (await sharedFiles.versions(agentId, { before, limit: MAX_VERSIONS_LISTED })).filter(
        ({ changed }) => changed.includes(MEMORY_FILE),
      );
      return { head, versions: found.slice(0, limit).map(shownVersion) };
    },
  };
}

function promoteTool({ memory, learnings, store }: MemoryToolPorts, mutex: Mutex): Tool<MemoryPromoteInput> {
  return {
    definition: memoryPromoteDefinition,
    async run({ learningIds, expectedVersion }, context) {
      const wake = wakeOf(context);
      const { sessionId, agentId } = wake.state();
      // Before anything is read: a session that may not promote need not know what is there.
      requirePromotion(wake.state());
      await mutex.run(() => keepLearnings(wake, { learnings, store }));
      const found = await namedLearnings(wake, requirePromotion(wake.state()), { store, learnings }, learningIds);
      const result = await memory.promote(requirePromotion(wake.state()), {
        agentId,
        learnings: found,
        expectedVersion,
        why: `promoted by session ${sessionId}`,
      });
      await wake.append([
        {
          type: 'memory.promoted',
          data: { version: result.version, expectedVersion, learningIds: found.map(({ learningId }) => learningId) },
        },
      ]);
      return { ...result, changed: [...result.changed] };
    },
  };
}

function restoreTool({ memory }: MemoryToolPorts): Tool<RestoreInput> {
  return {
    definition: memoryRestoreDefinition,
    async run({ version, expectedVersion }, context) {
      const wake = wakeOf(context);
      const { agentId } = wake.state();
      const result = await memory.restore(requirePromotion(wake.state()), { agentId, version, expectedVersion });
      if (result.isNew)
        await wake.append([
          { type: 'memory.promoted', data: { version: result.version, expectedVersion, learningIds: [] } },
        ]);
      return { ...result, changed: [...result.changed] };
    },
  };
}

function listTool({ learnings }: MemoryToolPorts): Tool<LearningListInput> {
  return {
    definition: learningListDefinition,
    async run({ kind, text, limit }, { session: { agentId } }) {
      const all = await learnings.list(agentId, { kind, text });
      return { learnings: all.slice(0, limit).map(shownLearning), total: all.length };
    },
  };
}

function getTool({ learnings }: MemoryToolPorts): Tool<LearningGetInput> {
  return {
    definition: learningGetDefinition,
    async run({ learningId }, { session: { agentId } }) {
      const found = await learnings.get(agentId, learningId);
      if (found === undefined) throw learningNotFound(agentId, learningId);
      return shownLearning(found);
    },
  };
}

/** Sessions whose captures are counted at the same time. */
const MAX_COUNTED_SESSIONS = 1_000;

function captureTool({ ids, learnings, store }: MemoryToolPorts, mutex: Mutex): Tool<NewLearning> {
  const counted = new Map<string, { readonly wakeId: string; readonly count: number }>();
  const count = (sessionId: string, wakeId: string): void => {
    const before = counted.get(sessionId);
    const so = before?.wakeId === wakeId ? before.count : 0;
    if (so >= MAX_CAPTURES_PER_WAKE) throw tooMany();
    counted.delete(sessionId);
    counted.set(sessionId, { wakeId, count: so + 1 });
    for (const oldest of counted.keys()) if (counted.size > MAX_COUNTED_SESSIONS) counted.delete(oldest);
  };
  return {
    definition: learningCaptureDefinition,
    async run({ promoteToMemory = false, dedupeKey, ...learning }, context) {
      const wake = wakeOf(context);
      const { sessionId, openWake } = wake.state();
      count(sessionId, openWake?.wakeId ?? 'none');
      const learningId = ids.next();
      const captured: SessionEventDraft = {
        type: 'learning.captured',
        data: { learningId, ...learning, promoteToMemory, ...(dedupeKey === undefined ? {} : { dedupeKey }) },
      };
      const keeping = await mutex.run(async () => {
        await wake.append([captured]);
        return (await keepLearnings(wake, { learnings, store })).get(learningId);
      });
      if (keeping === undefined)
        throw new RuntimeError(
          'LEARNING_LOST',
          'the learning is in the log of the session, and could not be kept yet',
          { category: 'storage', hint: 'The end of the wake tries again.' },
        );
      return { learningId, ...keeping };
    },
  };
}

function shownLearning({
  learningId,
  kind,
  title,
  detail,
  count,
  at,
  lastSeenAt,
  sessionId,
  seq,
}: KeptLearning): Omit<KeptLearning, 'sessionIds' | 'isForgotten' | 'dedupeKey'> {
  return { learningId, kind, title, detail, count, at, lastSeenAt, sessionId, seq };
}

function learningNotFound(agentId: string, learningId: string): RuntimeError {
  return new RuntimeError('LEARNING_NOT_FOUND', `agent ${agentId} has no learning ${JSON.stringify(learningId)}`, {
    category: 'not_found',
    hint: 'learning_list shows those that it has.',
  });
}

function tooMany(): RuntimeError {
  return new RuntimeError('LEARNINGS_TOO_MANY', `expected at most ${MAX_CAPTURES_PER_WAKE} learnings in one wake`, {
    category: 'capacity',
    hint: 'Put several into one, or keep the rest for a later wake.',
    details: { maxCaptures: MAX_CAPTURES_PER_WAKE },
  });
}
