/** Everything about the memory of agents that is kept in files, put together for the composition of adapters. */
import type { Clock } from '../../actors/clock/clock.ts';
import type { LearningStore } from '../../actors/memory/learning-store.ts';
import type { SharedFilesStage } from '../../actors/memory/shared-files-stage.ts';
import type { SharedFilesStore } from '../../actors/memory/shared-files-store.ts';
import type { ExclusiveWork } from '../../actors/run/exclusive-work.ts';
import { FileLearningStore } from './file-learning-store.ts';
import { FileSharedFilesStore } from './file-shared-files-store.ts';
import { createWorkspaceStage } from './workspace-stage.ts';

export interface MemoryFilesOptions {
  /** Absolute: where an agent's file lies. */
  readonly agentDirectory: (agentId: string) => string;
  readonly clock: Pick<Clock, 'now'>;
  readonly exclusively: ExclusiveWork;
}

export interface MemoryFiles {
  readonly sharedFiles: SharedFilesStore;
  readonly learnings: LearningStore;
  readonly stage: SharedFilesStage;
}

export function createMemoryFiles(options: MemoryFilesOptions): MemoryFiles {
  return {
    sharedFiles: new FileSharedFilesStore(options),
    learnings: new FileLearningStore(options),
    stage: createWorkspaceStage(),
  };
}
