/** Everything about the memory of agents that is kept in files, put together for the composition of adapters. */
import type { Clock } from '../../actors/clock/clock.ts';
import type { LearningStore } from '../../actors/memory/learning-store.ts';
import type { SubstrateStage } from '../../actors/memory/substrate-stage.ts';
import type { SubstrateStore } from '../../actors/memory/substrate-store.ts';
import type { ExclusiveWork } from '../../actors/run/exclusive-work.ts';
import { FileLearningStore } from './file-learning-store.ts';
import { FileSubstrateStore } from './file-substrate-store.ts';
import { createWorkspaceStage } from './workspace-stage.ts';

export interface MemoryFilesOptions {
  /** Absolute: where an agent's file lies. */
  readonly agentDirectory: (agentId: string) => string;
  readonly clock: Pick<Clock, 'now'>;
  readonly exclusively: ExclusiveWork;
}

export interface MemoryFiles {
  readonly substrate: SubstrateStore;
  readonly learnings: LearningStore;
  readonly stage: SubstrateStage;
}

export function createMemoryFiles(options: MemoryFilesOptions): MemoryFiles {
  return {
    substrate: new FileSubstrateStore(options),
    learnings: new FileLearningStore(options),
    stage: createWorkspaceStage(),
  };
}
