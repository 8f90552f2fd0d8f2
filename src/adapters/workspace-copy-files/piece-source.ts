/** Pieces on their way in, in the order in which they are wanted: fetched a few ahead, and checked by their hash. */
import type { WorkspaceCopyPiece } from '../../actors/workspace-copy/copy-store.ts';
import { damaged } from '../../machines/workspace-copy/copy-manifest.ts';
import { hashOf } from './piece-batches.ts';

const MAX_AHEAD_PIECES = 256;
const MAX_AHEAD_BYTES = 4_194_304;

export interface WantedPiece {
  readonly hash: string;
  readonly bytes: number;
}

export class PieceSource {
  fetchedBytes = 0;
  readonly #get: (hashes: readonly string[]) => Promise<readonly WorkspaceCopyPiece[]>;
  readonly #wanted: readonly WantedPiece[];
  #cursor = 0;
  #ahead = new Map<string, Uint8Array>();

  /** @param wanted in the order in which `next` will ask */
  constructor(
    wanted: readonly WantedPiece[],
    get: (hashes: readonly string[]) => Promise<readonly WorkspaceCopyPiece[]>,
  ) {
    this.#wanted = wanted;
    this.#get = get;
  }

  /** All that is wanted, to stay here until it is asked for. */
  async fetchAll(): Promise<void> {
    const hashes = [...new Set(this.#wanted.map(({ hash }) => hash))];
    if (hashes.length > 0) this.#take(await fetchPieces(hashes, this.#get));
  }

  /** @throws RuntimeError WORKSPACE_COPY_DAMAGED when it is not there, or is another one */
  async next(hash: string): Promise<Uint8Array> {
    if (!this.#ahead.has(hash)) await this.#fetch(hash);
    this.#cursor += 1;
    const bytes = this.#ahead.get(hash);
    if (bytes === undefined) throw damaged(`piece ${hash} is missing`);
    return bytes;
  }

  /** One that was not counted with. */
  async beside(hash: string): Promise<Uint8Array> {
    const [piece] = await fetchPieces([hash], this.#get);
    if (piece === undefined) throw damaged(`piece ${hash} is missing`);
    this.fetchedBytes += piece.bytes.length;
    return piece.bytes;
  }

  async #fetch(first: string): Promise<void> {
    const hashes = new Set([first]);
    let bytes = 0;
    for (const each of this.#wanted.slice(this.#cursor, this.#cursor + MAX_AHEAD_PIECES)) {
      bytes += each.bytes;
      if (bytes > MAX_AHEAD_BYTES) break;
      hashes.add(each.hash);
    }
    this.#take(await fetchPieces([...hashes], this.#get));
  }

  #take(pieces: readonly WorkspaceCopyPiece[]): void {
    this.#ahead = new Map(pieces.map(({ hash, bytes }) => [hash, bytes]));
    this.fetchedBytes += pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }
}

/** @throws RuntimeError WORKSPACE_COPY_DAMAGED for one whose bytes are not what its name says */
export async function fetchPieces(
  hashes: readonly string[],
  get: (hashes: readonly string[]) => Promise<readonly WorkspaceCopyPiece[]>,
): Promise<readonly WorkspaceCopyPiece[]> {
  const pieces = await get(hashes);
  for (const { hash, bytes } of pieces) if (hashOf(bytes) !== hash) throw damaged(`piece ${hash} holds something else`);
  return pieces;
}
