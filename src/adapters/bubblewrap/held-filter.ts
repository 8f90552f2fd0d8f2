/**
 * The filter of system calls as bubblewrap reads it: an open file. It has no name in any folder, since a folder may
 * be one in which commands work, and what they wrote there would be their filter.
 */
import { closeSync, mkdtempSync, openSync, readlinkSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RuntimeError, messageOf } from '../../machines/errors.ts';

/** By the bytes: one file for all sandboxes of this process. It is closed when the process ends. */
const held = new Map<string, string>();

/**
 * @returns a path under /proc that leads to the bytes for as long as this process lives
 * @throws RuntimeError SANDBOX_UNAVAILABLE
 */
export function heldFilter(bytes: Uint8Array): string {
  const key = Buffer.from(bytes).toString('latin1');
  const path = held.get(key) ?? hold(bytes);
  held.set(key, path);
  return path;
}

function hold(bytes: Uint8Array): string {
  let descriptor: number | undefined;
  try {
    descriptor = nameless();
    writeSync(descriptor, bytes);
    // Its number where /proc shows it, which need not be the one that the process knows itself by.
    return `/proc/${readlinkSync('/proc/self')}/fd/${descriptor}`;
  } catch (cause) {
    if (descriptor !== undefined) closeSync(descriptor);
    const reason = `the filter of system calls cannot be kept in a file: ${messageOf(cause)}`;
    throw new RuntimeError('SANDBOX_UNAVAILABLE', reason, {
      category: 'process',
      hint: 'Make the temporary folder writable (TMPDIR).',
      cause,
    });
  }
}

function nameless(): number {
  const folder = mkdtempSync(join(tmpdir(), 'wakechart-filter-'));
  try {
    return openSync(join(folder, 'filter'), 'wx+', 0o600);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
