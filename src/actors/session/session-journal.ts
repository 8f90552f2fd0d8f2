/**
 * One session's log as a writer sees it: the folded state, kept up to date event by event, and appends that are checked
 * against it before anything is stored. Several journals of one session may live at once, in this process and in
 * others.
 */
import { RuntimeError } from '../../machines/errors.ts';
import { activationChange } from '../../machines/session/session-activations.ts';
import { checkDraft, placeEvent } from '../../machines/session/session-event.ts';
import type { SessionEvent, SessionEventDraft, StoredEvent } from '../../machines/session/session-event.ts';
import { foldSession } from '../../machines/session/session-fold.ts';
import { stateAfter } from '../../machines/session/session-rules.ts';
import { initialSessionState } from '../../machines/session/session-state.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { Clock } from '../clock/clock.ts';
import { isoTimeOf } from '../clock/iso-time.ts';
import { MAX_READ_EVENTS, sessionNotFound } from './event-store.ts';
import type { AppendResult, EventStore, NewSessionEvents, SessionIdentity, WakeRight } from './event-store.ts';
import type { IdSource } from './id-source.ts';

/** The port to what takes out of events what no log may keep. */
export interface LogRedaction {
  /**
   * What has to be found out before these can be stored in the log of a session; undefined when it is known. Never
   * rejects.
   */
  lookUp(drafts: readonly SessionEventDraft[], state: SessionState): Promise<void> | undefined;
  /** Those in which there is nothing to take out stay the same. */
  drafts(drafts: readonly SessionEventDraft[]): readonly SessionEventDraft[];
}

export interface JournalPorts {
  readonly store: EventStore;
  readonly ids: IdSource;
  readonly clock: Clock;
  /** Without it events are stored as they come. */
  readonly redaction?: LogRedaction | undefined;
}

export interface JournalAppendOptions {
  /** Epoch of the wake that writes; absent for events from outside. */
  readonly epoch?: number | undefined;
  readonly idempotencyKey?: string | undefined;
  /** Store only if the log still ends where this journal has folded it to. */
  readonly onlyAtHead?: boolean | undefined;
  /** The right that the events begin under, where it comes with them. */
  readonly begins?: WakeRight | undefined;
  /**
   * Released with the events, where the store can and nothing is owed to a parent; `hasEnded` of the result says
   * whether it has.
   */
  readonly ends?: WakeRight | undefined;
}

export interface JournalStart {
  /** Where to fold on from. Default: before the first event. */
  readonly state?: SessionState | undefined;
  /** Hears every event that is folded from then on. */
  readonly onEvent?: ((event: SessionEvent) => void) | undefined;
}

export class SessionJournal {
  readonly identity: SessionIdentity;
  readonly #ports: JournalPorts;
  readonly #onEvent: ((event: SessionEvent) => void) | undefined;
  #state: SessionState;
  /** Id of the event that was folded last; undefined as long as the state is the one that it began with. */
  #lastId: string | undefined;

  constructor(
    identity: SessionIdentity,
    ports: JournalPorts,
    { state = initialSessionState(identity), onEvent }: JournalStart = {},
  ) {
    this.identity = identity;
    this.#ports = ports;
    this.#onEvent = onEvent;
    this.#state = state;
  }

  /**
   * A journal that folds on from what the store keeps folded, and is up to date. @throws RuntimeError SESSION_NOT_FOUND
   */
  static async open(sessionId: string, ports: JournalPorts): Promise<SessionJournal> {
    const identity = await ports.store.identify(sessionId);
    const journal = new SessionJournal(identity, ports, { state: await ports.store.checkpoint(sessionId) });
    if (await journal.#follow()) return journal;
    // Brought back just now: what the store kept folded was of the log before.
    const anew = new SessionJournal(await ports.store.identify(sessionId), ports);
    await anew.refresh();
    return anew;
  }

  get state(): SessionState {
    return this.#state;
  }

  /**
   * Folds what was appended since, by any process.
   * @throws RuntimeError SESSION_NOT_FOUND when the session was deleted, also when another one was brought back under
   * its id
   */
  async refresh(): Promise<SessionState> {
    if (await this.#follow()) return this.#state;
    throw sessionNotFound(this.identity.sessionId);
  }

  /**
   * Checks the drafts against the folded state, stores them together, and folds them.
   * @throws RuntimeError for a draft that the state does not allow, before anything is stored; and whatever the store
   * throws
   */
  async append(drafts: readonly SessionEventDraft[], options: JournalAppendOptions = {}): Promise<AppendResult> {
    const before = this.#state;
    // Waits for nothing where nothing has to be looked up: what comes after is at the head where the drafts were made.
    const wait = this.#ports.redaction?.lookUp(drafts, before);
    if (wait !== undefined) await wait;
    const state = options.onlyAtHead === true ? before : this.#state;
    const events = this.#redacted(drafts).map((draft) => this.#envelope(draft, options.epoch));
    const after = this.#preview(events, state);
    const { activate, settle } = activationChange(state, after);
    const isLast = options.ends !== undefined && options.onlyAtHead === true && after.owedToParent === undefined;
    const result = await this.#ports.store.append(this.identity.sessionId, nonEmpty(events), {
      idempotencyKey: options.idempotencyKey,
      ...(options.onlyAtHead === true ? { expectedHead: state.head } : {}),
      ...(activate.length === 0 ? {} : { activate }),
      ...(settle.length === 0 ? {} : { settle }),
      ...(options.begins === undefined ? {} : { begins: options.begins }),
      ...(isLast ? { ends: { view: after, right: options.ends } } : {}),
    });
    this.#fold(result.events);
    // Others wrote in between: their events come first, and ours with them.
    if (this.#state.head < (result.events.at(-1)?.seq ?? 0)) await this.#follow();
    return result;
  }

  /** The envelopes of the first events of a session that does not exist yet. */
  envelopes(drafts: readonly SessionEventDraft[]): NewSessionEvents {
    const events = this.#redacted(drafts).map((draft) => this.#envelope(draft, undefined));
    this.#preview(events, this.#state);
    return nonEmpty(events);
  }

  /** @throws RuntimeError for an event that may not be appended */
  #preview(events: readonly StoredEvent[], state: SessionState): SessionState {
    const { head } = state;
    return stateAfter(
      state,
      events.map((event, index) => placeEvent(event, this.identity.sessionId, head + 1 + index)),
    );
  }

  #redacted(drafts: readonly SessionEventDraft[]): readonly SessionEventDraft[] {
    return this.#ports.redaction?.drafts(drafts) ?? drafts;
  }

  #envelope(draft: SessionEventDraft, epoch: number | undefined): StoredEvent {
    const { ids, clock } = this.#ports;
    const { type, v, data } = checkDraft(draft);
    return {
      id: draft.id ?? ids.next(),
      at: isoTimeOf(clock.now()),
      ...(epoch === undefined ? {} : { epoch }),
      type,
      v,
      data,
    };
  }

  /**
   * Folds what a caller has read of the log already, up to its end as it was then.
   * @returns whether that fits to what is folded; if not, nothing is folded
   */
  take(events: readonly SessionEvent[]): boolean {
    const { head, updatedAt } = this.#state;
    const last = head === 0 ? undefined : events.find(({ seq }) => seq === head);
    const fits =
      head === 0
        ? events[0]?.seq === 1
        : last !== undefined && (this.#lastId === undefined ? last.at === updatedAt : last.id === this.#lastId);
    if (fits) this.#fold(events);
    return fits;
  }

  /**
   * False when the log does not hold what was folded last at its place: then it is another one, and nothing of it is
   * folded.
   */
  async #follow(): Promise<boolean> {
    for (;;) {
      const { head, updatedAt } = this.#state;
      const lastId = this.#lastId;
      const events = await this.#ports.store.read(this.identity.sessionId, { from: Math.max(1, head) });
      const [last] = events;
      // No two events of one session have one id. Of a state that was folded elsewhere, only the time of its last event
      // is known.
      const isSame =
        head === 0 || (last !== undefined && (lastId === undefined ? last.at === updatedAt : last.id === lastId));
      if (!isSame) return false;
      this.#lastId ??= last?.id;
      this.#fold(events);
      if (events.length < MAX_READ_EVENTS) return true;
    }
  }

  #fold(events: readonly SessionEvent[]): void {
    for (const event of events) {
      if (event.seq !== this.#state.head + 1) continue;
      this.#state = foldSession(this.#state, event);
      this.#lastId = event.id;
      this.#onEvent?.(event);
    }
  }
}

function nonEmpty(events: readonly NewSessionEvents[0][]): NewSessionEvents {
  const [first, ...rest] = events;
  if (first !== undefined) return [first, ...rest];
  throw new RuntimeError('SESSION_EVENT_INVALID', 'expected at least one event to append, received none', {
    category: 'validation',
  });
}
