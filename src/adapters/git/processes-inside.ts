/**
 * Which processes are at work in a folder, as far as the system shows it: on Linux, those of the same user. Elsewhere
 * it says nothing.
 */
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { aliasesOf, isAtOrIn, parseMounts } from './mounts.ts';
import type { Mount } from './mounts.ts';

const SLICE_MS = 3;

/**
 * Says who is inside, in words: a process whose folder, program or open file lies in `folder`, or a file system mounted
 * there.
 */
export async function usersOf(folder: string): Promise<readonly string[]> {
  const here = mountsOf('self');
  const users: string[] = mountsIn(folder, here);
  const places = placesByNamespace(folder, here);
  let sliceEnd = performance.now() + SLICE_MS;
  for (const name of namesIn('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const place = placeInside(name, places(name));
    if (place !== undefined) users.push(`process ${name} (${programOf(name)}) has ${place}`);
    if (performance.now() < sliceEnd) continue;
    await new Promise((resolve) => setImmediate(resolve));
    sliceEnd = performance.now() + SLICE_MS;
  }
  return users;
}

/** Whether a process was given `text` as a part of its command line. Finds a git that outlived its parent. */
export function commandNaming(text: string): string | undefined {
  for (const name of namesIn('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      if (words.includes(text)) return `process ${name} (${programOf(name)}) was told of it`;
    } catch {
      // It has ended, or is not ours to see.
    }
  }
  return undefined;
}

function placeInside(pid: string, folders: readonly string[]): string | undefined {
  if (isInside(linkOf(`/proc/${pid}/cwd`), folders)) return 'its working folder in it';
  if (isInside(linkOf(`/proc/${pid}/root`), folders)) return 'its root in it';
  if (isInside(linkOf(`/proc/${pid}/exe`), folders)) return 'its program in it';
  const descriptors = namesIn(`/proc/${pid}/fd`);
  return descriptors.some((descriptor) => isInside(linkOf(`/proc/${pid}/fd/${descriptor}`), folders))
    ? 'a file of it open'
    : undefined;
}

/**
 * The system marks what has been unlinked; a process whose folder was deleted writes into nothing that could be kept.
 */
function isInside(target: string | undefined, folders: readonly string[]): boolean {
  return target !== undefined && folders.some((folder) => isAtOrIn(target, folder));
}

/** The paths of `folder` as a process sees them, by its pid. */
function placesByNamespace(folder: string, here: readonly Mount[]): (pid: string) => readonly string[] {
  const known = new Map<string, readonly string[]>([
    [linkOf('/proc/self/ns/mnt') ?? '', [folder, ...aliasesOf(folder, here, here)]],
  ]);
  return (pid) => {
    const namespace = linkOf(`/proc/${pid}/ns/mnt`) ?? '';
    const places = known.get(namespace) ?? [folder, ...aliasesOf(folder, here, mountsOf(pid))];
    known.set(namespace, places);
    return places;
  };
}

function mountsIn(folder: string, here: readonly Mount[]): string[] {
  return here.filter(({ point }) => isAtOrIn(point, folder)).map(({ point }) => `a file system is mounted at ${point}`);
}

/** None where they cannot be seen. */
function mountsOf(pid: string): readonly Mount[] {
  try {
    return parseMounts(readFileSync(`/proc/${pid}/mountinfo`, 'utf8'));
  } catch {
    return [];
  }
}

function programOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return 'ended';
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
