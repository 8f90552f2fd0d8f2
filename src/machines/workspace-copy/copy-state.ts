/**
 * Where the workspace of a session is at home, and which copy of it there is; and from that, what a wake has to do that
 * begins on a machine.
 *
 *   home     it was here last: what lies here counts, and nothing is copied
 *   stays    the same, though a wake that never began has spoken for another machine
 *   first    no record speaks of it: it is at home here from now on
 *   moves    it was elsewhere last: the copy is laid out here first
 *   refused  it is elsewhere and cannot be had here: the wake is left to the machine that has it
 *
 * What a wake says of the workspace before it begins is a claim, which keeps earlier wakes from speaking; its process
 * may die before anything of it is in the log. Where the workspace was worked in last is therefore what the log says,
 * and so is what may be lost.
 */
import * as z from 'zod';
import { RuntimeError } from '../errors.ts';
import { lackText } from '../session/lack.ts';
import type { Lack } from '../session/lack.ts';
import type { SessionState } from '../session/session-state.ts';
import { copyFile, pieceHash } from './copy-manifest.ts';

const text = z.string().min(1).max(1_000);
const epoch = z.number().int().nonnegative();

/** A home directory on a machine. `id` stays when the machine starts again; `name` is for people. */
export const homeHost = z.strictObject({ id: text, name: text });

export type HomeHost = Readonly<z.output<typeof homeHost>>;

/** What lay in the workspace when the wake of `epoch` had done its work. */
export const workspaceCopy = z.strictObject({
  epoch,
  manifestId: pieceHash,
  files: z.number().int().nonnegative(),
  bytes: z.number().int().nonnegative(),
});

export type WorkspaceCopy = Readonly<z.output<typeof workspaceCopy>>;

export const copyState = z.strictObject({
  /** Of the wake that said so; of the first that may speak again when it was released. */
  epoch,
  /** Absent: it was taken away from the machine that was its home. */
  host: homeHost.optional(),
  copy: workspaceCopy.optional(),
  /** Why it can be nowhere else. Absent: it goes where a copy of it can be laid out. */
  bound: text.optional(),
  /** Files that came from elsewhere since, such as attachments, and lie in no copy yet. */
  added: z.array(copyFile),
});

export type WorkspaceCopyState = Readonly<z.output<typeof copyState>>;

/** The newest wake in the log: only what has begun can have changed anything. */
export interface BegunWake {
  readonly epoch: number;
  /** Absent in logs of before it was said, and of machines that share nothing. */
  readonly host?: HomeHost | undefined;
  /** Whether its end, if any, was said by another process: a copy under its epoch may not be all that it did. */
  readonly hasDied: boolean;
}

/** Asked before a wake begins: one that is open then has died. */
export function begunWake({ openWake, lastWake }: Pick<SessionState, 'openWake' | 'lastWake'>): BegunWake | undefined {
  if (openWake !== undefined) return { epoch: openWake.epoch, host: openWake.host, hasDied: true };
  return lastWake === undefined
    ? undefined
    : { epoch: lastWake.epoch, host: lastWake.host, hasDied: lastWake.hasDied === true };
}

export interface CopySituation {
  readonly sessionId: string;
  /** As it was said last; undefined when no record speaks of it. */
  readonly state: WorkspaceCopyState | undefined;
  readonly here: HomeHost;
  /** Why it can be nowhere else, as this machine sees it. */
  readonly bound: string | undefined;
  /** The folder that the session was given and that is not here, if so. */
  readonly missingFolder: string | undefined;
  readonly last: BegunWake | undefined;
}

export type CopyArrival =
  | { readonly kind: 'home' | 'stays' | 'first' }
  | {
      readonly kind: 'moves';
      readonly from: HomeHost | undefined;
      readonly copy: WorkspaceCopy | undefined;
      readonly mayHaveLost: boolean;
    }
  | { readonly kind: 'refused'; readonly error: RuntimeError };

export function copyArrival({ sessionId, state, here, bound, missingFolder, last }: CopySituation): CopyArrival {
  const home = state?.host;
  if (home !== undefined && home.id !== here.id) {
    const reason = state?.bound ?? bound;
    if (reason !== undefined) return { kind: 'refused', error: copyElsewhere(sessionId, { home, reason }) };
  }
  const isHome = home?.id === here.id;
  // A file that came for it says nothing of where it is.
  const isUnknown = state === undefined || (home === undefined && state.epoch === 0);
  // At home the folder was removed, and the caller that released the session wants it to go on without.
  if (missingFolder !== undefined && !isHome && (home !== undefined || isUnknown))
    return {
      kind: 'refused',
      error: copyElsewhere(sessionId, { home, reason: `it works in ${missingFolder}, which is not on ${here.name}` }),
    };
  if (isUnknown) return { kind: 'first' };
  if (lastHome(state, last)?.id === here.id) return { kind: isHome ? 'home' : 'stays' };
  const { copy } = state;
  const from = last?.host ?? home;
  return { kind: 'moves', from: from?.id === here.id ? undefined : from, copy, mayHaveLost: mayHaveLost(copy, last) };
}

/**
 * Where it was worked in last: as the log says, unless what was said of the workspace is as new. Undefined when it was
 * released.
 */
export function lastHome(
  { host, epoch: said }: Pick<WorkspaceCopyState, 'host' | 'epoch'>,
  last: BegunWake | undefined,
): HomeHost | undefined {
  if (host === undefined || last?.host === undefined || last.epoch === said) return host;
  return last.host;
}

/** Whether a wake may have changed something that is in no copy. */
export function mayHaveLost(copy: Pick<WorkspaceCopy, 'epoch'> | undefined, last: BegunWake | undefined): boolean {
  if (last === undefined) return false;
  return copy === undefined || copy.epoch < last.epoch || (copy.epoch === last.epoch && last.hasDied);
}

/** What a machine says that is not the one. */
export const WORKSPACE_COPY_ELSEWHERE = 'WORKSPACE_COPY_ELSEWHERE';

function copyElsewhere(
  sessionId: string,
  { home, reason }: { readonly home: HomeHost | undefined; readonly reason: string },
): RuntimeError {
  return new RuntimeError(
    WORKSPACE_COPY_ELSEWHERE,
    `session ${sessionId} is left to ${home === undefined ? 'the machine that has its folder' : `its home ${home.name}`}: ${reason}`,
    {
      category: 'conflict',
      hint:
        home === undefined
          ? 'Run a worker on that machine.'
          : `Run a worker on ${home.name}. When that machine is gone for good, release the session with \`wakechart session release\`: what was not copied is lost then.`,
      details: { sessionId, reason, ...(home === undefined ? {} : { hostId: home.id, host: home.name }) },
    },
  );
}

/** What a machine or a process says that has not got what the session needs, such as its agent. */
export const WAKE_ELSEWHERE = 'WAKE_ELSEWHERE';

/** @param here where several machines share the store */
export function wakeElsewhere(
  sessionId: string,
  { here, lacks }: { readonly here?: HomeHost | undefined; readonly lacks: Lack },
): RuntimeError {
  const missing = lackText(lacks);
  const [others, where, inFiles] =
    here === undefined
      ? ['processes', 'the home, or in the code that this one was given', 'put it back into the home']
      : [
          'machines',
          `the home of this one (${here.name}), or in the code that it was given`,
          'put it into the home of this machine too, or run a worker on one that has it',
        ];
  return new RuntimeError(
    WAKE_ELSEWHERE,
    `session ${sessionId} is left to other ${others}: there is ${missing} in ${where}`,
    {
      category: 'conflict',
      hint: `What is defined in code comes with --config FILE, or createNodeRuntime({ config }). Otherwise ${inFiles}.`,
      details: { sessionId, lacks: missing, ...(here === undefined ? {} : { hostId: here.id, host: here.name }) },
    },
  );
}

/** What a wake says after another one has taken its place. */
export function copySuperseded(sessionId: string, of: number): RuntimeError {
  return new RuntimeError(
    'WORKSPACE_COPY_SUPERSEDED',
    `the folder of session ${sessionId} belongs to another wake now; the wake of epoch ${of} may not say any more what is in it`,
    {
      category: 'conflict',
      hint: 'Another wake took over; leave the session to it.',
      details: { sessionId, epoch: of },
    },
  );
}

/**
 * Whether a wake may say something of the workspace, given what was said before. Saying it again is fine. Of one that
 * was released, the wake that comes first from the epoch on that it was released for.
 */
export function maySpeak(
  before: Pick<WorkspaceCopyState, 'epoch' | 'host'> | undefined,
  now: { readonly epoch: number; readonly host: HomeHost },
): boolean {
  if (before === undefined || now.epoch > before.epoch) return true;
  return now.epoch === before.epoch && (before.host === undefined || before.host.id === now.host.id);
}
