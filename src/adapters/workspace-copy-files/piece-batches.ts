/**
 * Pieces on their way out: sent a few at a time, so that neither the memory fills nor every small file takes a trip of
 * its own.
 */
import { createHash } from 'node:crypto';
import type { WorkspaceCopyPiece } from '../../actors/workspace-copy/copy-store.ts';

const MAX_BATCH_BYTES = 4_194_304;
const MAX_BATCH_PIECES = 512;

export class PieceBatches {
  /** Of everything that was sent or waits. */
  readonly hashes = new Set<string>();
  readonly #onPieces: (pieces: readonly WorkspaceCopyPiece[]) => Promise<void>;
  #waiting: WorkspaceCopyPiece[] = [];
  #waitingBytes = 0;
  /** Batches go one after the other. */
  #going: Promise<void> = Promise.resolve();

  constructor(onPieces: (pieces: readonly WorkspaceCopyPiece[]) => Promise<void>) {
    this.#onPieces = onPieces;
  }

  /** @returns the hash of the piece @throws what taking an earlier batch threw */
  async add(bytes: Uint8Array): Promise<string> {
    const hash = hashOf(bytes);
    if (this.hashes.has(hash)) return hash;
    this.hashes.add(hash);
    this.#waiting.push({ hash, bytes });
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes >= MAX_BATCH_BYTES || this.#waiting.length >= MAX_BATCH_PIECES) await this.flush();
    return hash;
  }

  async flush(): Promise<void> {
    const batch = this.#waiting;
    [this.#waiting, this.#waitingBytes] = [[], 0];
    this.#going = this.#going.then(() => (batch.length === 0 ? undefined : this.#onPieces(batch)));
    await this.#going;
  }
}

/** What pieces are named by. */
export function hashOf(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}
