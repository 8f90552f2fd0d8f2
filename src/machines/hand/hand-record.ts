/** What becomes of a standing when a wake or a machine says something new. */
import type { HandFile } from './hand-manifest.ts';
import type { HandCopy, HandHost, HandStanding } from './hand-standing.ts';

export interface SaidOfHand {
  readonly epoch: number;
  readonly host: HandHost;
  readonly copy?: HandCopy | undefined;
  readonly bound?: string | undefined;
  readonly settled?: readonly string[] | undefined;
}

/** A copy stays until there is another one; what binds it holds as long as it is said. */
export function mergedStanding(
  before: HandStanding | undefined,
  { epoch, host, copy = before?.copy, bound, settled = [] }: SaidOfHand,
): HandStanding {
  const added = (before?.added ?? []).filter(({ path }) => !settled.includes(path));
  return { epoch, host, ...(copy === undefined ? {} : { copy }), ...(bound === undefined ? {} : { bound }), added };
}

/** At home nowhere, for wakes from an epoch on. Where no record speaks of it there is nothing to let go. */
export function withoutHome(before: HandStanding, nextEpoch: number): HandStanding {
  const { host, bound: _bound, ...rest } = before;
  return host === undefined && before.epoch === 0 ? rest : { ...rest, epoch: nextEpoch };
}

/** Before a record says where the hand is, a file may have come for it. */
export function withAdded(before: HandStanding | undefined, file: HandFile): HandStanding {
  const { added, ...rest } = before ?? { epoch: 0, added: [] };
  return { ...rest, added: [...added.filter(({ path }) => path !== file.path), file] };
}
