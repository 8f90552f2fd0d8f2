/** When a process started, as text that differs for two processes that were given the same id. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';

/** Position of the start time in /proc/<pid>/stat after the command's closing parenthesis. Source: proc(5). */
const START_TIME_FIELD = 19;
const STATE_FIELD = 0;

/** Undefined when there is no such process, when it is only waiting to be reaped, or when nobody can tell. */
export async function processStartTime(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') return linuxStartTime(pid);
  if (process.platform === 'win32') return undefined;
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'lstart=', '-p', String(pid)], (error, stdout) => resolve(error === null ? stdout.trim() || undefined : undefined));
  });
}

async function linuxStartTime(pid: number): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The command stands in parentheses and may contain anything, spaces and parentheses too.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[STATE_FIELD] === 'Z' || fields[STATE_FIELD] === 'X' ? undefined : fields[START_TIME_FIELD];
  } catch {
    return undefined;
  }
}
