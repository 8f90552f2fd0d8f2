/** Which processes are at work in a folder, as far as the system shows it: on Linux, those of the same user. Elsewhere it says nothing. */
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

const SLICE_MS = 3;

/** Says who is inside, in words: a process whose folder, program or open file lies in `folder`, or a file system mounted there. */
export async function usersOf(folder: string): Promise<readonly string[]> {
  const users: string[] = mountsIn(folder);
  let sliceEnd = performance.now() + SLICE_MS;
  for (const name of namesIn('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const place = placeInside(name, folder);
    if (place !== undefined) users.push(`process ${name} (${programOf(name)}) has ${place}`);
    if (performance.now() < sliceEnd) continue;
    await new Promise((resolve) => setImmediate(resolve));
    sliceEnd = performance.now() + SLICE_MS;
  }
  return users;
}

/** Whether a process was given `text` as a part of its command line. Finds a git that outlived whoever started it. */
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

function placeInside(pid: string, folder: string): string | undefined {
  if (isInside(linkOf(`/proc/${pid}/cwd`), folder)) return 'its working folder in it';
  if (isInside(linkOf(`/proc/${pid}/root`), folder)) return 'its root in it';
  if (isInside(linkOf(`/proc/${pid}/exe`), folder)) return 'its program in it';
  const descriptors = namesIn(`/proc/${pid}/fd`);
  return descriptors.some((descriptor) => isInside(linkOf(`/proc/${pid}/fd/${descriptor}`), folder)) ? 'a file of it open' : undefined;
}

function isInside(target: string | undefined, folder: string): boolean {
  if (target === undefined) return false;
  // The system marks what has been unlinked; a process whose folder was deleted writes into nothing that could be kept.
  return target === folder || target.startsWith(`${folder}/`);
}

function mountsIn(folder: string): string[] {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .map((line) => unescaped(line.split(' ')[4] ?? ''))
      .filter((place) => isInside(place, folder))
      .map((place) => `a file system is mounted at ${place}`);
  } catch {
    return [];
  }
}

/** The table of mounts writes blanks and line ends of paths as octal numbers. */
function unescaped(text: string): string {
  return text.replaceAll(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
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
