/** The sessions service: makes sessions, sends into them, and tells what is in them. It never runs one; that is a wake's work. */
import type { Observable } from 'rxjs';
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionEvent, SessionEventDraft } from '../../machines/session/session-event.ts';
import {
  checkEventsOptions,
  checkFilter,
  checkIngress,
  checkNewSession,
  checkSendOptions,
  checkSessionId,
  checkTerminateOptions,
} from '../../machines/session/session-requests.ts';
import type { NewSession, SendOptions, SessionFilter, SessionIngress, TerminateOptions } from '../../machines/session/session-requests.ts';
import { refusalError, terminated } from '../../machines/session/session-rules.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import { SafeObservable } from '../streams/safe-observable.ts';
import type { AgentCatalog } from './agent-catalog.ts';
import { keepView } from './event-store.ts';
import type { AppendResult, Durability } from './event-store.ts';
import { frozen } from './frozen.ts';
import { JournalCache } from './journal-cache.ts';
import { SessionEvents } from './session-events.ts';
import type { SessionEventsOptions } from './session-events.ts';
import { SessionJournal } from './session-journal.ts';
import type { JournalPorts } from './session-journal.ts';

/** Proof that a message is stored. */
export interface SendReceipt {
  readonly eventId: string;
  readonly seq: number;
  /** How it will be delivered: `queue` waits for the next model step. */
  readonly acceptedAs: 'queue';
  readonly durability: Durability;
}

export interface SessionsOptions extends JournalPorts {
  readonly agents: AgentCatalog;
  readonly onListenerError: OnListenerError;
}

/** An answer is appended only at the head; how often it may be overtaken before the sender is told. */
const MAX_ANSWER_ATTEMPTS = 16;

export class Sessions {
  readonly #options: SessionsOptions;
  readonly #journals: JournalCache;
  readonly #open = new Set<SessionEvents>();

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#journals = new JournalCache(options);
  }

  /** @throws RuntimeError AGENT_NOT_FOUND, AGENT_INVALID, or SESSION_REQUEST_INVALID; nothing is made then */
  async create(request: NewSession): Promise<SessionState> {
    const { agentId, title } = checkNewSession(request);
    await this.#options.agents.get(agentId);
    const identity = { sessionId: this.#options.ids.next(), agentId };
    const journal = new SessionJournal(identity, this.#options);
    const data = { agentId, ...(title === undefined ? {} : { title }) };
    await this.#options.store.create(identity, journal.envelopes([{ type: 'session.created', data }]));
    await journal.refresh();
    await keepView(this.#options.store, journal.state);
    return frozen(journal.state);
  }

  /**
   * Stores a message or an answer. The receipt means that it is durable; a wake of the session will read it.
   * The same idempotency key again stores nothing and gives the same receipt.
   * @throws RuntimeError SESSION_TERMINATED, SESSION_QUEUE_FULL, REQUEST_NOT_PENDING, REQUEST_TOOL_MISMATCH, or SESSION_REQUEST_INVALID
   */
  async send(sessionId: string, message: SessionIngress, options: SendOptions = {}): Promise<SendReceipt> {
    const id = checkSessionId(sessionId);
    const ingress = checkIngress(message);
    const { idempotencyKey } = checkSendOptions(options);
    const known = idempotencyKey === undefined ? undefined : await this.#options.store.findByKey(id, idempotencyKey);
    if (known !== undefined) return receiptOf(known);
    const journal = await this.#journals.open(id);
    const { type, ...data } = ingress;
    // The parts come from one parsed message, so they belong together.
    const draft = { type, data } as SessionEventDraft;
    return ingress.type === 'user.message' ? this.#sendMessage(journal, draft, idempotencyKey) : this.#sendAnswer(journal, draft, idempotencyKey);
  }

  /** The folded state as of now. */
  async get(sessionId: string): Promise<SessionState> {
    const journal = await this.#journals.open(checkSessionId(sessionId));
    return frozen(journal.state);
  }

  /** The same as `get`: what a session is and where it stands are one value. */
  status(sessionId: string): Promise<SessionState> {
    return this.get(sessionId);
  }

  /** Every session, oldest first. */
  async list(filter: SessionFilter = {}): Promise<readonly SessionState[]> {
    const { agentId, status } = checkFilter(filter);
    const listings = await this.#options.store.list({ agentId });
    const states: SessionState[] = [];
    for (const listing of listings) {
      const state = listing.view ?? (await this.#journals.open(listing.sessionId)).state;
      if (status === undefined || state.status === status) states.push(frozen(state));
    }
    return states;
  }

  /** Ends the session for ever; its log stays readable. A wake that runs stops before its next step. Idempotent. */
  async terminate(sessionId: string, options: TerminateOptions = {}): Promise<SessionState> {
    const { reason = 'terminated by the caller' } = checkTerminateOptions(options);
    const journal = await this.#journals.open(checkSessionId(sessionId));
    if (journal.state.status !== 'terminated') {
      await journal.append([{ type: 'session.status_changed', data: { to: 'terminated', stopReason: 'terminated', reason } }]);
      await keepView(this.#options.store, journal.state);
    }
    return frozen(journal.state);
  }

  /** What is stored from `from` on, and with `follow` what comes after it: each event once and in order. */
  events(sessionId: string, options: SessionEventsOptions = {}): SessionEvents {
    const id = checkSessionId(sessionId);
    return new SessionEvents(this.#options.store, id, checkEventsOptions(options), {
      started: (events) => this.#open.add(events),
      ended: (events) => this.#open.delete(events),
    });
  }

  /** The same as a stream; it follows unless told otherwise. A subscriber that throws is reported and hurts nobody. */
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

  /** Ends every iterator and stream that follows a session. */
  close(): void {
    for (const events of [...this.#open]) events.end();
  }

  async #sendMessage(journal: SessionJournal, draft: SessionEventDraft, idempotencyKey: string | undefined): Promise<SendReceipt> {
    const receipt = receiptOf(await journal.append([draft], { idempotencyKey }));
    const { state } = journal;
    // The session may have been terminated between the check and the append; then nobody will ever read the message.
    if (state.terminatedAtSeq !== undefined && receipt.seq > state.terminatedAtSeq) {
      throw refusalError(state.sessionId, draft.type, terminated(state));
    }
    return receipt;
  }

  /** Of two answers to one request the first counts, so an answer goes in only where the log still is as it was checked. */
  async #sendAnswer(journal: SessionJournal, draft: SessionEventDraft, idempotencyKey: string | undefined): Promise<SendReceipt> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return receiptOf(await journal.append([draft], { idempotencyKey, onlyAtHead: true }));
      } catch (error) {
        const isOvertaken = RuntimeError.is(error) && error.code === 'HEAD_MOVED';
        if (!isOvertaken || attempt === MAX_ANSWER_ATTEMPTS) throw error;
        await journal.refresh();
      }
    }
  }

}

function receiptOf({ events, durability }: AppendResult): SendReceipt {
  const [event] = events;
  if (event === undefined) throw new RuntimeError('STORAGE_FAILED', 'the store accepted an append and returned no event', { category: 'storage' });
  return Object.freeze({ eventId: event.id, seq: event.seq, acceptedAs: 'queue', durability });
}
