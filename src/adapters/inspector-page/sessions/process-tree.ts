/** Processes as a tree: each under the one that it is shown under. */
import type { InspectedProcess } from '../../../actors/inspection/inspection-source.ts';

export interface ProcessBranch {
  readonly process: InspectedProcess;
  readonly children: readonly ProcessBranch[];
}

const MAX_DEPTH = 32;

/** What is under nothing that is there, or under itself, is at the top. Each is there once. */
export function treeOfProcesses(processes: readonly InspectedProcess[]): readonly ProcessBranch[] {
  const pids = new Set(processes.map(({ pid }) => pid));
  const placed = new Set<InspectedProcess>();
  const branch = (process: InspectedProcess, depth: number): ProcessBranch => {
    placed.add(process);
    const within = depth >= MAX_DEPTH ? [] : processes.filter((each) => each.parentPid === process.pid && each.pid !== process.pid);
    return { process, children: within.flatMap((each) => (placed.has(each) ? [] : [branch(each, depth + 1)])) };
  };
  const roots = processes.filter(({ pid, parentPid }) => parentPid === undefined || parentPid === pid || !pids.has(parentPid));
  const tree = roots.flatMap((process) => (placed.has(process) ? [] : [branch(process, 0)]));
  // Two that are each under the other are under nobody else.
  return [...tree, ...processes.flatMap((process) => (placed.has(process) ? [] : [branch(process, 0)]))];
}
