/** What Linux tells of a process in `/proc/<pid>/stat`: see proc_pid_stat(5). */

export interface ProcessStat {
  /** In ticks since the system did. A pid that is given to another process has another beginning. */
  readonly began: string;
  /** Only its name is left. */
  readonly isOver: boolean;
}

/** @param text the whole of the file; of anything else the beginning is empty */
export function processStat(text: string): ProcessStat {
  const fields = processFields(text);
  return { began: fields[19] ?? '', isOver: isProcessOver(fields) };
}

/** Soft limit of the resident set in bytes, the 25th of all fields. @param text the whole of the file */
export function residentLimitIn(text: string): number {
  return Number(processFields(text)[22] ?? 0);
}

/** What follows the name, beginning with the letter of the state: the third field is the first here. */
export function processFields(text: string): readonly string[] {
  // The name stands in parentheses and may hold spaces and parentheses itself; numbers follow the last one.
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** Whether only the name of a process is left. @param fields as `processFields` has them */
export function isProcessOver(fields: readonly string[]): boolean {
  const [state, threads = ''] = [fields[0], fields[17]];
  // A process whose first thread has ended looks like a zombie while its other threads go on.
  return (state === 'Z' && Number(threads) <= 1) || state === 'X' || state === 'x';
}
