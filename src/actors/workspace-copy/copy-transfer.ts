/**
 * Takes all that is known and kept of a workspace copy from one place of copies to another: a process that wakes the
 * session there finds what it would have found here.
 */
import {
  PIECE_BYTES,
  bytesOfPiece,
  damaged,
  readIndex,
  readParts,
} from '../../machines/workspace-copy/copy-manifest.ts';
import type { WorkspaceCopyFile } from '../../machines/workspace-copy/copy-manifest.ts';
import type { WorkspaceCopyState } from '../../machines/workspace-copy/copy-state.ts';
import { sha256Hex } from '../sha256.ts';
import type { WorkspaceCopyStore, WorkspaceCopyPiece } from './copy-store.ts';

/** Of pieces that are in the memory at once. */
const MAX_GROUP_PIECES = 256;
const MAX_GROUP_BYTES = 4 * PIECE_BYTES;

/** Says where a workspace is that was released, until that is said in the target too. */
const NO_HOST = { id: 'nobody', name: 'nobody' } as const;

export interface CopyTransfer {
  readonly sessionId: string;
  readonly from: WorkspaceCopyStore;
  readonly to: WorkspaceCopyStore;
  readonly signal?: AbortSignal | undefined;
}

/**
 * What is there already is not sent again. The session has to be in the target, and no process may wake it in either
 * place.
 * @returns whether anything is known of the workspace copy
 * @throws RuntimeError WORKSPACE_COPY_DAMAGED when a piece is missing or is another one; WORKSPACE_COPY_SUPERSEDED when
 * a later wake has spoken in the target
 */
export async function transferCopy(transfer: CopyTransfer): Promise<boolean> {
  const { sessionId, from, to } = transfer;
  const state = await from.latest(sessionId);
  if (state === undefined) return false;
  await carry(await piecesOf(state, transfer), transfer);
  // Pieces first: a reader that finds the word that they are the copy finds all of them.
  const { epoch, host, copy, bound, added } = state;
  const there = await to.latest(sessionId);
  const settled = (there?.added ?? [])
    .filter(({ path }) => added.every((file) => file.path !== path))
    .map(({ path }) => path);
  const isSpokenOf = epoch > 0 || host !== undefined;
  if (isSpokenOf && (settled.length > 0 || !isSaid(state, there)))
    await to.record(sessionId, { epoch, host: host ?? NO_HOST, copy, bound, settled });
  if (host === undefined) await to.release(sessionId, Math.max(epoch, there?.epoch ?? 0));
  for (const file of added) await to.add(sessionId, file);
  return true;
}

function isSaid({ epoch, host, copy, bound }: WorkspaceCopyState, there: WorkspaceCopyState | undefined): boolean {
  if (there?.epoch !== epoch || there.copy?.manifestId !== copy?.manifestId) return false;
  return host === undefined || (there.host?.id === host.id && there.bound === bound);
}

/** How long each is that the copy is made of, by hash: the list of it last. */
async function piecesOf(
  { copy, added }: WorkspaceCopyState,
  transfer: CopyTransfer,
): Promise<ReadonlyMap<string, number>> {
  if (copy === undefined) return sizesOf(added);
  const decoder = new TextDecoder();
  const index = await pieceOf(copy.manifestId, transfer);
  const { parts } = readIndex(decoder.decode(index.bytes));
  const lists: WorkspaceCopyPiece[] = [];
  for (const part of parts) lists.push(await pieceOf(part, transfer));
  const files = readParts(lists.map(({ bytes }) => decoder.decode(bytes))).filter((entry) => entry.kind === 'file');
  return new Map([
    ...sizesOf([...added, ...files]),
    ...[...lists, index].map(({ hash, bytes }) => [hash, bytes.length] as const),
  ]);
}

function sizesOf(files: readonly WorkspaceCopyFile[]): ReadonlyMap<string, number> {
  return new Map(files.flatMap((file) => file.pieces.map((hash, index) => [hash, bytesOfPiece(file, index)] as const)));
}

async function carry(sizes: ReadonlyMap<string, number>, transfer: CopyTransfer): Promise<void> {
  let group: string[] = [];
  let bytes = 0;
  for (const [hash, size] of sizes) {
    if (group.length > 0 && (group.length >= MAX_GROUP_PIECES || bytes + size > MAX_GROUP_BYTES)) {
      await carryGroup(group, transfer);
      [group, bytes] = [[], 0];
    }
    group.push(hash);
    bytes += size;
  }
  await carryGroup(group, transfer);
}

async function carryGroup(hashes: readonly string[], transfer: CopyTransfer): Promise<void> {
  const { sessionId, to, signal } = transfer;
  signal?.throwIfAborted();
  const there = await to.has(sessionId, hashes);
  const missing = hashes.filter((hash) => !there.has(hash));
  if (missing.length > 0) await to.put(sessionId, await fetched(missing, transfer));
}

async function pieceOf(hash: string, transfer: CopyTransfer): Promise<WorkspaceCopyPiece> {
  const [piece] = await fetched([hash], transfer);
  if (piece === undefined) throw damaged(`piece ${hash} is missing`);
  return piece;
}

/** All of them, each of which is what its name says. @throws RuntimeError WORKSPACE_COPY_DAMAGED */
export async function fetched(
  hashes: readonly string[],
  { sessionId, from }: Pick<CopyTransfer, 'sessionId' | 'from'>,
): Promise<readonly WorkspaceCopyPiece[]> {
  const pieces = await from.get(sessionId, hashes);
  for (const { hash, bytes } of pieces)
    if ((await sha256Hex(bytes)) !== hash) throw damaged(`piece ${hash} holds something else`);
  const found = new Set(pieces.map(({ hash }) => hash));
  for (const hash of hashes) if (!found.has(hash)) throw damaged(`piece ${hash} is missing`);
  return pieces;
}
