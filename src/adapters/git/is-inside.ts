/** Paths as they are written, without reading the disk. */
import { relative, sep } from 'node:path';

/** Whether `path` is `folder`, or lies in it. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`));
}
