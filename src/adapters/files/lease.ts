/**
 * The lease of a session: who may run its next wake, across processes.
 *
 * The log arbitrates by epoch; the lease only tells who lives. A process that is to wake under epoch `e` listens on a
 * socket named `e`, and one that wants to go past it asks it first. A dead process refuses connections, a silent one
 * does not answer, and no process has to believe a clock, a process id or a file that says "mine". A name that is taken
 * is never removed to make room, only passed by the next number, so that two who saw the same dead owner cannot both
 * succeed. See docs/decisions/0009.
 */
import { access } from 'node:fs/promises';
import * as z from 'zod';
import type { Clock } from '../../actors/clock/clock.ts';
import { sessionNotFound } from '../../actors/session/event-store.ts';
import type { WakeClaim, WakeRight } from '../../actors/session/event-store.ts';
import type { RuntimeError } from '../../machines/errors.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import { systemCodeOf } from '../system/error-codes.ts';
import { hasDescriptorPaths } from '../system/held-folder.ts';
import { LeaseAcquisition } from './lease-acquisition.ts';
import { LeaseFolder, defaultSocketDirectory } from './lease-folder.ts';
import type { LeasePlace } from './lease-folder.ts';
import { Inquiry } from './lease-inquiry.ts';
import type { OnFollow } from './lease-socket.ts';
import { storageFailed } from './storage-errors.ts';

/** How long the holder of a lease may be silent while a process asks, in milliseconds. */
const DEFAULT_LEASE_MS = 15_000;

/** The longest lease, in milliseconds: no process must wait for a stopped one for ever. */
const MAX_LEASE_MS = 86_400_000;

const leaseOptions = z.object({
  leaseMs: z.number().positive().max(MAX_LEASE_MS).default(DEFAULT_LEASE_MS),
  socketDirectory: z.string().min(1).optional(),
});

export type CheckedLeaseOptions = Readonly<z.output<typeof leaseOptions>>;

/** @throws RuntimeError STORE_OPTIONS_INVALID */
export function checkLeaseOptions(options: z.input<typeof leaseOptions>): CheckedLeaseOptions {
  return parseOrThrow(leaseOptions, options, { what: 'options of the file store', code: 'STORE_OPTIONS_INVALID' });
}

export interface LeaseRequest extends CheckedLeaseOptions {
  readonly sessionId: string;
  /** The session's folder. */
  readonly directory: string;
  readonly clock: Clock;
  /** Hears those who connect to the lease to follow the words of the wake. */
  readonly onFollow?: OnFollow | undefined;
}

/** @throws RuntimeError SESSION_NOT_FOUND when the session's folder is gone; STORAGE_FAILED */
export async function assertSessionFolder({
  sessionId,
  directory,
}: Pick<LeaseRequest, 'sessionId' | 'directory'>): Promise<void> {
  try {
    await access(directory);
  } catch (error) {
    throw systemCodeOf(error) === 'ENOENT'
      ? sessionNotFound(sessionId)
      : storageFailed(`find the folder of session ${sessionId}`, error);
  }
}

/** The same, where the lease does not lie in that folder, and so cannot miss it. */
export async function assertLeasable(request: LeaseRequest): Promise<void> {
  const [{ kind }] = placesOf(request);
  if (kind === 'elsewhere') await assertSessionFolder(request);
}

/** What a file system says that takes no sockets. */
const TAKES_NO_SOCKETS: ReadonlySet<string> = new Set(['EOPNOTSUPP', 'ENOTSUP', 'EPERM', 'ENOSYS']);

/** How often the folder, or our name in it, may be removed under us before we say that it cannot be used. */
const MAX_ATTEMPTS = 100;

/**
 * @throws RuntimeError WAKE_CONFLICT when a living process holds the right or is about to; STORAGE_FAILED;
 * SESSION_NOT_FOUND when the session's folder is gone
 */
export async function acquireLease(request: LeaseRequest, claim: WakeClaim): Promise<WakeRight> {
  const [first, ...others] = placesOf(request);
  let place = first;
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await attemptAt(place, request, claim);
    if (outcome.kind === 'acquired') return outcome.right;
    const next = outcome.kind === 'gone' ? place : others.shift();
    if (next === undefined || attempt >= MAX_ATTEMPTS) throw failed(request, outcome.error);
    place = next;
  }
}

type Attempt =
  | { readonly kind: 'acquired'; readonly right: WakeRight }
  | { readonly kind: 'gone' | 'no_sockets'; readonly error: unknown };

async function attemptAt(place: LeasePlace, request: LeaseRequest, claim: WakeClaim): Promise<Attempt> {
  const opened = await openFolder(place, request);
  if ('error' in opened) return { kind: 'gone', error: opened.error };
  const { folder } = opened;
  const acquisition = new LeaseAcquisition({ ...request, claim, folder });
  try {
    return { kind: 'acquired', right: await acquisition.run() };
  } catch (error) {
    const code = systemCodeOf(error) ?? '';
    await acquisition.giveUp();
    // The folder is gone, for which Node says EACCES when it binds a socket; or our name is, because the log has gone
    // past our claim.
    if (code === 'ENOENT' || (code === 'EACCES' && !(await folder.isDenied()))) return { kind: 'gone', error };
    if (TAKES_NO_SOCKETS.has(code)) return { kind: 'no_sockets', error };
    throw failed(request, error);
  }
}

/** The folder, or the error that says that it was removed while it was being made. */
async function openFolder(
  place: LeasePlace,
  request: LeaseRequest,
): Promise<{ readonly folder: LeaseFolder } | { readonly error: unknown }> {
  try {
    return { folder: await LeaseFolder.make(place, request.directory) };
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw failed(request, error);
    if (place.kind === 'session') await assertSessionFolder(request);
    return { error };
  }
}

function failed({ sessionId }: LeaseRequest, error: unknown): RuntimeError {
  return storageFailed(`take the lease of session ${sessionId}`, error);
}

/** The places where the lease may lie, in the order in which every process tries them. */
export function placesOf({
  socketDirectory,
}: Pick<LeaseRequest, 'socketDirectory'>): readonly [LeasePlace, ...LeasePlace[]] {
  if (socketDirectory !== undefined) return [{ kind: 'elsewhere', root: socketDirectory }];
  const elsewhere: LeasePlace = { kind: 'elsewhere', root: defaultSocketDirectory() };
  return hasDescriptorPaths() ? [{ kind: 'session' }, elsewhere] : [elsewhere];
}

/** How long a holder is given to answer, in milliseconds, before it counts as living: the dead are heard of at once. */
const ANSWER_MS = 1_000;

/**
 * Whether a process holds the lease. One that does not answer at once may be busy, or stopped: it counts until another
 * process has gone past it.
 * @throws RuntimeError STORAGE_FAILED
 */
export async function isLeaseHeld(request: LeaseRequest): Promise<boolean> {
  try {
    for (const place of placesOf(request)) {
      const folder = await LeaseFolder.find(place, request.directory);
      try {
        if (folder !== undefined && (await hasHolder(folder, request))) return true;
      } finally {
        await folder?.close();
      }
    }
    return false;
  } catch (error) {
    throw storageFailed(`ask who has the lease of session ${request.sessionId}`, error);
  }
}

async function hasHolder(folder: LeaseFolder, { clock }: LeaseRequest): Promise<boolean> {
  for (const epoch of folder.epochs()) {
    const inquiry = new Inquiry({
      address: folder.addressOf(epoch),
      clock,
      leaseMs: ANSWER_MS,
      patience: 'answered',
    });
    try {
      const finding = await inquiry.finding;
      if (finding.kind === 'silent') return true;
      if (finding.kind === 'living' && finding.answer?.phase !== 'lost') return true;
    } finally {
      inquiry.close();
    }
  }
  return false;
}

/**
 * Resolves when the lease may have become free: its holder has released it or died, which the kernel tells at once, or
 * is silent for the lease's length. Resolves at once when no process has it, and when `signal` aborts.
 * @throws RuntimeError STORAGE_FAILED
 */
export async function leaseFreed(request: LeaseRequest, signal: AbortSignal): Promise<void> {
  try {
    for (const place of placesOf(request)) {
      const folder = await LeaseFolder.find(place, request.directory);
      try {
        if (folder !== undefined && (await hasOutlastedHolder(folder, request, signal))) return;
      } finally {
        await folder?.close();
      }
    }
  } catch (error) {
    throw storageFailed(`wait for the lease of session ${request.sessionId}`, error);
  }
}

/** Waits for the end of the one with the highest number; false when no process is there. */
async function hasOutlastedHolder(
  folder: LeaseFolder,
  { clock, leaseMs }: LeaseRequest,
  signal: AbortSignal,
): Promise<boolean> {
  for (const epoch of folder.epochs()) {
    if (signal.aborted) return true;
    const inquiry = new Inquiry({ address: folder.addressOf(epoch), clock, leaseMs, patience: 'ended' });
    const stop = (): void => inquiry.close();
    signal.addEventListener('abort', stop, { once: true });
    try {
      const { kind } = await inquiry.finding;
      // One that has died long ago, or knows that it has lost, has no say.
      if (signal.aborted || kind === 'silent' || inquiry.wasAlive) return true;
    } finally {
      signal.removeEventListener('abort', stop);
      inquiry.close();
    }
  }
  return false;
}
