/**
 * What a wake does about the workspace of its session: it has it here before the first turn, and leaves a copy of it
 * when it ends.
 */
import { beginningOf } from '../../machines/cut-text.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { DEFAULT_COPY_LIMITS } from '../../machines/workspace-copy/copy-limits.ts';
import type { WorkspaceCopyLimits } from '../../machines/workspace-copy/copy-limits.ts';
import { begunWake, copyArrival, wakeElsewhere } from '../../machines/workspace-copy/copy-state.ts';
import type { BegunWake, CopyArrival, HomeHost, WorkspaceCopyState } from '../../machines/workspace-copy/copy-state.ts';
import { wellFormed } from '../../machines/turn/transcript-text.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { placeOfSession } from '../session/session-directories.ts';
import type { SessionPlace } from '../session/session-directories.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import type { WorkspaceCopyStore, WorkspaceCopyPiece } from './copy-store.ts';
import type { WorkspaceCopyFolders } from './copy-folders.ts';
import type { LackedHere } from './lacked-here.ts';

export interface WorkspaceCopiesPorts {
  readonly copies: WorkspaceCopyStore;
  readonly folders: WorkspaceCopyFolders;
  /** Why a session can be on one machine only, if so. */
  readonly boundBecause: (session: SessionState) => Promise<string | undefined>;
  /**
   * What the session needs and this machine has not got, such as `no agent "coder"`. Absent: it is not looked up, and
   * its wake says what is wrong.
   */
  readonly lackedHere?: LackedHere | undefined;
  readonly limits?: WorkspaceCopyLimits | undefined;
  /** Hears why no copy could be made, and why what is not needed any more could not be removed. */
  readonly onTrouble: OnListenerError;
}

interface WorkspaceCopyWake {
  readonly epoch: number;
  readonly signal?: AbortSignal | undefined;
}

/** The workspace copy of a session whose wake may begin here. */
export interface ArrivedWorkspaceCopy {
  /**
   * This machine: the log says it with the beginning of the wake, so that what may be lost is known from the log alone.
   */
  readonly host: HomeHost;
  /** For the log, with the beginning of the wake. */
  readonly notes: readonly SessionEventDraft[];
  /**
   * Leaves a copy of what lies in the workspace now, so that the process that takes the session over finds it. May be
   * called again: what has not changed costs nothing but a check.
   * @returns what the log has to say of it
   * @throws RuntimeError WORKSPACE_COPY_SUPERSEDED when the workspace belongs to another wake by now
   */
  leave(wake?: Pick<WorkspaceCopyWake, 'signal'>): Promise<readonly SessionEventDraft[]>;
}

/** What no later try of the same wake makes good, so that the workspace can be nowhere else for the time being. */
const LASTING = new Set(['WORKSPACE_COPY_TOO_LARGE', 'WORKSPACE_COPY_UNREADABLE']);

/** Each method is called under the right to wake the session. */
export interface WorkspaceCopies {
  /** What the session needs and this machine has not got. */
  readonly lackedHere?: LackedHere | undefined;
  /**
   * Has the workspace here, before anything of the wake is stored.
   * @throws RuntimeError WORKSPACE_COPY_ELSEWHERE when it is bound to another machine: the session stays due for that
   * one; WAKE_ELSEWHERE when this one lacks what it needs; what laying it out throws
   */
  arrive(session: SessionState, wake: WorkspaceCopyWake): Promise<ArrivedWorkspaceCopy>;
}

export function createWorkspaceCopies(ports: WorkspaceCopiesPorts): WorkspaceCopies {
  return {
    lackedHere: ports.lackedHere,
    async arrive(session, wake) {
      const workspaceCopy = new SessionWorkspaceCopy(ports, session, { ...wake, here: await ports.folders.host() });
      await workspaceCopy.arrive();
      return workspaceCopy;
    },
  };
}

interface Said {
  readonly copy?: WorkspaceCopyState['copy'];
  readonly bound?: string | undefined;
  readonly settled?: readonly string[];
}

class SessionWorkspaceCopy implements ArrivedWorkspaceCopy {
  notes: readonly SessionEventDraft[] = [];
  readonly host: HomeHost;
  readonly #ports: WorkspaceCopiesPorts;
  readonly #session: SessionState;
  readonly #wake: WorkspaceCopyWake;
  readonly #place: SessionPlace;
  readonly #last: BegunWake | undefined;
  #state: WorkspaceCopyState | undefined;
  #bound: string | undefined;

  constructor(
    ports: WorkspaceCopiesPorts,
    session: SessionState,
    { here, ...wake }: WorkspaceCopyWake & { readonly here: HomeHost },
  ) {
    this.host = here;
    this.#ports = ports;
    this.#session = session;
    this.#wake = wake;
    this.#place = placeOfSession(session);
    this.#last = begunWake(session);
  }

  async arrive(): Promise<void> {
    const { folders } = this.#ports;
    const { sessionId } = this.#session;
    const here = this.host;
    const [bound, missingFolder, lacks] = await Promise.all([
      this.#boundNow(),
      this.#missingFolder(),
      this.#ports.lackedHere?.(this.#session),
    ]);
    const { state, isSaid } = await this.#latest({
      bound,
      isRefused: missingFolder !== undefined || lacks !== undefined,
    });
    const arrival = copyArrival({ sessionId, state, here, bound, missingFolder, last: this.#last });
    if (arrival.kind === 'refused') throw arrival.error;
    if (lacks !== undefined) throw wakeElsewhere(sessionId, { here, lacks });
    this.#state = isSaid ? this.#said({ bound, ...(state === undefined ? {} : { added: state.added }) }) : state;
    await folders.recover(this.#place);
    if (arrival.kind === 'moves') this.notes = [await this.#layOut(arrival)];
    if (arrival.kind !== 'home' && !isSaid) await this.#record({ bound });
    for (const file of state?.added ?? []) await folders.place(this.#place, file, (hashes) => this.#get(hashes));
  }

  async leave({ signal = this.#wake.signal }: Pick<WorkspaceCopyWake, 'signal'> = {}): Promise<
    readonly SessionEventDraft[]
  > {
    const bound = await this.#boundNow();
    if (bound !== undefined) {
      if (bound !== this.#state?.bound) await this.#record({ bound });
      return [];
    }
    try {
      await this.#copy(signal);
      return [];
    } catch (error) {
      return this.#notCopied(error);
    }
  }

  async #missingFolder(): Promise<string | undefined> {
    const { workspace } = this.#session;
    return workspace === undefined || (await this.#ports.folders.hasGivenFolder(workspace)) ? undefined : workspace;
  }

  /**
   * A workspace of which nothing was said is at home here from now on, unless this machine cannot have it: that takes
   * one step where the keeper has it.
   */
  async #latest({
    bound,
    isRefused,
  }: {
    readonly bound: string | undefined;
    readonly isRefused: boolean;
  }): Promise<{ readonly state: WorkspaceCopyState | undefined; readonly isSaid: boolean }> {
    const { copies } = this.#ports;
    const { sessionId } = this.#session;
    if (isRefused || copies.latestOr === undefined) return { state: await copies.latest(sessionId), isSaid: false };
    return copies.latestOr(sessionId, { epoch: this.#wake.epoch, host: this.host, bound });
  }

  /** What cannot be found out now stays as it was: the wake itself will say what is wrong. */
  async #boundNow(): Promise<string | undefined> {
    return this.#ports.boundBecause(this.#session).then(
      (bound) => (this.#bound = bound),
      () => this.#bound,
    );
  }

  async #layOut({
    from,
    copy,
    mayHaveLost,
  }: Extract<CopyArrival, { readonly kind: 'moves' }>): Promise<SessionEventDraft> {
    const { epoch, signal } = this.#wake;
    const get = (hashes: readonly string[]): Promise<readonly WorkspaceCopyPiece[]> => this.#get(hashes);
    const lay = { epoch, toldThrough: this.#last?.epoch ?? 0, signal, get };
    const laid =
      copy === undefined
        ? undefined
        : await this.#ports.folders.lay(this.#place, { manifestId: copy.manifestId, ...lay });
    return {
      type: 'workspace.restored',
      data: {
        ...(from === undefined ? {} : { from: from.name }),
        host: this.host.name,
        ...(copy === undefined ? {} : { copyEpoch: copy.epoch }),
        files: laid?.files ?? 0,
        bytes: laid?.bytes ?? 0,
        fetchedBytes: laid?.fetchedBytes ?? 0,
        mayHaveLost,
        ...(laid?.setAside === undefined ? {} : { setAside: laid.setAside }),
      },
    };
  }

  /** Pieces first, then the word that they are the copy: a reader that finds that finds all of them. */
  async #copy(signal: AbortSignal | undefined): Promise<void> {
    const { copies, folders, limits = DEFAULT_COPY_LIMITS } = this.#ports;
    const { sessionId } = this.#session;
    const last = this.#state?.copy;
    let waiting: readonly WorkspaceCopyPiece[] = [];
    const onPieces = async (pieces: readonly WorkspaceCopyPiece[]): Promise<void> => {
      await this.#put(waiting);
      waiting = await this.#missing(pieces);
    };
    const taken = await folders.take(this.#place, { limits, signal, kept: last?.manifestId, onPieces });
    signal?.throwIfAborted();
    const { manifestId, files, bytes } = taken;
    const added = this.#state?.added ?? [];
    const settled = added.filter(({ path }) => taken.has(path)).map(({ path }) => path);
    const { epoch } = this.#wake;
    await this.#record(
      { copy: { epoch, manifestId, files, bytes }, ...(settled.length === 0 ? {} : { settled }) },
      waiting,
    );
    await taken.confirm().catch((error: unknown) => this.#ports.onTrouble(error, 'listener'));
    // Of the first copy nothing is left over.
    if (last === undefined || manifestId === last.manifestId) return;
    const keep = new Set([...taken.pieces, ...added.flatMap(({ pieces }) => pieces)]);
    await copies.prune(sessionId, { epoch, keep }).catch((error: unknown) => this.#ports.onTrouble(error, 'listener'));
  }

  /** One that another wake has come after is a trouble of this wake alone. */
  async #notCopied(error: unknown): Promise<readonly SessionEventDraft[]> {
    const code = RuntimeError.is(error) ? error.code : 'WORKSPACE_COPY_NOT_COPIED';
    if (code === 'WORKSPACE_COPY_SUPERSEDED') throw error;
    this.#ports.onTrouble(error, 'listener');
    const isLasting = LASTING.has(code);
    const reason = beginningOf(wellFormed(messageOf(error).replaceAll('\0', '')), 900);
    const isKnown = this.#state?.bound === reason && !this.#isUntold(this.#state);
    if (isLasting && !isKnown) await this.#record({ bound: reason });
    return isKnown ? [] : [{ type: 'workspace.not_copied', data: { code, reason, staysHere: isLasting } }];
  }

  /** What a wake that died before its end has said of the workspace is not in the log. */
  #isUntold({ epoch }: WorkspaceCopyState): boolean {
    return this.#last?.hasDied === true && epoch >= this.#last.epoch;
  }

  /** @param pieces the last of the copy, which are put before it is said, or with it */
  async #record({ copy, bound, settled }: Said, pieces: readonly WorkspaceCopyPiece[] = []): Promise<void> {
    const { copies } = this.#ports;
    const { sessionId } = this.#session;
    const record = { epoch: this.#wake.epoch, host: this.host, copy, bound, settled };
    if (pieces.length > 0 && copies.recordWith !== undefined) await copies.recordWith(sessionId, record, pieces);
    else {
      await this.#put(pieces);
      await copies.record(sessionId, record);
    }
    const added = (this.#state?.added ?? []).filter(({ path }) => settled?.includes(path) !== true);
    this.#state = this.#said({ copy: copy ?? this.#state?.copy, bound, added });
  }

  #said({ copy, bound, added = [] }: Partial<Omit<WorkspaceCopyState, 'epoch' | 'host'>>): WorkspaceCopyState {
    return { epoch: this.#wake.epoch, host: this.host, copy, bound, added };
  }

  async #missing(pieces: readonly WorkspaceCopyPiece[]): Promise<readonly WorkspaceCopyPiece[]> {
    // Before there is a copy there are no pieces of one.
    if (this.#state?.copy === undefined) return pieces;
    const there = await this.#ports.copies.has(
      this.#session.sessionId,
      pieces.map(({ hash }) => hash),
    );
    return pieces.filter(({ hash }) => !there.has(hash));
  }

  async #put(pieces: readonly WorkspaceCopyPiece[]): Promise<void> {
    if (pieces.length > 0) await this.#ports.copies.put(this.#session.sessionId, pieces);
  }

  #get(hashes: readonly string[]): Promise<readonly WorkspaceCopyPiece[]> {
    return this.#ports.copies.get(this.#session.sessionId, hashes);
  }
}
