/** Which processes belong to a tree, by all that one check of the system shows. */
import type { ProcessEntry, ProcessSnapshot } from './process-table.ts';

/** What is known of a tree before the check. */
export interface TreeEvidence {
  readonly tag: string;
  /**
   * Start times by pid of the root and of every member seen so far: one that has shed its tag is known by what it was.
   */
  readonly known: ReadonlyMap<number, number>;
  /** No member started earlier. */
  readonly startedSince: number;
  /** How much two readings of one start time may differ. */
  readonly startTolerance: number;
  /** Sessions and groups that the tree may share without owning them: the host's. */
  readonly sharedLeaders: ReadonlySet<number>;
}

/** Every member that lives, without the process that asks and those above it. */
export function findMembers(snapshot: ProcessSnapshot, evidence: TreeEvidence, self: number): readonly ProcessEntry[] {
  const excluded = snapshot.lineage(self);
  const members = new Map<number, ProcessEntry>();
  const queue: ProcessEntry[] = [];
  const add = (entry: ProcessEntry): void => {
    if (excluded.has(entry.pid) || members.has(entry.pid)) return;
    if (entry.startTime < evidence.startedSince - evidence.startTolerance) return;
    members.set(entry.pid, entry);
    queue.push(entry);
  };

  for (const entry of snapshot.ofTree(evidence.tag)) add(entry);
  for (const [pid, startTime] of evidence.known) {
    const entry = snapshot.entries.get(pid);
    if (entry !== undefined && isSameStart(entry.startTime, startTime, evidence.startTolerance)) add(entry);
  }
  // Relatives of relatives: the queue grows while it is walked.
  for (const member of queue) {
    for (const child of snapshot.childrenOf(member.pid)) add(child);
    // A host in the tree has trees of its own, whose members have the limit of those.
    for (const inner of innerTags(member.tags, evidence.tag)) for (const entry of snapshot.ofTree(inner)) add(entry);
    if (isOwned(member.session)) for (const mate of snapshot.inSession(member.session)) add(mate);
    if (isOwned(member.group)) for (const mate of snapshot.inGroup(member.group)) add(mate);
  }
  return [...members.values()].filter(({ state }) => state !== 'dead');

  /**
   * Sessions and groups can only be joined by being born into them, so one that a member leads, or that a member lives
   * in after its leader has gone, was made inside the tree. A living leader that is no member has made it outside.
   */
  function isOwned(leader: number): boolean {
    if (leader <= 0 || evidence.sharedLeaders.has(leader)) return false;
    const entry = snapshot.entries.get(leader);
    return entry === undefined || entry.state === 'dead' || members.has(leader);
  }
}

function innerTags(tags: readonly string[], tag: string): readonly string[] {
  const at = tags.indexOf(tag);
  return at === -1 ? [] : tags.slice(at + 1);
}

export function isSameStart(one: number, other: number, tolerance: number): boolean {
  return Math.abs(one - other) <= tolerance;
}
