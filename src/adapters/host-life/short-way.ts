/**
 * A way to a folder that is short enough for a socket: the path of one may have some hundred bytes, and a home may have
 * more. On Linux it leads through a descriptor of the folder, elsewhere through a link in a folder of this user's own.
 */
import { mkdtemp, open, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { descriptorPath, hasDescriptorPaths } from '../system/held-folder.ts';

/** Longest path that every system takes for a socket, in bytes: 104 with the zero at its end, on macOS. */
const MAX_SOCKET_PATH_BYTES = 103;
/** Not the folder for temporary files of this system: that may be long itself. */
const SHORT_FOLDER = '/tmp/wakechart-';

/**
 * Lets `use` reach `name` in `folder` under a path that a socket can have. @throws the system's error, ENOENT when the
 * folder is not there
 */
export async function withShortWay<Result>(
  folder: string,
  name: string,
  use: (path: string) => Promise<Result>,
): Promise<Result> {
  const plain = join(folder, name);
  if (Buffer.byteLength(plain) <= MAX_SOCKET_PATH_BYTES) return use(plain);
  return hasDescriptorPaths() ? throughDescriptor(folder, name, use) : throughLink(folder, name, use);
}

async function throughDescriptor<Result>(
  folder: string,
  name: string,
  use: (path: string) => Promise<Result>,
): Promise<Result> {
  const handle = await open(folder, 'r');
  try {
    return await use(join(descriptorPath(handle.fd), name));
  } finally {
    await handle.close();
  }
}

async function throughLink<Result>(
  folder: string,
  name: string,
  use: (path: string) => Promise<Result>,
): Promise<Result> {
  await stat(folder);
  const own = await mkdtemp(SHORT_FOLDER);
  try {
    const link = join(own, 'f');
    await symlink(folder, link);
    return await use(join(link, name));
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}
