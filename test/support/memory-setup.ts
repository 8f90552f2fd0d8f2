/** Stores of shared files and learnings over a home of a test's own, and permits as the gate gives them. */
import { join } from 'node:path';
import { requirePromotion } from '../../src/actors/outcome/promotion-gate.ts';
import type { PromotionPermit } from '../../src/actors/outcome/promotion-gate.ts';
import { underLock } from '../../src/adapters/system/process-lock.ts';
import { createMemoryFiles } from '../../src/adapters/shared-files/memory-files.ts';
import type { MemoryFiles } from '../../src/adapters/shared-files/memory-files.ts';
import { initialSessionState } from '../../src/machines/session/session-state.ts';
import type { SessionState } from '../../src/machines/session/session-state.ts';
import { temporaryHome } from './temporary-home.ts';

const SESSION = '0192f0c1-2345-7abc-8def-0123456789ab';

export interface MemorySetup {
  readonly home: string;
  /** Another process over the same home. */
  open(): MemoryFiles;
  agentDirectory(agentId: string): string;
  dispose(): Promise<void>;
}

export async function openMemorySetup(nowMs = Date.UTC(2026, 0, 1)): Promise<MemorySetup> {
  const home = await temporaryHome();
  const agentDirectory = (agentId: string): string => join(home.path, 'agents', agentId);
  return {
    home: home.path,
    agentDirectory,
    open: () => createMemoryFiles({ agentDirectory, clock: { now: () => nowMs }, exclusively: underLock }),
    dispose: () => home.remove(),
  };
}

function evaluated(agentId: string, verdict: 'pass' | 'fail' = 'pass', more: Partial<SessionState> = {}): SessionState {
  return {
    ...initialSessionState({ sessionId: SESSION, agentId }),
    outcome: { title: 'Done.', seq: 1, by: 'person' },
    evaluation: { verdict, because: 'So it is.', throughSeq: 5, seq: 6 },
    ...more,
  };
}

export function permitFor(agentId: string): PromotionPermit {
  return requirePromotion(evaluated(agentId));
}
