/** Processes as a tree: each under the one that it is shown under. */

interface Placed {
  readonly pid: number;
  /** Of the process that it is shown under. */
  readonly parentPid?: number | undefined;
}

export type ProcessBranch<Process> = Process & { readonly children: readonly ProcessBranch<Process>[] };

const MAX_DEPTH = 32;

/** What is under nothing that is there, or under itself, is at the top. Each is there once. */
export function treeOfProcesses<Process extends Placed>(
  processes: readonly Process[],
): readonly ProcessBranch<Process>[] {
  const pids = new Set(processes.map(({ pid }) => pid));
  const placed = new Set<Process>();
  const branch = (process: Process, depth: number): ProcessBranch<Process> => {
    placed.add(process);
    const within =
      depth >= MAX_DEPTH ? [] : processes.filter((each) => each.parentPid === process.pid && each.pid !== process.pid);
    return { ...process, children: within.flatMap((each) => (placed.has(each) ? [] : [branch(each, depth + 1)])) };
  };
  const roots = processes.filter(
    ({ pid, parentPid }) => parentPid === undefined || parentPid === pid || !pids.has(parentPid),
  );
  const tree = roots.flatMap((process) => (placed.has(process) ? [] : [branch(process, 0)]));
  // Two that are each under the other are under no other process.
  return [...tree, ...processes.flatMap((process) => (placed.has(process) ? [] : [branch(process, 0)]))];
}
