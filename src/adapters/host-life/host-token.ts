/**
 * What a token says: `<boot>-<machine>-<name>`, digests of the boot of the kernel and of the machine, and a name that
 * no other process has. All containers of one machine have one boot, and may have different machines: a machine here is
 * what calls itself the same after a restart.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { bootHere } from '../system/process-life.ts';

const TOKEN = /^(?<boot>[\da-f]{12})-(?<machine>[\da-f]{12})-[\da-f]{16}$/;
const DIGEST_CHARACTERS = 12;
const NAME_BYTES = 8;
/** Of a system that does not name its boots. */
const NO_BOOT = '0'.repeat(DIGEST_CHARACTERS);

export interface HostPlace {
  readonly boot: string;
  readonly machine: string;
}

/** Where this process runs. */
export function placeHere(): HostPlace {
  const boot = bootHere();
  return {
    boot: boot === undefined ? NO_BOOT : digest(boot),
    machine: digest(`${hostname()}\n${textOf('/etc/machine-id')}`),
  };
}

export function newToken({ boot, machine }: HostPlace): string {
  return `${boot}-${machine}-${randomBytes(NAME_BYTES).toString('hex')}`;
}

/** Undefined for what is no token of this version. */
export function placeOf(token: string): HostPlace | undefined {
  const { boot, machine } = TOKEN.exec(token)?.groups ?? {};
  return boot === undefined || machine === undefined ? undefined : { boot, machine };
}

/** Whether the kernel there is the one here: only that one knows who listens. */
export function isSameKernel(there: HostPlace, here: HostPlace): boolean {
  return there.boot === here.boot && (there.boot !== NO_BOOT || there.machine === here.machine);
}

/** The same machine at another time. */
export function isEarlierBoot(there: HostPlace, here: HostPlace): boolean {
  return there.machine === here.machine && there.boot !== here.boot && there.boot !== NO_BOOT && here.boot !== NO_BOOT;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, DIGEST_CHARACTERS);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
