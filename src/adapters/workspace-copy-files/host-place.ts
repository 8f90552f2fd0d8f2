/**
 * What tells the place of a home from that of a copy of it, as far as the system shows it: the id of the machine, and
 * that of the disk. All of it stays when the machine starts again, as numbers of devices and names such as `sda` need
 * not: they count only where there is nothing else.
 */
import { createHash } from 'node:crypto';
import { readFile, realpath, stat, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isMissing } from './copy-errors.ts';

const MACHINE_IDS = ['etc/machine-id', 'var/lib/dbus/machine-id'];
const MACHINE_ID = /^[\da-f]{32}$/;

/**
 * Below the folder of a disk in sysfs: what its maker or its host gave it, the volume of a device mapper, the file
 * behind a loop device.
 */
const DISK_IDS = ['wwid', 'device/wwid', 'serial', 'device/serial', 'dm/uuid', 'loop/backing_file'];
const PCI_ADDRESS = /^[\da-f]{4,}:[\da-f]{2}:[\da-f]{2}\.\d$/;
const SCSI_ADDRESS = /^\d+(?<behind>:\d+:\d+:\d+)$/;

/**
 * Magic numbers of statfs(2) for what several machines may have at once: NFS, SMB, 9P, FUSE, Ceph, Lustre, AFS, GFS2,
 * OCFS2, GPFS.
 */
const SHARED: ReadonlySet<number> = new Set([
  0x6969, 0xff534d42, 0xfe534d42, 0x01021997, 0x65735546, 0x00c36400, 0x0bd00bd0, 0x5346414f, 0x01161970, 0x7461636f,
  0x47504653,
]);

/**
 * Empty where machines may share the file system, or where nothing can be read: then the file in the home is all that
 * there is to go by.
 * @param root where `etc` and `sys` are
 */
export async function placeOf(home: string, root = '/'): Promise<string> {
  const type = await typeOf(home);
  if (type === undefined || (process.platform === 'linux' && SHARED.has(type))) return '';
  const machine = await machineId(root);
  const [disk, device] = await diskOf(home, root);
  const facts = [machine, disk ?? (machine === undefined ? device : undefined)].filter((fact) => fact !== undefined);
  // The id of a machine stays on it: its hash tells as much.
  return facts.length === 0
    ? ''
    : createHash('sha256')
        .update(JSON.stringify(['wakechart', ...facts]))
        .digest('hex');
}

/** Undefined where there is no home yet. */
async function typeOf(home: string): Promise<number | undefined> {
  return statfs(home).then(
    ({ type }) => type >>> 0,
    (error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    },
  );
}

async function machineId(root: string): Promise<string | undefined> {
  for (const path of MACHINE_IDS) {
    const text = await textAt(join(root, path));
    if (text !== undefined && MACHINE_ID.test(text)) return `machine ${text}`;
  }
  return undefined;
}

/** The disk as its system knows it, and its number. */
async function diskOf(
  home: string,
  root: string,
): Promise<readonly [disk: string | undefined, device: string | undefined]> {
  if (process.platform !== 'linux') return [undefined, undefined];
  const { major, minor } = numbersOf((await stat(home, { bigint: true })).dev);
  const number = `${major}:${minor}`;
  // File systems without a disk of their own get another number each time.
  const device = major === 0n ? undefined : `device ${number}`;
  const folder = await realpath(join(root, 'sys/dev/block', number)).catch(() => undefined);
  if (folder === undefined) return [undefined, device];
  const partition = await textAt(join(folder, 'partition'));
  const disk = partition === undefined ? folder : dirname(folder);
  const id = (await firstOf(disk)) ?? slotOf(disk);
  return [id === undefined ? undefined : `disk ${id} ${partition ?? ''}`, device];
}

async function firstOf(disk: string): Promise<string | undefined> {
  for (const name of DISK_IDS) {
    const text = await textAt(join(disk, name));
    if (text !== undefined && text !== '') return `${basename(name)} ${text}`;
  }
  return undefined;
}

/** Where it is plugged in. The number of a SCSI host is left out: it is given in the order in which drivers start. */
function slotOf(disk: string): string | undefined {
  const parts = disk
    .split('/')
    .flatMap((part) => (PCI_ADDRESS.test(part) ? [part] : (SCSI_ADDRESS.exec(part)?.groups?.['behind'] ?? [])));
  return parts.length === 0 ? undefined : `slot ${parts.join(' ')}`;
}

/** As Linux writes both into one number. */
function numbersOf(dev: bigint): { readonly major: bigint; readonly minor: bigint } {
  return {
    major: ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & 0xfffff000n),
    minor: (dev & 0xffn) | ((dev >> 12n) & 0xffffff00n),
  };
}

/** Undefined where it is missing or not to be read, as some of sysfs is only by root. */
async function textAt(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').then(
    (text) => text.replaceAll('\0', '').trim(),
    () => undefined,
  );
}
