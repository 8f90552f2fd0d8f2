/**
 * The sessions service: makes sessions, sends into them, and tells what is in them. It never runs one; that is a wake's
 * work.
 */
import type { Observable } from 'rxjs';
import { RuntimeError } from '../../machines/errors.ts';
import { deepFrozen } from '../../machines/plain-copy.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import {
  checkEventsOptions,
  checkFilter,
  checkForkOptions,
  checkImportOptions,
  checkIngress,
  checkInterruptOptions,
  checkNewSession,
  checkNewSessionOptions,
  checkSendOptions,
  checkSessionId,
  checkTerminateOptions,
} from '../../machines/session/session-requests.ts';
import type {
  CheckedSendOptions,
  ForkOptions,
  InterruptOptions,
  NewSession,
  NewSessionOptions,
  SendOptions,
  SessionFilter,
  SessionIngress,
  TerminateOptions,
} from '../../machines/session/session-requests.ts';
import { initialSessionState } from '../../machines/session/session-state.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { SessionEnvironments } from '../environment/session-environment.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import { SafeObservable } from '../streams/safe-observable.ts';
import type { AgentCatalog } from './agent-catalog.ts';
import type { AttachmentStore } from './attachment-store.ts';
import { keepAttachments } from './attachment-store.ts';
import { keepView } from './event-store.ts';
import type { AppendResult, SessionIdentity, SessionListing } from './event-store.ts';
import { accept, appendAtHead, interrupt, receiptOf } from './ingress.ts';
import type { SendReceipt } from './ingress.ts';
import type { JournalCache } from './journal-cache.ts';
import { KeyedSessions } from './keyed-session.ts';
import { announceChild, requireRoom, tellOfDeletion, tellParent } from './lineage.ts';
import type { LineagePorts } from './lineage.ts';
import { beginSession } from './new-session.ts';
import type { NewSessionRequest, Origin } from './new-session.ts';
import { ParentBounds } from './parent-bounds.ts';
import type { BoundsPorts } from './parent-bounds.ts';
import { runEvents$ } from './run-events.ts';
import { pruneSessions } from './session-pruning.ts';
import type { PruneOptions, PruneReport } from './session-pruning.ts';
import { SessionEvents } from './session-events.ts';
import type { SessionEventsOptions } from './session-events.ts';
import type { SessionJournal } from './session-journal.ts';
import { withReader } from './message-receipt.ts';
import { exportSession, importSession } from './session-transfer.ts';
import { forkSession } from './session-copies.ts';
import { endJobsOf, interruptSubflows } from './subflow-session.ts';

export interface SessionsOptions extends LineagePorts, BoundsPorts {
  readonly agents: AgentCatalog;
  /** Undefined: sessions work in their workspace, with nothing shut in. */
  readonly environments: Pick<SessionEnvironments, 'bind' | 'require'> | undefined;
  /** Without it no message can come with files. */
  readonly attachments?: AttachmentStore | undefined;
  readonly onListenerError: OnListenerError;
  /** Releases what tools keep for a session that is ended or removed. */
  readonly closeSession?: ((sessionId: string, reason: string) => Promise<void>) | undefined;
}

const OF_ITS_OWN: Origin = { kind: 'own' };

export class Sessions {
  readonly #options: SessionsOptions;
  readonly #journals: JournalCache;
  readonly #keyed = new KeyedSessions();
  readonly #open = new Set<SessionEvents>();

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#journals = options.journals;
  }

  /**
   * Makes a session, or a child of one. Under an idempotency key it is made once: see `NewSessionOptions`.
   * @throws RuntimeError AGENT_NOT_FOUND, AGENT_INVALID, ENVIRONMENT_NOT_FOUND, ENVIRONMENT_INVALID, or
   * SESSION_REQUEST_INVALID; for a child also SESSION_NOT_FOUND, SESSION_TERMINATED, SESSION_TOO_DEEP or CHILD_LIMIT.
   * Nothing is made then.
   */
  async create(request: NewSession, options: NewSessionOptions = {}): Promise<SessionState> {
    const checked = checkNewSession(request);
    const { agentId, owner, parentSessionId } = checked;
    const { workspace, idempotencyKey } = checkNewSessionOptions(options, parentSessionId);
    const { agents, store, clock, ids } = this.#options;
    await agents.get(agentId);
    const make = (sessionId: string): Promise<SessionState> => this.#make({ ...checked, sessionId, workspace });
    if (idempotencyKey === undefined) return make(ids.next());
    const key = { agentId, owner, key: idempotencyKey };
    const get = (sessionId: string): Promise<SessionState> => this.get(sessionId);
    return deepFrozen(await this.#keyed.once(key, { store, nowMs: clock.now(), get, make }));
  }

  async #make({
    parentSessionId,
    ...made
  }: NewSessionRequest & { readonly parentSessionId?: string | undefined }): Promise<SessionState> {
    if (made.environmentId !== undefined) await this.#options.environments?.require(made.environmentId);
    const origin =
      parentSessionId === undefined
        ? OF_ITS_OWN
        : await this.#childOf((await this.#journals.open(parentSessionId)).state, made);
    const journal = await beginSession(made, origin, this.#options);
    await keepView(this.#options.store, journal.state);
    await this.#announce(journal.state);
    return deepFrozen(journal.state);
  }

  /** Also where a person makes it on purpose: what the parent may not do, it may not do either. */
  async #childOf(parent: SessionState, child: SessionIdentity): Promise<Origin> {
    requireRoom(parent, child);
    return {
      kind: 'child',
      bounds: (await ParentBounds.of(parent, this.#options)).bounds(parent, { kind: 'session' }),
    };
  }

  /**
   * A client that cuts a session short cuts its children short that it waits for; and who waits for this one is told.
   */
  async #stopSubflows(before: SessionState, journal: SessionJournal, reason: string): Promise<void> {
    await interruptSubflows(before, reason, this.#options);
    if (journal.state.owedToParent !== undefined) await tellParent(journal, this.#options);
  }

  /** All that works for a session which is over; what of it runs here has ended when this resolves. */
  async #stopTree(before: SessionState, reason: string): Promise<void> {
    await interruptSubflows(before, reason, this.#options);
    try {
      // First, since a job of this process whose session is ended under it has failed before it can be cancelled.
      await this.#options.closeSession?.(before.sessionId, reason);
    } finally {
      await endJobsOf(before, reason, this.#options);
    }
  }

  /** A child that its parent refuses after all, since another one came first, is not left behind. */
  async #announce(child: SessionState): Promise<void> {
    try {
      await announceChild(child, this.#options);
    } catch (error) {
      const isRefused =
        RuntimeError.is(error) &&
        (error.code === 'CHILD_LIMIT' || error.code === 'SESSION_TERMINATED' || error.code === 'SESSION_NOT_FOUND');
      if (isRefused) await this.delete(child.sessionId);
      throw error;
    }
  }

  /**
   * Stores a message or an answer. The receipt means that it is durable; a wake of the session will read it.
   * The same idempotency key or event id again stores nothing and gives the same receipt.
   * @throws RuntimeError SESSION_TERMINATED, SESSION_QUEUE_FULL, SESSION_BUSY, REQUEST_NOT_PENDING,
   * REQUEST_KIND_MISMATCH, REQUEST_TOOL_MISMATCH, EVENT_ID_TAKEN, SESSION_REQUEST_INVALID; for a message with files
   * also ATTACHMENT_INVALID or ATTACHMENTS_UNSUPPORTED. Nothing is stored then
   */
  async send(sessionId: string, message: SessionIngress, options: SendOptions = {}): Promise<SendReceipt> {
    const id = checkSessionId(sessionId);
    const ingress = checkIngress(message);
    const checked = checkSendOptions(options, ingress.type);
    const repeated = await this.#findSent(id, ingress.type, checked);
    if (repeated !== undefined) return repeated;
    try {
      const journal = await this.#journals.open(id);
      const before = journal.state;
      const receipt = await accept(
        journal,
        ingress,
        checked,
        await keepAttachments(ingress, before, this.#options.attachments),
      );
      if (receipt.acceptedAs === 'interrupt')
        await this.#stopSubflows(before, journal, 'the session that it works for was interrupted');
      return ingress.type === 'user.message'
        ? await withReader(receipt, {
            store: this.#options.store,
            sessionId: id,
            hasFiles: (ingress.attachments ?? []).length > 0,
            before,
          })
        : receipt;
    } catch (error) {
      // What refuses it may be its own twin, sent at the same time.
      const twin = await this.#findSent(id, ingress.type, checked).catch(() => undefined);
      if (twin === undefined) throw error;
      return twin;
    }
  }

  /**
   * Cuts the turn that runs short, keeping what it said so far, and cancels queued wakes and requests that wait for an
   * answer. Unread messages stay.
   * @throws RuntimeError SESSION_TERMINATED
   */
  async interrupt(sessionId: string, options: InterruptOptions = {}): Promise<SendReceipt> {
    const { reason } = checkInterruptOptions(options);
    const journal = await this.#journals.open(checkSessionId(sessionId));
    const before = journal.state;
    const receipt = await interrupt(journal, reason);
    await keepView(this.#options.store, journal.state);
    await this.#stopSubflows(before, journal, reason ?? 'the session that it works for was interrupted');
    return receipt;
  }

  /**
   * A new session with the past of this one, up to and with event `atSeq`: nothing of it runs, its queued wakes and
   * requests are cancelled. Messages that were unread by then are unread in both, and make both due.
   */
  async fork(sessionId: string, options: ForkOptions = {}): Promise<SessionState> {
    const { atSeq, title } = checkForkOptions(options);
    return deepFrozen(await forkSession(checkSessionId(sessionId), { atSeq, title }, this.#options));
  }

  /** The session's log as lines of text, for `import` here or elsewhere. Files of its workspace are not part of it. */
  export(sessionId: string): AsyncIterable<string> {
    return exportSession(checkSessionId(sessionId), this.#options);
  }

  /**
   * Brings a session back from the lines of an export, under its id. Nothing that its log says allows, evaluates or
   * promotes anything here; unless `isTrusted`, it asks before whatever is not allowed by a rule, and works within the
   * environment of its agent.
   * @throws RuntimeError SESSION_EXPORT_INVALID naming the line, SESSION_EXISTS, AGENT_NOT_FOUND; nothing is made then
   */
  async import(
    lines: AsyncIterable<string> | Iterable<string>,
    options: { readonly isTrusted?: boolean | undefined } = {},
  ): Promise<SessionState> {
    const { isTrusted } = checkImportOptions(options);
    const identity = await importSession(lines, this.#options, { isTrusted });
    const journal = await this.#journals.open(identity.sessionId);
    await keepView(this.#options.store, journal.state);
    return deepFrozen(journal.state);
  }

  /**
   * Removes a session that does not run, with all its files, for ever. @throws RuntimeError SESSION_BUSY while a wake
   * of it runs
   */
  async delete(sessionId: string): Promise<void> {
    const state = await this.#stateToDelete(checkSessionId(sessionId));
    await this.#options.store.delete(state.sessionId, { epoch: state.epoch, isOpen: state.openWake !== undefined });
    this.#journals.forget(state.sessionId);
    await tellOfDeletion(state, this.#options);
    await this.#stopTree(state, 'the session that it works for was deleted');
  }

  /**
   * Removes sessions that were terminated, or have rested, for long enough, with all their files. None that has
   * something to do, that waits for an answer, or whose family has; and none without a word: see `PruneReport`.
   * @throws RuntimeError SESSION_REQUEST_INVALID
   */
  prune(options: PruneOptions): Promise<PruneReport> {
    return pruneSessions(options, {
      clock: this.#options.clock,
      list: () => this.list(),
      open: (sessionId) => this.#journals.open(sessionId),
      read: (sessionId, from) => this.#options.store.read(sessionId, { from }),
      ended: async (before, journal, reason) => {
        await tellParent(journal, this.#options);
        await this.#stopTree(before, reason);
      },
      delete: (sessionId) => this.delete(sessionId),
    });
  }

  /** Of a log that is not whole nothing is known: it can be taken away all the same. */
  async #stateToDelete(sessionId: string): Promise<SessionState> {
    try {
      return (await this.#journals.open(sessionId)).state;
    } catch (error) {
      if (!RuntimeError.is(error) || error.code !== 'SESSION_HISTORY_LOST') throw error;
      return initialSessionState(await this.#options.store.identify(sessionId));
    }
  }

  /** The folded state as of now. */
  async get(sessionId: string): Promise<SessionState> {
    const journal = await this.#journals.open(checkSessionId(sessionId));
    return deepFrozen(journal.state);
  }

  /** The same as `get`: what a session is and where it stands are one value. */
  status(sessionId: string): Promise<SessionState> {
    return this.get(sessionId);
  }

  /**
   * Whether the process of the wake that the log calls open has died: then nothing moves the session until another wake
   * goes on with it. False where no wake is open, and where the store cannot tell.
   * @throws RuntimeError SESSION_NOT_FOUND
   */
  async hasWakeDied(sessionId: string): Promise<boolean> {
    const { openWake } = await this.status(sessionId);
    if (openWake === undefined || (await this.#isWakeRightHeld(sessionId))) return false;
    // It may have ended by itself between the two questions.
    return (await this.status(sessionId)).openWake?.epoch === openWake.epoch;
  }

  async #isWakeRightHeld(sessionId: string): Promise<boolean> {
    try {
      return await this.#options.store.isWakeRightHeld(sessionId);
    } catch (error) {
      if (RuntimeError.is(error) && error.category === 'storage' && error.code !== 'STORE_CLOSED') return true;
      throw error;
    }
  }

  /** Every session, oldest first. One whose log cannot be read says so and does not hide the others. */
  async list(filter: SessionFilter = {}): Promise<readonly SessionState[]> {
    const { agentId, status, newest = Infinity, before, owner } = checkFilter(filter);
    const listings = (
      await this.#options.store.list({ agentId, before, ...(newest === Infinity ? {} : { newest }) })
    ).slice(-newest);
    const states: SessionState[] = [];
    for (const listing of listings) {
      const state = listing.view ?? (await this.#listed(listing));
      if ((status === undefined || state.status === status) && (owner === undefined || state.owner === owner))
        states.push(deepFrozen(state));
    }
    return states;
  }

  /** Ends the session for ever; its log stays readable. A wake that runs stops before its next step. Idempotent. */
  async terminate(sessionId: string, options: TerminateOptions = {}): Promise<SessionState> {
    const { reason = 'terminated by the caller' } = checkTerminateOptions(options);
    const journal = await this.#journals.open(checkSessionId(sessionId));
    const before = journal.state;
    if (before.status !== 'terminated') {
      await appendAtHead(
        journal,
        ({ status }) =>
          status === 'terminated'
            ? []
            : [{ type: 'session.status_changed', data: { to: 'terminated', stopReason: 'terminated', reason } }],
        {},
      );
      await keepView(this.#options.store, journal.state);
      await tellParent(journal, this.#options);
      await this.#stopTree(before, `the session that it works for was terminated: ${reason}`);
    }
    return deepFrozen(journal.state);
  }

  /** What is stored from `from` on, and with `follow` what comes after it: each event once and in order. */
  events(sessionId: string, options: SessionEventsOptions = {}): SessionEvents {
    const id = checkSessionId(sessionId);
    return new SessionEvents(this.#options.store, id, checkEventsOptions(options), {
      started: (events) => this.#open.add(events),
      ended: (events) => this.#open.delete(events),
    });
  }

  /** The same as a stream; it follows unless told otherwise. A subscriber that throws is reported and does no harm. */
  events$(sessionId: string, options: SessionEventsOptions = {}): Observable<SessionEvent> {
    const id = checkSessionId(sessionId);
    const checked = { follow: true, ...checkEventsOptions(options) };
    return new SafeObservable<SessionEvent>(this.#options.onListenerError, (subscriber) => {
      const events = this.events(id, checked);
      const pump = async (): Promise<void> => {
        for await (const event of events) subscriber.next(event);
        subscriber.complete();
      };
      pump().catch((error: unknown) => subscriber.error(error));
      return () => events.end();
    });
  }

  /**
   * The events of a session and of every agent that works for it, however deep, from the first on and each once: what
   * `AgentState` folds. Follows until it is unsubscribed or the runtime shuts down.
   */
  runEvents$(sessionId: string): Observable<SessionEvent> {
    const { clock, onListenerError } = this.#options;
    return runEvents$(checkSessionId(sessionId), {
      eventsOf: (id) => this.events$(id, { from: 1 }),
      clock,
      onListenerError,
    });
  }

  /** Ends every iterator and stream that follows a session. */
  close(): void {
    for (const events of [...this.#open]) events.end();
  }

  /** The receipt of what was sent under the same key or id before. */
  async #findSent(
    id: string,
    type: SessionIngress['type'],
    { idempotencyKey, eventId }: CheckedSendOptions,
  ): Promise<SendReceipt | undefined> {
    const { store } = this.#options;
    const known = idempotencyKey === undefined ? undefined : await store.findByKey(id, idempotencyKey);
    const sent = known ?? (eventId === undefined ? undefined : await store.findById(id, eventId));
    if (sent === undefined) return undefined;
    const receipt = receiptOf(ofType(sent, type), 'queue');
    const [event] = sent.events;
    return event?.type === 'user.message'
      ? withReader(receipt, { store, sessionId: id, hasFiles: event.data.attachments !== undefined })
      : receipt;
  }

  async #listed({ sessionId, agentId, error }: SessionListing): Promise<SessionState> {
    if (error !== undefined) return { ...initialSessionState({ sessionId, agentId }), unreadable: error };
    try {
      const journal = await this.#journals.open(sessionId);
      // The next list need not fold it again.
      await keepView(this.#options.store, journal.state);
      return journal.state;
    } catch (failure) {
      if (!RuntimeError.is(failure) || failure.category !== 'storage') throw failure;
      return { ...initialSessionState({ sessionId, agentId }), unreadable: failure.toJSON() };
    }
  }
}

/** @throws RuntimeError EVENT_ID_TAKEN when what is stored under that id or key is something else than what is sent */
function ofType(stored: AppendResult, type: SessionEvent['type']): AppendResult {
  const [event] = stored.events;
  if (event === undefined || event.type === type) return stored;
  throw new RuntimeError(
    'EVENT_ID_TAKEN',
    `expected the event under this id or key to be ${type}, it is ${event.type} (event ${event.seq})`,
    {
      category: 'conflict',
      hint: 'Use an id or a key of its own for each thing that you send.',
    },
  );
}
