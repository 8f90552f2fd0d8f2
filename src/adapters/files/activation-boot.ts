/**
 * Whether the hints in a folder have seen a power failure. They are not put on the disk one by one, since that would
 * cost every message a sync; so after a boot of the system some may be missing that were there before it. A stamp says
 * under which boot all of them were made.
 */
import { readFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { systemCodeOf } from '../system/error-codes.ts';
import { bootHere } from '../system/process-life.ts';
import { replaceFile } from './durable-files.ts';
import type { FileOperations } from './file-operations.ts';

const BOOT_FILE = '.boot';

/** Two readings of when the system was booted may differ by this much. */
const BOOT_TIME_TOLERANCE_MS = 10_000;
const BOOT_TIME = /^booted-at (\d+)$/;

/** Whether the stamp was made under the boot we live in. */
export async function isStamped(directory: string): Promise<boolean> {
  try {
    const stamp = await readFile(join(directory, BOOT_FILE), 'utf8');
    return isSameBoot(stamp.trim(), currentBoot());
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

export async function stampBoot(directory: string, operations: FileOperations): Promise<void> {
  await replaceFile(join(directory, BOOT_FILE), `${currentBoot()}\n`, operations);
}

/** Linux names its boots. Elsewhere the time of the boot stands for it. */
function currentBoot(): string {
  return bootHere() ?? `booted-at ${Math.round(Date.now() - uptime() * 1000)}`;
}

function isSameBoot(stamp: string, current: string): boolean {
  const [then, now] = [stamp, current].map((text) => BOOT_TIME.exec(text)?.[1]);
  if (then === undefined || now === undefined) return stamp === current;
  return Math.abs(Number(then) - Number(now)) <= BOOT_TIME_TOLERANCE_MS;
}
