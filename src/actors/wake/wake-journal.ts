/**
 * The log of a session as one wake writes to it: under its right and its epoch, without secrets, and after what could
 * wait for it.
 */
import type { SessionEvent, SessionEventDraft } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { SessionSecrets } from '../environment/session-secrets.ts';
import { NO_SECRETS } from '../environment/session-secrets.ts';
import type { EventStore, SessionIdentity, WakeRight } from '../session/event-store.ts';
import { keepView } from '../session/event-store.ts';
import type { JournalAppendOptions, JournalPorts } from '../session/session-journal.ts';
import { SessionJournal } from '../session/session-journal.ts';
import { isOvertaken, superseded } from './wake-facts.ts';

// Events that can wait for the next ones, to be stored with them in one write: each write of its own would have to wait
// for the disk.

export class HeldDrafts {
  #held: readonly SessionEventDraft[] = [];

  hold(drafts: readonly SessionEventDraft[]): void {
    this.#held = [...this.#held, ...drafts];
  }

  /** Stores what was held before what is given. When that fails it is held on. */
  async store(
    drafts: readonly SessionEventDraft[],
    append: (all: readonly SessionEventDraft[]) => Promise<unknown>,
  ): Promise<void> {
    const held = this.#held;
    this.#held = [];
    try {
      await append([...held, ...drafts]);
    } catch (error) {
      this.#held = [...held, ...this.#held];
      throw error;
    }
  }
}

export interface WakeJournalOptions {
  readonly wakeId: string;
  /** As it was checked for this wake. */
  readonly state: SessionState;
  readonly onEvent: (event: SessionEvent) => void;
}

export class WakeJournal {
  readonly identity: SessionIdentity;
  readonly #wakeId: string;
  readonly #store: EventStore;
  readonly #journal: SessionJournal;
  readonly #held = new HeldDrafts();
  #secrets: SessionSecrets = NO_SECRETS;
  #right: WakeRight | undefined;
  #epoch: number | undefined;
  /** An append has shown that the log ended where it is folded to, and nothing was waited for since. */
  #isUpToDate = false;
  #hasEnded = false;

  constructor(ports: JournalPorts, { wakeId, state, onEvent }: WakeJournalOptions) {
    this.identity = { sessionId: state.sessionId, agentId: state.agentId };
    this.#wakeId = wakeId;
    this.#store = ports.store;
    this.#journal = new SessionJournal(this.identity, ports, { state, onEvent });
  }

  /** As far as it is folded. */
  get state(): SessionState {
    return this.#journal.state;
  }

  /** Undefined before the wake has begun. */
  get epoch(): number | undefined {
    return this.#epoch;
  }

  get right(): WakeRight | undefined {
    return this.#right;
  }

  /** Taken out of whatever is stored from now on. */
  get secrets(): SessionSecrets {
    return this.#secrets;
  }

  hide(secrets: SessionSecrets): void {
    this.#secrets = secrets;
  }

  /** What is written from now on is written under this right; without one nothing is. */
  writeUnder(right: WakeRight | undefined): void {
    this.#right = right;
  }

  /** Folds what was appended since, by any process. */
  refresh(): Promise<SessionState> {
    return this.#journal.refresh();
  }

  /**
   * The same, unless the append before has shown all of it. What comes between is found by an append at the head only.
   */
  async caughtUp(): Promise<SessionState> {
    const state = this.#isUpToDate ? this.#journal.state : await this.#journal.refresh();
    this.#isUpToDate = false;
    return state;
  }

  /** Something is waited for, during which others may write. */
  expectOthers(): void {
    this.#isUpToDate = false;
  }

  /** Follows the log; returns how to stop that. */
  watch(listener: (head: number | undefined) => void): () => void {
    return this.#store.watch(this.identity.sessionId, listener);
  }

  /** Begins the wake. @throws RuntimeError HEAD_MOVED, EPOCH_SUPERSEDED */
  async begin(drafts: readonly SessionEventDraft[], epoch: number): Promise<void> {
    await this.#journal.append(drafts, {
      epoch,
      onlyAtHead: true,
      ...(this.#right?.comesWith === 'record' ? { begins: this.#right } : {}),
    });
    this.#epoch = epoch;
    this.#isUpToDate = true;
  }

  /**
   * Says of a session for which no wake begins what becomes of it. @throws RuntimeError HEAD_MOVED, EPOCH_SUPERSEDED
   */
  async rest(drafts: readonly SessionEventDraft[], epoch: number): Promise<void> {
    await this.#journal.append(drafts, { epoch, onlyAtHead: true });
    await keepView(this.#store, this.#journal.state);
  }

  /** Stores these with the next append: a write of their own would have to wait for the disk. */
  hold(drafts: readonly SessionEventDraft[]): void {
    this.#held.hold(drafts);
  }

  /** @throws RuntimeError WAKE_SUPERSEDED when another wake has begun since */
  async append(
    drafts: readonly SessionEventDraft[],
    options: Pick<JournalAppendOptions, 'onlyAtHead' | 'ends'> = {},
  ): Promise<void> {
    // What a wake that took over has closed is no longer ours to judge: that it is theirs is what has to be said.
    if (this.#epoch !== undefined && this.#journal.state.epoch > this.#epoch) throw superseded(this.#wakeId);
    await this.#held.store(drafts, async (all) => {
      const { hasEnded = false } = await this.#journal.append(this.#secrets.drafts(all), {
        epoch: this.#epoch,
        ...options,
      });
      this.#hasEnded = hasEnded;
    });
    this.#isUpToDate = true;
  }

  /** The same, if no other process has written since the state that is known. @throws RuntimeError HEAD_MOVED */
  appendAtHead(drafts: readonly SessionEventDraft[]): Promise<void> {
    return this.append(drafts, { onlyAtHead: true });
  }

  /**
   * Appends what `draftsFor` says of the state, and asks again where another process came first. For what is said of a
   * call that waits or was answered: an interruption ends such a call too, and a call has one result.
   */
  async appendDecided(draftsFor: (state: SessionState) => readonly SessionEventDraft[]): Promise<void> {
    for (;;) {
      const drafts = draftsFor(this.state);
      if (drafts.length === 0) return;
      try {
        return await this.appendAtHead(drafts);
      } catch (error) {
        if (!isOvertaken(error)) throw error;
      }
      await this.refresh();
    }
  }

  /** Whether the record that ended the wake has kept the view and released the right. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Whether this process may still write. */
  get mayWrite(): boolean {
    return this.#right?.lost.aborted === false;
  }

  /** Keeps the folded state for the next wake, unless the end of the wake has. */
  async keepView(): Promise<void> {
    if (this.#epoch !== undefined && !this.#hasEnded) await keepView(this.#store, this.#journal.state);
  }

  /** What the parent is owed can be told from here. */
  get session(): SessionJournal {
    return this.#journal;
  }
}
