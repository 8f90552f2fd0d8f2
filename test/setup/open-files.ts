/**
 * Which files this process has open, by the paths that `/proc` gives them. Never all of its descriptors: test files
 * share processes, and what an earlier one closes late would be taken for something that happened here.
 */
import { readdirSync, readlinkSync } from 'node:fs';

const FOLDER = '/proc/self/fd';

/** The descriptors whose path begins with this one, those of removed files too. */
export function openFilesOf(path: string): number {
  return readdirSync(FOLDER).filter((descriptor) => targetOf(descriptor).startsWith(path)).length;
}

function targetOf(descriptor: string): string {
  try {
    return readlinkSync(`${FOLDER}/${descriptor}`);
  } catch {
    // Closed since the folder was read, as the one that read it always is.
    return '';
  }
}
