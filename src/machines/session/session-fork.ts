/** What of a session's past belongs to a fork of it, and what has to be taken back so that nothing happens twice. */
import { beginningOf } from '../cut-text.ts';
import { MAX_MESSAGE_CHARACTERS } from './limits.ts';
import { cancellingEvents, lostWakeEvents } from '../wake/wake-repair.ts';
import { isUnfinished } from './session-activations.ts';
import type {
  NewSessionEvent,
  SessionEvent,
  SessionEventData,
  SessionEventDraft,
  SessionEventType,
} from './session-event.ts';
import type { SessionState } from './session-state.ts';

/** Facts about the first session that are none about its fork: who its relatives are, and that it was given up. */
const ITS_OWN: ReadonlySet<SessionEventType> = new Set([
  'session.created',
  'session.child_created',
  'session.child_idle',
  'subagent.started',
  'subagent.ended',
  'session.parent_told',
  'session.parked',
  'outcome.graded',
  'outcome.evaluated',
]);

/** The events as they were stored, but for those that are facts about the first session only. */
export function forkedEvents(events: readonly SessionEvent[]): NewSessionEvent[] {
  return events
    .filter((event) => !ITS_OWN.has(event.type) && !isTermination(event))
    .map(asStored)
    .map(withoutGrants)
    .map(asCopied);
}

/**
 * The session of a backend is that of the session that had the log first: two that go on with it would read each
 * other's words. It still counts as one that was had. The folder of that session stays where it is.
 */
export function asCopied(event: NewSessionEvent): NewSessionEvent {
  if (event.type === 'wake.started') return withoutHost(event);
  return event.type === 'backend.session_bound'
    ? { ...event, data: { ...(event.data as SessionEventData<'backend.session_bound'>), isCopied: true } }
    : event;
}

function withoutHost(event: NewSessionEvent): NewSessionEvent {
  const { host: _host, ...data } = event.data as SessionEventData<'wake.started'>;
  return { ...event, data };
}

/** What a person allowed for the first session is allowed there only. */
function withoutGrants(event: NewSessionEvent): NewSessionEvent {
  if (event.type === 'user.message') return withoutFiles(event);
  if (event.type !== 'permission.resolved') return event;
  const { scope: _scope, rules: _rules, ...data } = event.data as SessionEventData<'permission.resolved'>;
  return { ...event, data };
}

/** Files lie in the workspace of the first session, and a fork has one of its own: it is told what there was. */
function withoutFiles(event: NewSessionEvent): NewSessionEvent {
  const { attachments = [], ...data } = event.data as SessionEventData<'user.message'>;
  if (attachments.length === 0) return event;
  const note = `\n\n[${attachments.map(({ name }) => name).join(', ')} came with this message in the session that this one was forked from, and is not here.]`;
  return {
    ...event,
    data: { ...data, text: `${beginningOf(data.text, MAX_MESSAGE_CHARACTERS - note.length)}${note}` },
  };
}

/** An event as its writer appended it. One that this version does not know is given on as it came. */
export function asStored(event: SessionEvent): NewSessionEvent {
  const { id, at, epoch } = event;
  const { type, v, data } = event.type === 'event.unrecognized' ? event.data : event;
  return { id, at, ...(epoch === undefined ? {} : { epoch }), type, v, data };
}

/** Ends what was under way and cancels what would happen later: the first session does it. Unread messages stay. */
export function settlingDrafts(state: SessionState): SessionEventDraft[] {
  const cancelled = state.queuedWakes.map(({ queuedWakeId }): SessionEventDraft => ({
    type: 'wake.cancelled',
    data: { queuedWakeId, because: 'fork' },
  }));
  // Without it, what a wake of the first session left unfinished would be tried again by both.
  const cut: SessionEventDraft = { type: 'user.interrupt', data: { reason: 'forked' } };
  const drafts = [...lostWakeEvents(state), ...cancelled, ...cancellingEvents(state, 'fork')];
  return [...drafts, ...(state.openWake !== undefined || isUnfinished(state) ? [cut] : []), ...restingDrafts(state)];
}

/** The chart leads to rest only through a wake. */
function restingDrafts({ status }: SessionState): SessionEventDraft[] {
  const rest: SessionEventDraft = {
    type: 'session.status_changed',
    data: { to: 'idle', stopReason: 'idle', reason: 'forked' },
  };
  if (status === 'idle') return [];
  return status === 'rescheduling' ? [{ type: 'session.status_changed', data: { to: 'running' } }, rest] : [rest];
}

function isTermination(event: SessionEvent): boolean {
  return event.type === 'session.status_changed' && event.data.to === 'terminated';
}
