/**
 * What a wake does about the hand of its session: it has it here before the first turn, and leaves a copy of it when it
 * ends.
 */
import { beginningOf } from '../../machines/cut-text.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { DEFAULT_HAND_LIMITS } from '../../machines/hand/hand-limits.ts';
import type { HandLimits } from '../../machines/hand/hand-limits.ts';
import { begunWake, handArrival, wakeElsewhere } from '../../machines/hand/hand-standing.ts';
import type { BegunWake, HandArrival, HandHost, HandStanding } from '../../machines/hand/hand-standing.ts';
import { wellFormed } from '../../machines/turn/transcript-text.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { placeOfSession } from '../session/session-directories.ts';
import type { SessionPlace } from '../session/session-directories.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import type { HandCopies, HandPiece } from './hand-copies.ts';
import type { HandFolders } from './hand-folders.ts';

export interface SessionHandsPorts {
  readonly copies: HandCopies;
  readonly folders: HandFolders;
  /** Why a session can be on one machine only, if so. */
  readonly boundBecause: (session: SessionState) => Promise<string | undefined>;
  /**
   * What the session needs and this machine has not got, such as `no agent "coder"`. Absent: it is not looked up, and
   * its wake says what is wrong.
   */
  readonly lackedHere?: ((session: SessionState) => Promise<string | undefined>) | undefined;
  readonly limits?: HandLimits | undefined;
  /** Hears why no copy could be made, and why what is not needed any more could not be removed. */
  readonly onTrouble: OnListenerError;
}

export interface HandWake {
  readonly epoch: number;
  readonly signal?: AbortSignal | undefined;
}

/** The hand of a session whose wake may begin here. */
export interface ArrivedHand {
  /**
   * This machine: the log says it with the beginning of the wake, so that what may be lost is known from the log alone.
   */
  readonly host: HandHost;
  /** For the log, with the beginning of the wake. */
  readonly notes: readonly SessionEventDraft[];
  /**
   * Leaves a copy of what lies in the hand now, so that the process that takes the session over finds it. May be called
   * again: what has not changed costs nothing but a look.
   * @returns what the log has to say of it
   * @throws RuntimeError HAND_SUPERSEDED when the hand belongs to another wake by now
   */
  leave(wake?: Pick<HandWake, 'signal'>): Promise<readonly SessionEventDraft[]>;
}

/** What no later try of the same wake makes good, so that the hand can be nowhere else for the time being. */
const LASTING = new Set(['HAND_TOO_LARGE', 'HAND_UNREADABLE']);

/** Each method is called under the right to wake the session. */
export interface SessionHands {
  /**
   * Has the hand here, before anything of the wake is stored.
   * @throws RuntimeError HAND_ELSEWHERE when it is bound to another machine: the session stays due for that one;
   * WAKE_ELSEWHERE when this one lacks what it needs; what laying it out throws
   */
  arrive(session: SessionState, wake: HandWake): Promise<ArrivedHand>;
}

export function createSessionHands(ports: SessionHandsPorts): SessionHands {
  return {
    async arrive(session, wake) {
      const hand = new Hand(ports, session, { ...wake, here: await ports.folders.host() });
      await hand.arrive();
      return hand;
    },
  };
}

interface Said {
  readonly copy?: HandStanding['copy'];
  readonly bound?: string | undefined;
  readonly settled?: readonly string[];
}

class Hand implements ArrivedHand {
  notes: readonly SessionEventDraft[] = [];
  readonly host: HandHost;
  readonly #ports: SessionHandsPorts;
  readonly #session: SessionState;
  readonly #wake: HandWake;
  readonly #place: SessionPlace;
  readonly #last: BegunWake | undefined;
  #standing: HandStanding | undefined;
  #bound: string | undefined;

  constructor(
    ports: SessionHandsPorts,
    session: SessionState,
    { here, ...wake }: HandWake & { readonly here: HandHost },
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
    const { standing, isSaid } = await this.#latest({
      bound,
      isRefused: missingFolder !== undefined || lacks !== undefined,
    });
    const arrival = handArrival({ sessionId, standing, here, bound, missingFolder, last: this.#last });
    if (arrival.kind === 'refused') throw arrival.error;
    if (lacks !== undefined) throw wakeElsewhere(sessionId, { here, lacks });
    this.#standing = isSaid
      ? this.#said({ bound, ...(standing === undefined ? {} : { added: standing.added }) })
      : standing;
    await folders.recover(this.#place);
    if (arrival.kind === 'moves') this.notes = [await this.#layOut(arrival)];
    if (arrival.kind !== 'home' && !isSaid) await this.#record({ bound });
    for (const file of standing?.added ?? []) await folders.place(this.#place, file, (hashes) => this.#get(hashes));
  }

  async leave({ signal = this.#wake.signal }: Pick<HandWake, 'signal'> = {}): Promise<readonly SessionEventDraft[]> {
    const bound = await this.#boundNow();
    if (bound !== undefined) {
      if (bound !== this.#standing?.bound) await this.#record({ bound });
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
   * A hand of which nothing was said is at home here from now on, unless this machine cannot have it: that takes one
   * step where the keeper has it.
   */
  async #latest({
    bound,
    isRefused,
  }: {
    readonly bound: string | undefined;
    readonly isRefused: boolean;
  }): Promise<{ readonly standing: HandStanding | undefined; readonly isSaid: boolean }> {
    const { copies } = this.#ports;
    const { sessionId } = this.#session;
    if (isRefused || copies.latestOr === undefined) return { standing: await copies.latest(sessionId), isSaid: false };
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
  }: Extract<HandArrival, { readonly kind: 'moves' }>): Promise<SessionEventDraft> {
    const { epoch, signal } = this.#wake;
    const get = (hashes: readonly string[]): Promise<readonly HandPiece[]> => this.#get(hashes);
    const lay = { epoch, toldThrough: this.#last?.epoch ?? 0, signal, get };
    const laid =
      copy === undefined
        ? undefined
        : await this.#ports.folders.lay(this.#place, { manifestId: copy.manifestId, ...lay });
    return {
      type: 'hand.restored',
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
    const { copies, folders, limits = DEFAULT_HAND_LIMITS } = this.#ports;
    const { sessionId } = this.#session;
    const last = this.#standing?.copy;
    let waiting: readonly HandPiece[] = [];
    const onPieces = async (pieces: readonly HandPiece[]): Promise<void> => {
      await this.#put(waiting);
      waiting = await this.#missing(pieces);
    };
    const taken = await folders.take(this.#place, { limits, signal, kept: last?.manifestId, onPieces });
    signal?.throwIfAborted();
    const { manifestId, files, bytes } = taken;
    const added = this.#standing?.added ?? [];
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
    const code = RuntimeError.is(error) ? error.code : 'HAND_NOT_COPIED';
    if (code === 'HAND_SUPERSEDED') throw error;
    this.#ports.onTrouble(error, 'listener');
    const isLasting = LASTING.has(code);
    const reason = beginningOf(wellFormed(messageOf(error).replaceAll('\0', '')), 900);
    const isKnown = this.#standing?.bound === reason && !this.#isUntold(this.#standing);
    if (isLasting && !isKnown) await this.#record({ bound: reason });
    return isKnown ? [] : [{ type: 'hand.not_copied', data: { code, reason, staysHere: isLasting } }];
  }

  /** What a wake has said of the hand that died before its end is not in the log. */
  #isUntold({ epoch }: HandStanding): boolean {
    return this.#last?.hasDied === true && epoch >= this.#last.epoch;
  }

  /** @param pieces the last of the copy, which are put before it is said, or with it */
  async #record({ copy, bound, settled }: Said, pieces: readonly HandPiece[] = []): Promise<void> {
    const { copies } = this.#ports;
    const { sessionId } = this.#session;
    const record = { epoch: this.#wake.epoch, host: this.host, copy, bound, settled };
    if (pieces.length > 0 && copies.recordWith !== undefined) await copies.recordWith(sessionId, record, pieces);
    else {
      await this.#put(pieces);
      await copies.record(sessionId, record);
    }
    const added = (this.#standing?.added ?? []).filter(({ path }) => settled?.includes(path) !== true);
    this.#standing = this.#said({ copy: copy ?? this.#standing?.copy, bound, added });
  }

  #said({ copy, bound, added = [] }: Partial<Omit<HandStanding, 'epoch' | 'host'>>): HandStanding {
    return { epoch: this.#wake.epoch, host: this.host, copy, bound, added };
  }

  async #missing(pieces: readonly HandPiece[]): Promise<readonly HandPiece[]> {
    // Before there is a copy there are no pieces of one.
    if (this.#standing?.copy === undefined) return pieces;
    const there = await this.#ports.copies.has(
      this.#session.sessionId,
      pieces.map(({ hash }) => hash),
    );
    return pieces.filter(({ hash }) => !there.has(hash));
  }

  async #put(pieces: readonly HandPiece[]): Promise<void> {
    if (pieces.length > 0) await this.#ports.copies.put(this.#session.sessionId, pieces);
  }

  #get(hashes: readonly string[]): Promise<readonly HandPiece[]> {
    return this.#ports.copies.get(this.#session.sessionId, hashes);
  }
}
