/**
 * Whether a folder lies on a file system that one machine at a time has: then a process that made something in it on
 * another boot is gone.
 */
import { statfs } from 'node:fs/promises';

/** Magic numbers of statfs(2) on Linux: ext2 to ext4, XFS, Btrfs, F2FS, ZFS, bcachefs, tmpfs, ramfs, overlayfs. */
const LOCAL: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0xca451a4e, 0x01021994, 0x858458f6, 0x794c7630,
]);

/** Any other, and any other system's, may be shared by several machines. */
export async function isLocal(folder: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  return statfs(folder).then(
    ({ type }) => LOCAL.has(type >>> 0),
    () => false,
  );
}
