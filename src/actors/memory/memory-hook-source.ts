/** What the memory of agents adds to a runtime: its tools, and what goes along with wakes. */
import type { EventStore } from '../session/event-store.ts';
import type { IdSource } from '../session/id-source.ts';
import type { Tool } from '../turn/tool.ts';
import type { WakeHook } from '../wake/wake-hook.ts';
import { AgentMemory } from './agent-memory.ts';
import type { LearningStore } from './learning-store.ts';
import { createMemoryHook } from './memory-hook.ts';
import { createMemoryTools } from './memory-tools.ts';
import { createResourceTools } from './resource-tools.ts';
import type { SharedFilesStage } from './shared-files-stage.ts';
import type { SharedFilesStore } from './shared-files-store.ts';

export interface MemoryParts {
  readonly sharedFiles: SharedFilesStore;
  readonly learnings: LearningStore;
  readonly stage: SharedFilesStage;
}

export interface MemoryServices {
  readonly store: Pick<EventStore, 'read'>;
  readonly ids: IdSource;
}

export interface MemoryHookSource {
  readonly tools: readonly Tool[];
  readonly hook: WakeHook;
}

export function createMemoryHookSource(parts: MemoryParts, { store, ids }: MemoryServices): MemoryHookSource {
  const ports = { ...parts, store, ids, memory: new AgentMemory(parts) };
  return {
    tools: [...createMemoryTools(ports), ...createResourceTools(ports)],
    hook: createMemoryHook(ports),
  };
}
