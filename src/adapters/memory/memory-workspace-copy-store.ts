/** Workspace copies in the memory of this process: for tests, and for machines that are played in one process. */
import { WORKSPACE_COPY_GRACE_MS } from '../../actors/workspace-copy/copy-store.ts';
import type { WorkspaceCopyStore, WorkspaceCopyPiece } from '../../actors/workspace-copy/copy-store.ts';
import type { Clock } from '../../actors/clock/clock.ts';
import { mergedState, withAdded, withoutHome } from '../../machines/workspace-copy/copy-record.ts';
import { copySuperseded, maySpeak } from '../../machines/workspace-copy/copy-state.ts';
import type { WorkspaceCopyState } from '../../machines/workspace-copy/copy-state.ts';

export interface MemoryWorkspaceCopyStoreOptions {
  readonly clock: Clock;
  /** How long a piece that nothing names is left alone, in milliseconds. Default: one day. */
  readonly graceMs?: number | undefined;
}

interface KeptPiece extends WorkspaceCopyPiece {
  readonly putMs: number;
}

export function createMemoryWorkspaceCopyStore({
  clock,
  graceMs = WORKSPACE_COPY_GRACE_MS,
}: MemoryWorkspaceCopyStoreOptions): WorkspaceCopyStore {
  const states = new Map<string, WorkspaceCopyState>();
  const kept = new Map<string, Map<string, KeptPiece>>();
  const piecesOf = (sessionId: string): Map<string, KeptPiece> => {
    const pieces = kept.get(sessionId) ?? new Map<string, KeptPiece>();
    kept.set(sessionId, pieces);
    return pieces;
  };
  return {
    has: (sessionId, hashes) =>
      Promise.resolve(
        new Set(
          hashes.filter((hash) => clock.now() - (piecesOf(sessionId).get(hash)?.putMs ?? -Infinity) < graceMs / 2),
        ),
      ),
    put: async (sessionId, pieces) => {
      for (const { hash, bytes } of pieces)
        piecesOf(sessionId).set(hash, { hash, bytes: bytes.slice(), putMs: clock.now() });
    },
    get: (sessionId, hashes) =>
      Promise.resolve(
        hashes
          .flatMap((hash) => piecesOf(sessionId).get(hash) ?? [])
          .map(({ hash, bytes }) => ({ hash, bytes: bytes.slice() })),
      ),
    prune: async (sessionId, { epoch, keep }) => {
      if (states.get(sessionId)?.epoch !== epoch) return { pieces: 0, bytes: 0 };
      const old = [...piecesOf(sessionId).values()].filter(
        ({ hash, putMs }) => !keep.has(hash) && clock.now() - putMs > graceMs,
      );
      for (const { hash } of old) piecesOf(sessionId).delete(hash);
      return { pieces: old.length, bytes: old.reduce((sum, { bytes }) => sum + bytes.length, 0) };
    },
    latest: (sessionId) => Promise.resolve(states.get(sessionId)),
    record: async (sessionId, record) => {
      const before = states.get(sessionId);
      if (!maySpeak(before, record)) throw copySuperseded(sessionId, record.epoch);
      states.set(sessionId, mergedState(before, record));
    },
    add: async (sessionId, file) => void states.set(sessionId, withAdded(states.get(sessionId), file)),
    release: async (sessionId, nextEpoch) => {
      const before = states.get(sessionId);
      if (before === undefined) return false;
      states.set(sessionId, withoutHome(before, nextEpoch));
      return before.host !== undefined;
    },
    forget: async (sessionId) => {
      states.delete(sessionId);
      kept.delete(sessionId);
    },
  };
}
