/**
 * Tells who lives by sockets, `<home>/hosts/<token>.sock` each: a process listens under its token as long as it lives,
 * and the kernel answers for it. So it can be asked from any container and any namespace of the machine that sees the
 * folder, by whatever path.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir, rm, stat, statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import type {
  AskOptions,
  HostAnswer,
  HostAnswerer,
  HostExchange,
  OtherHosts,
} from '../../actors/host/host-exchange.ts';
import type { HostLife } from '../../actors/host/host-life.ts';
import { bootHere } from '../system/process-life.ts';
import { makeFolder, namesIn } from '../system/whole-files.ts';
import { askHost } from './host-question.ts';
import type { LifeSocket } from './life-socket.ts';
import { doesListen, DRAFT_ENDING, openLifeSocket, SOCKET_ENDING } from './life-socket.ts';

// What a token says: `<boot>-<machine>-<name>`, digests of the boot of the kernel and of the machine, and a name that
// no other process has. All containers of one machine have one boot, and may have different machines: a machine here is
// what calls itself the same after a restart.

const TOKEN = /^(?<boot>[\da-f]{12})-(?<machine>[\da-f]{12})-[\da-f]{16}$/;
const DIGEST_CHARACTERS = 12;
const NAME_BYTES = 8;
/** Of a system that does not name its boots. */
const NO_BOOT = '0'.repeat(DIGEST_CHARACTERS);

interface HostPlace {
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
function placeOf(token: string): HostPlace | undefined {
  const { boot, machine } = TOKEN.exec(token)?.groups ?? {};
  return boot === undefined || machine === undefined ? undefined : { boot, machine };
}

/** Whether the kernel there is the one here: only that one knows who listens. */
function isSameKernel(there: HostPlace, here: HostPlace): boolean {
  return there.boot === here.boot && (there.boot !== NO_BOOT || there.machine === here.machine);
}

/** The same machine at another time. */
function isEarlierBoot(there: HostPlace, here: HostPlace): boolean {
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

/** In a home. */
export const HOSTS_FOLDER = 'hosts';

/** A socket that does not listen yet is that for milliseconds; one this old has no maker. */
const DRAFT_AGE_MS = 3_600_000;

export interface SocketHostLifeOptions {
  /** Such as `<home>/hosts`. Made with the first token. */
  readonly directory: string;
  /** Where this process runs. Default: what the system says. */
  readonly place?: HostPlace | undefined;
}

export function createHostLife(options: SocketHostLifeOptions): HostLife & HostExchange {
  return new SocketHostLife(options);
}

interface OpenLife {
  readonly token: string;
  readonly socket: LifeSocket;
}

class SocketHostLife implements HostLife, HostExchange {
  readonly #directory: string;
  readonly #place: HostPlace;
  #open: Promise<OpenLife | undefined> | undefined;
  #own: string | undefined;
  #answerer: HostAnswerer | undefined;
  #sweeping: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor({ directory, place = placeHere() }: SocketHostLifeOptions) {
    this.#directory = resolve(directory);
    this.#place = place;
  }

  async token(): Promise<string | undefined> {
    if (this.#isClosed) return undefined;
    this.#open ??= this.#begin();
    return (await this.#open)?.token;
  }

  async isAlive(token: string): Promise<boolean | undefined> {
    const there = placeOf(token);
    if (there === undefined) return undefined;
    if (isSameKernel(there, this.#place)) return doesListen(this.#directory, token);
    return isEarlierBoot(there, this.#place) || (await isLocal(this.#directory)) ? false : undefined;
  }

  answerWith(answerer: HostAnswerer): void {
    this.#answerer = answerer;
  }

  isOwn(token: string): boolean {
    return token === this.#own;
  }

  async others(): Promise<OtherHosts> {
    const tokens: string[] = [];
    let beyond = 0;
    for (const name of await namesIn(this.#directory)) {
      const token = name.endsWith(SOCKET_ENDING) ? name.slice(0, -SOCKET_ENDING.length) : '';
      const there = placeOf(token);
      if (there === undefined || this.isOwn(token)) continue;
      if (isSameKernel(there, this.#place)) tokens.push(token);
      else if ((await this.isAlive(token)) === undefined) beyond += 1;
    }
    return { tokens, beyond };
  }

  async ask(token: string, question: string, options: AskOptions = {}): Promise<HostAnswer> {
    const text =
      placeOf(token) === undefined
        ? undefined
        : await askHost({ folder: this.#directory, token }, question, options).catch(() => undefined);
    if (text !== undefined) return { is: 'told', text };
    return { is: (await this.isAlive(token)) === false ? 'gone' : 'silent' };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const open = await this.#open;
    await this.#sweeping;
    await open?.socket.close();
  }

  async #begin(): Promise<OpenLife | undefined> {
    if (process.platform === 'win32') return undefined;
    const token = newToken(this.#place);
    try {
      await makeFolder(this.#directory, { durability: 'os' });
      this.#own = token;
      const socket = await openLifeSocket(this.#directory, token, () => this.#answerer);
      this.#sweeping = this.#sweep().catch(() => undefined);
      return { token, socket };
    } catch {
      // A process that cannot write here hears so from what it was going to write.
      return undefined;
    }
  }

  /** Removes what the dead left. */
  async #sweep(): Promise<void> {
    for (const name of await readdir(this.#directory)) {
      if (await this.#isLeft(name)) await rm(join(this.#directory, name), { force: true });
    }
  }

  async #isLeft(name: string): Promise<boolean> {
    if (name.endsWith(SOCKET_ENDING)) return (await this.isAlive(name.slice(0, -SOCKET_ENDING.length))) === false;
    if (!name.endsWith(DRAFT_ENDING)) return false;
    const made = await stat(join(this.#directory, name)).catch(() => undefined);
    return made !== undefined && Date.now() - made.mtimeMs > DRAFT_AGE_MS;
  }
}

/** Magic numbers of statfs(2) on Linux: ext2 to ext4, XFS, Btrfs, F2FS, ZFS, bcachefs, tmpfs, ramfs, overlayfs. */
const LOCAL: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0xca451a4e, 0x01021994, 0x858458f6, 0x794c7630,
]);

/**
 * Whether the folder lies on a file system that one machine at a time has: then a process that made something in it on
 * another boot is gone. Any other file system, and any other system's, may be shared by several machines.
 */
async function isLocal(folder: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  return statfs(folder).then(
    ({ type }) => LOCAL.has(type >>> 0),
    () => false,
  );
}
