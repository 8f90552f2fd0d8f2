/**
 * What a client sends into a session: stored before it is accepted, once for each key and id, and refused before
 * anything is written.
 */
import { RuntimeError } from '../../machines/errors.ts';
import type { Attachment, DeliveryMode } from '../../machines/session/event-parts.ts';
import { placeOf } from '../../machines/session/message-reader.ts';
import type { MessageReader } from '../../machines/session/message-reader.ts';
import { isBlocked, isUnfinished } from '../../machines/session/session-activations.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import type { CheckedIngress, CheckedSendOptions } from '../../machines/session/session-requests.ts';
import { refusalError, terminated } from '../../machines/session/session-rules.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { cancellingEvents } from '../../machines/wake/wake-repair.ts';
import type { AppendResult, Durability } from './event-store.ts';
import type { JournalAppendOptions, SessionJournal } from './session-journal.ts';

/** Proof that a message is stored. */
export interface SendReceipt {
  readonly eventId: string;
  readonly seq: number;
  /**
   * How it is delivered: `queue` after the turn that runs, `steer` by its next step, `interrupt` after that turn was
   * cut short. What was to steer a turn that takes no messages is queued.
   */
  readonly acceptedAs: DeliveryMode;
  /** Of a message: who reads it first, by what was in the log before it. Absent where that could not be looked up. */
  readonly readBy?: MessageReader | undefined;
  readonly durability: Durability;
}

/**
 * What depends on the state of the log is appended only at its head; how often it may be overtaken before the sender is
 * told.
 */
const MAX_ATTEMPTS = 32;

/** @param attachments the files of a message, as they were kept */
export async function accept(
  journal: SessionJournal,
  ingress: CheckedIngress,
  options: CheckedSendOptions,
  attachments: readonly Attachment[] = [],
): Promise<SendReceipt> {
  const { idempotencyKey, eventId } = options;
  const key = idempotencyKey === undefined ? {} : { idempotencyKey };
  if (ingress.type !== 'user.message') {
    const { type, ...data } = ingress;
    // The parts come from one parsed value, so they belong together.
    const draft = { type, data, ...(eventId === undefined ? {} : { id: eventId }) } as SessionEventDraft;
    // Of two answers to one request the first counts, so an answer goes in only where the log still is as it was
    // checked.
    return receiptOf(await appendAtHead(journal, () => [draft], key), 'queue');
  }
  const { delivery = 'queue' } = options;
  const message = (accepted: DeliveryMode): SessionEventDraft => ({
    type: 'user.message',
    data: {
      text: ingress.text,
      delivery: accepted,
      ...(attachments.length === 0 ? {} : { attachments: [...attachments] }),
    },
    ...(eventId === undefined ? {} : { id: eventId }),
  });
  switch (delivery) {
    case 'queue':
      return acceptMessage(journal, message('queue'), key);
    case 'steer':
      return acceptSteering(journal, message, key);
    case 'interrupt':
      return receiptOf(
        await appendAtHead(
          journal,
          (state) => [message('interrupt'), ...interruptionOf(state, 'a message that interrupts', { isRead: true })],
          key,
        ),
        'interrupt',
      );
    case 'reject-if-busy':
      return receiptOf(await appendAtHead(journal, (state) => [message(idle(state))], key), 'queue');
  }
}

/**
 * Whether the turn that runs can be steered is a matter of the moment, so what says so goes in only where the log still
 * is as it was checked.
 */
async function acceptSteering(
  journal: SessionJournal,
  message: (accepted: DeliveryMode) => SessionEventDraft,
  options: JournalAppendOptions,
): Promise<SendReceipt> {
  try {
    return receiptOf(
      await appendAtHead(journal, (state) => [message(placeOf(state) === 'next_turn' ? 'queue' : 'steer')], options),
      'steer',
    );
  } catch (error) {
    if (!isOvertaken(error)) throw error;
    // Among so many who write, the next step reads it in any case.
    return acceptMessage(journal, message('steer'), options);
  }
}

/** Cuts the running turn short and takes back what was queued and asked for. */
export async function interrupt(journal: SessionJournal, reason: string | undefined): Promise<SendReceipt> {
  return receiptOf(
    await appendAtHead(
      journal,
      (state) => interruptionOf(state, reason, { isRead: state.pending.some(({ callId }) => callId === undefined) }),
      {},
    ),
    'interrupt',
  );
}

/** How a stored append was accepted. */
export function receiptOf(result: AppendResult | undefined, acceptedAs: DeliveryMode): SendReceipt {
  const { events: [event] = [], durability } = result ?? { durability: 'memory' };
  if (event === undefined)
    throw new RuntimeError('STORAGE_FAILED', 'the store accepted an append and returned no event', {
      category: 'storage',
    });
  const delivery = event.type === 'user.message' ? event.data.delivery : acceptedAs;
  return Object.freeze({ eventId: event.id, seq: event.seq, acceptedAs: delivery, durability });
}

/** `isRead`: something is unread that another wake will read. */
function interruptionOf(
  state: SessionState,
  reason: string | undefined,
  { isRead }: { readonly isRead: boolean },
): SessionEventDraft[] {
  return [
    { type: 'user.interrupt', data: reason === undefined ? {} : { reason } },
    ...state.queuedWakes.map(({ queuedWakeId }): SessionEventDraft => ({
      type: 'wake.cancelled',
      data: { queuedWakeId, because: 'interrupt' },
    })),
    ...cancellingEvents(state, 'interrupt'),
    // The wake that was to go on with it has just been cancelled.
    ...(isRead ? [] : restOfChild(state, reason)),
    ...(state.status === 'rescheduling'
      ? [
          {
            type: 'session.status_changed',
            data: { to: 'idle', stopReason: 'idle', reason: 'interrupted' },
          } satisfies SessionEventDraft,
        ]
      : []),
  ];
}

/** A child whose call waits for it has to say that it rests: no wake of it will. */
function restOfChild(state: SessionState, reason: string | undefined): SessionEventDraft[] {
  const { parent, openWake, lastWake, status } = state;
  const wouldGoOn = isUnfinished(state) || lastWake?.retryAt !== undefined || status === 'rescheduling';
  const isOwed = parent?.callId !== undefined && openWake === undefined && wouldGoOn;
  return isOwed
    ? [
        {
          type: 'session.status_idle',
          data: { reason: 'idle', summary: `The session was interrupted${reason === undefined ? '' : `: ${reason}`}.` },
        },
      ]
    : [];
}

/** @throws RuntimeError SESSION_BUSY */
function idle({ openWake, pending, sessionId }: SessionState): 'queue' {
  if (openWake === undefined && pending.length === 0) return 'queue';
  throw new RuntimeError(
    'SESSION_BUSY',
    `session ${sessionId} is busy: ${openWake === undefined ? `${pending.length} messages wait to be read` : 'a wake runs'}`,
    {
      category: 'conflict',
      hint: 'Send again later, or let the message queue.',
    },
  );
}

async function acceptMessage(
  journal: SessionJournal,
  draft: SessionEventDraft,
  options: JournalAppendOptions,
): Promise<SendReceipt> {
  const receipt = receiptOf(await appendIngress(journal, draft, options), 'queue');
  const { state } = journal;
  // The session may have been terminated between the check and the append; then no wake will ever read the message.
  if (state.terminatedAtSeq !== undefined && receipt.seq > state.terminatedAtSeq)
    throw refusalError(state.sessionId, draft.type, terminated(state));
  return receipt;
}

/**
 * Appends what came in. While the session holds back what comes in, since it waits for an answer or is parked, only
 * where the log still says so: what is not made due must not follow on an event that would have let it go on.
 */
async function appendIngress(
  journal: SessionJournal,
  draft: SessionEventDraft,
  options: JournalAppendOptions,
): Promise<AppendResult | undefined> {
  const isHeldBack = isBlocked(journal.state) || journal.state.parked !== undefined;
  return isHeldBack ? appendAtHead(journal, () => [draft], options) : journal.append([draft], options);
}

/** Of each journal, the append at the head that was overtaken and tries again last. */
const turns = new WeakMap<SessionJournal, Promise<unknown>>();

/**
 * Appends what `draftsFor` says of the state, and again of the newer one when another writer came first. Nothing is
 * appended when it says nothing. Those of one journal that were overtaken take turns: together they would overtake one
 * another as often as there are of them.
 */
export async function appendAtHead(
  journal: SessionJournal,
  draftsFor: (state: SessionState) => readonly SessionEventDraft[],
  options: JournalAppendOptions,
): Promise<AppendResult | undefined> {
  const append = async (): Promise<AppendResult | undefined> => {
    const drafts = draftsFor(journal.state);
    return drafts.length === 0 ? undefined : journal.append(drafts, { ...options, onlyAtHead: true });
  };
  try {
    return await append();
  } catch (error) {
    if (!isOvertaken(error)) throw error;
  }
  const again = (turns.get(journal) ?? Promise.resolve()).then(() => appendOvertaken(journal, append));
  turns.set(
    journal,
    again.catch(() => undefined),
  );
  return again;
}

async function appendOvertaken(
  journal: SessionJournal,
  append: () => Promise<AppendResult | undefined>,
): Promise<AppendResult | undefined> {
  for (let attempt = 2; ; attempt += 1) {
    await journal.refresh();
    try {
      return await append();
    } catch (error) {
      if (!isOvertaken(error) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

function isOvertaken(error: unknown): boolean {
  return RuntimeError.is(error) && error.code === 'HEAD_MOVED';
}
