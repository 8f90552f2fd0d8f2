/** What a wake does about the hand of its session: it has it here before the first turn, and leaves a copy of it when it ends. */
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
  /** What the session needs and this machine has not got, such as `no agent "coder"`. Absent: nobody looks, and its wake says what is wrong. */
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
  /** This machine: the log says it with the beginning of the wake, so that what may be lost is known from the log alone. */
  readonly host: HandHost;
  /** For the log, with the beginning of the wake. */
  readonly notes: readonly SessionEventDraft[];
  /**
   * Leaves a copy of what lies in the hand now, so that whoever takes the session over finds it. May be called again: what has not changed costs
   * nothing but a look.
   * @returns what the log has to say of it
   * @throws RuntimeError HAND_SUPERSEDED when the hand is somebody else's by now
   */
  leave(wake?: Pick<HandWake, 'signal'>): Promise<readonly SessionEventDraft[]>;
}

/** What no later try of the same wake makes good, so that the hand can be nowhere else for the time being. */
const LASTING = new Set(['HAND_TOO_LARGE', 'HAND_UNREADABLE']);

/** Each method is called under the right to wake the session. */
export interface SessionHands {
  /**
   * Has the hand here, before anything of the wake is stored.
   * @throws RuntimeError HAND_ELSEWHERE when it is bound to another machine: the session stays due for that one; WAKE_ELSEWHERE when
   * this one lacks what it needs; what laying it out throws
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

  constructor(ports: SessionHandsPorts, session: SessionState, { here, ...wake }: HandWake & { readonly here: HandHost }) {
    this.host = here;
    this.#ports = ports;
    this.#session = session;
    this.#wake = wake;
    this.#place = placeOfSession(session);
    this.#last = begunWake(session);
  }

  async arrive(): Promise<void> {
    const { copies, folders } = this.#ports;
    const { sessionId, workspace } = this.#session;
    const here = this.host;
    const [standing, bound] = await Promise.all([copies.latest(sessionId), this.#boundNow()]);
    const missingFolder = workspace === undefined || (await folders.hasGivenFolder(workspace)) ? undefined : workspace;
    const arrival = handArrival({ sessionId, standing, here, bound, missingFolder, last: this.#last });
    if (arrival.kind === 'refused') throw arrival.error;
    const lacks = await this.#ports.lackedHere?.(this.#session);
    if (lacks !== undefined) throw wakeElsewhere(sessionId, { here, lacks });
    this.#standing = standing;
    await folders.recover(this.#place);
    if (arrival.kind === 'moves') this.notes = [await this.#layOut(arrival)];
    if (arrival.kind !== 'home') await this.#record({ bound });
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

  /** What nobody can find out now stays as it was: the wake itself will say what is wrong. */
  async #boundNow(): Promise<string | undefined> {
    return this.#ports.boundBecause(this.#session).then((bound) => (this.#bound = bound), () => this.#bound);
  }

  async #layOut({ from, copy, mayHaveLost }: Extract<HandArrival, { readonly kind: 'moves' }>): Promise<SessionEventDraft> {
    const { epoch, signal } = this.#wake;
    const get = (hashes: readonly string[]): Promise<readonly HandPiece[]> => this.#get(hashes);
    const lay = { epoch, toldThrough: this.#last?.epoch ?? 0, signal, get };
    const laid = copy === undefined ? undefined : await this.#ports.folders.lay(this.#place, { manifestId: copy.manifestId, ...lay });
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

  /** Pieces first, then the word that they are the copy: whoever finds that finds all of them. */
  async #copy(signal: AbortSignal | undefined): Promise<void> {
    const { copies, folders, limits = DEFAULT_HAND_LIMITS } = this.#ports;
    const { sessionId } = this.#session;
    const last = this.#standing?.copy;
    const taken = await folders.take(this.#place, { limits, signal, kept: last?.manifestId, onPieces: (pieces) => this.#keep(pieces) });
    signal?.throwIfAborted();
    const { manifestId, files, bytes } = taken;
    const added = this.#standing?.added ?? [];
    const settled = added.filter(({ path }) => taken.has(path)).map(({ path }) => path);
    const { epoch } = this.#wake;
    await this.#record({ copy: { epoch, manifestId, files, bytes }, ...(settled.length === 0 ? {} : { settled }) });
    await taken.confirm().catch((error: unknown) => this.#ports.onTrouble(error, 'listener'));
    // Of the first copy nothing is left over.
    if (last === undefined || manifestId === last.manifestId) return;
    const keep = new Set([...taken.pieces, ...added.flatMap(({ pieces }) => pieces)]);
    await copies.prune(sessionId, { epoch, keep }).catch((error: unknown) => this.#ports.onTrouble(error, 'listener'));
  }

  /** One that another wake has come after is nobody's trouble but that of this wake. */
  async #notCopied(error: unknown): Promise<readonly SessionEventDraft[]> {
    const code = RuntimeError.is(error) ? error.code : 'HAND_NOT_COPIED';
    if (code === 'HAND_SUPERSEDED') throw error;
    this.#ports.onTrouble(error, 'listener');
    const isLasting = LASTING.has(code);
    const reason = wellFormed(messageOf(error).replaceAll('\0', '')).slice(0, 900);
    const isKnown = this.#standing?.bound === reason && !this.#isUntold(this.#standing);
    if (isLasting && !isKnown) await this.#record({ bound: reason });
    return isKnown ? [] : [{ type: 'hand.not_copied', data: { code, reason, staysHere: isLasting } }];
  }

  /** What a wake has said of the hand that died before its end is not in the log. */
  #isUntold({ epoch }: HandStanding): boolean {
    return this.#last?.hasDied === true && epoch >= this.#last.epoch;
  }

  async #record({ copy, bound, settled }: { readonly copy?: HandStanding['copy']; readonly bound?: string | undefined; readonly settled?: readonly string[] }): Promise<void> {
    const { epoch } = this.#wake;
    const { host } = this;
    await this.#ports.copies.record(this.#session.sessionId, { epoch, host, copy, bound, settled });
    const added = (this.#standing?.added ?? []).filter(({ path }) => settled?.includes(path) !== true);
    this.#standing = { epoch, host, copy: copy ?? this.#standing?.copy, bound, added };
  }

  async #keep(pieces: readonly HandPiece[]): Promise<void> {
    const { copies } = this.#ports;
    const { sessionId } = this.#session;
    // Before there is a copy there are no pieces of one.
    const there = this.#standing?.copy === undefined ? new Set<string>() : await copies.has(sessionId, pieces.map(({ hash }) => hash));
    const missing = pieces.filter(({ hash }) => !there.has(hash));
    if (missing.length > 0) await copies.put(sessionId, missing);
  }

  #get(hashes: readonly string[]): Promise<readonly HandPiece[]> {
    return this.#ports.copies.get(this.#session.sessionId, hashes);
  }
}
