/** How many files a process may have open at once. */
import { readFileSync } from 'node:fs';

/** What every system of today allows, and what is taken where the system does not tell. */
const LEAST_LIMIT = 1_024;

/** Of this process. Linux tells in `/proc/self/limits`. */
export function descriptorLimit(limitsFile = '/proc/self/limits'): number {
  try {
    const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync(limitsFile, 'utf8')) ?? [];
    if (soft === undefined) return LEAST_LIMIT;
    return soft === 'unlimited' ? Infinity : Number(soft);
  } catch {
    return LEAST_LIMIT;
  }
}
