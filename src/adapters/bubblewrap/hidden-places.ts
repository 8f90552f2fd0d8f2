/**
 * What no sandbox may show, as the disk has it now: every name by which it can be reached, and the number that it is
 * known by.
 */
import { lstat, readFile, readlink, realpath } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

export interface HiddenPlace {
  /** On the host: absolute, every link followed. */
  readonly path: string;
  readonly kind: 'folder' | 'file';
  /** `device:inode`. */
  readonly identity: string;
}

export interface HiddenPlaces {
  readonly places: readonly HiddenPlace[];
  /** Links on the way from the names that were given: a process that replaces one leads those names somewhere else. */
  readonly links: readonly string[];
}

/** @param named absolute; what is not there is left out */
export async function hiddenPlaces(named: readonly string[]): Promise<HiddenPlaces> {
  const [found, links, mounted] = await Promise.all([
    Promise.all(named.map(placeAt)),
    Promise.all(named.map(linksTo)),
    readFile('/proc/self/mountinfo', 'utf8').catch(() => ''),
  ]);
  const real = found.filter((place) => place !== undefined);
  const others = await Promise.all(
    real.flatMap(({ path, identity }) =>
      otherNames(path, mounted).map(async (name) => ({ identity, place: await placeAt(name) })),
    ),
  );
  const aliases = others.flatMap(({ identity, place }) => (place?.identity === identity ? [place] : []));
  return {
    places: [...new Map([...real, ...aliases].map((place) => [place.path, place])).values()],
    links: [...new Set(links.flat())],
  };
}

/** Those of the paths that are there. */
export async function placesAt(paths: readonly string[]): Promise<readonly HiddenPlace[]> {
  return (await Promise.all(paths.map(placeAt))).filter((place) => place !== undefined);
}

async function placeAt(named: string): Promise<HiddenPlace | undefined> {
  try {
    const path = await realpath(named);
    const found = await lstat(path, { bigint: true });
    return { path, kind: found.isDirectory() ? 'folder' : 'file', identity: `${found.dev}:${found.ino}` };
  } catch {
    return undefined;
  }
}

/** More on one way are a circle. */
const MAX_LINKS = 40;

async function linksTo(named: string): Promise<readonly string[]> {
  const links: string[] = [];
  const waiting = [resolve(named)];
  for (let path = waiting.pop(); path !== undefined && links.length < MAX_LINKS; path = waiting.pop()) {
    for (let each = path; dirname(each) !== each; each = dirname(each)) {
      if (
        !(await lstat(each).then(
          (found) => found.isSymbolicLink(),
          () => false,
        ))
      )
        continue;
      const place = await realpath(dirname(each)).then(
        (folder) => `${folder === '/' ? '' : folder}${each.slice(each.lastIndexOf('/'))}`,
        () => each,
      );
      if (links.includes(place)) continue;
      links.push(place);
      const target = await readlink(each).catch(() => undefined);
      if (target !== undefined) waiting.push(resolve(dirname(each), target));
    }
  }
  return links;
}

interface MountLine {
  readonly device: string;
  /** Which folder of its file system is mounted. */
  readonly root: string;
  readonly at: string;
}

/** The same folder by other mounts of its file system. @param mounted what /proc/self/mountinfo says */
export function otherNames(path: string, mounted: string): readonly string[] {
  const lines = mounted.split('\n').flatMap(mountLine);
  const own = lines
    .filter(({ at }) => isWithin(at, path))
    .toSorted((one, other) => one.at.length - other.at.length)
    .at(-1);
  if (own === undefined) return [];
  const inside = `${plain(own.root)}${path.slice(plain(own.at).length)}`;
  return lines
    .flatMap(({ device, root, at }) =>
      device === own.device && isWithin(root, inside) ? [`${plain(at)}${inside.slice(plain(root).length)}`] : [],
    )
    .filter((name) => name !== path && name !== '');
}

function mountLine(line: string): readonly MountLine[] {
  const [, , device, root, at] = line.split(' ');
  return device === undefined || root === undefined || at === undefined
    ? []
    : [{ device, root: unescaped(root), at: unescaped(at) }];
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(?<octal>[0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** Without the slash that only the root has. */
function plain(path: string): string {
  return path === '/' ? '' : path;
}

export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${plain(folder)}/`);
}
