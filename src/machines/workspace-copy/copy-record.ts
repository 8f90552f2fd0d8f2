/** What becomes of a state when a wake or a machine says something new. */
import type { WorkspaceCopyFile } from './copy-manifest.ts';
import type { WorkspaceCopy, HomeHost, WorkspaceCopyState } from './copy-state.ts';

export interface SaidOfCopy {
  readonly epoch: number;
  readonly host: HomeHost;
  readonly copy?: WorkspaceCopy | undefined;
  readonly bound?: string | undefined;
  readonly settled?: readonly string[] | undefined;
}

/** A copy stays until there is another one; what binds it holds as long as it is said. */
export function mergedState(
  before: WorkspaceCopyState | undefined,
  { epoch, host, copy = before?.copy, bound, settled = [] }: SaidOfCopy,
): WorkspaceCopyState {
  const added = (before?.added ?? []).filter(({ path }) => !settled.includes(path));
  return { epoch, host, ...(copy === undefined ? {} : { copy }), ...(bound === undefined ? {} : { bound }), added };
}

/** At home nowhere, for wakes from an epoch on. Where no record speaks of it there is nothing to release. */
export function withoutHome(before: WorkspaceCopyState, nextEpoch: number): WorkspaceCopyState {
  const { host, bound: _bound, ...rest } = before;
  return host === undefined && before.epoch === 0 ? rest : { ...rest, epoch: nextEpoch };
}

/** Before a record says where the workspace is, a file may have come for it. */
export function withAdded(before: WorkspaceCopyState | undefined, file: WorkspaceCopyFile): WorkspaceCopyState {
  const { added, ...rest } = before ?? { epoch: 0, added: [] };
  return { ...rest, added: [...added.filter(({ path }) => path !== file.path), file] };
}
