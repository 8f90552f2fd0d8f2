/** Sessions made from the log of another: forks, and what comes out of an export. Each is there as a whole or not at all. */
import { RuntimeError } from '../../machines/errors.ts';
import { activationsOf } from '../../machines/session/activation.ts';
import { asCopied, forkedEvents, settlingDrafts } from '../../machines/session/session-fork.ts';
import { checkDraft, placeEvent } from '../../machines/session/session-event.ts';
import type { NewSessionEvent, SessionEvent, SessionEventData } from '../../machines/session/session-event.ts';
import { foldSession } from '../../machines/session/session-fold.ts';
import { initialSessionState } from '../../machines/session/session-state.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { isoTimeOf } from '../clock/iso-time.ts';
import type { AgentCatalog } from './agent-catalog.ts';
import { keepView } from './event-store.ts';
import type { EventStore, SessionIdentity } from './event-store.ts';
import { SessionEvents } from './session-events.ts';
import { SessionJournal } from './session-journal.ts';
import type { JournalPorts } from './session-journal.ts';

export interface ForkRequest {
  readonly atSeq: number | undefined;
  readonly title: string | undefined;
}

/** @throws RuntimeError FORK_OUT_OF_RANGE; nothing is made then */
export async function forkSession(sourceId: string, { atSeq, title }: ForkRequest, ports: JournalPorts): Promise<SessionState> {
  const { store, ids, clock } = ports;
  const { agentId } = await store.identify(sourceId);
  const head = await store.head(sourceId);
  const seq = atSeq ?? head;
  if (seq > head) {
    throw new RuntimeError('FORK_OUT_OF_RANGE', `expected an event from 1 to ${head} to fork session ${sourceId} at, received ${seq}`, { category: 'validation', hint: 'List the events of the session.' });
  }
  const identity = { sessionId: ids.next(), agentId };
  const at = isoTimeOf(clock.now());
  const envelope = (draft: Parameters<typeof checkDraft>[0]): NewSessionEvent => ({ id: draft.id ?? ids.next(), at, ...checkDraft(draft) });
  const past = await eventsUpTo(store, sourceId, seq);
  const created = envelope({ type: 'session.created', data: { agentId, ...(title === undefined ? {} : { title }), ...boundsOf(past[0]), forkOf: { sessionId: sourceId, seq } } });
  const copied = [created, ...forkedEvents(past)];
  const settling = settlingDrafts(foldAll(identity, copied)).map(envelope);
  const state = foldAll(identity, [...copied, ...settling]);
  // Before the session is there: a hint without a session costs a look, a session without its hint would wait for ever.
  await store.activations.add(activationsOf(state));
  await store.create(identity, [created, ...copied.slice(1), ...settling]);
  // Whoever looked in between has found no session, and may have taken them for strays.
  await store.activations.add(activationsOf(state)).catch(() => undefined);
  const journal = await SessionJournal.open(identity.sessionId, ports);
  await keepView(store, journal.state);
  return journal.state;
}

/** Where it works and what binds it: a fork is no way out of either. */
function boundsOf(first: SessionEvent | undefined): Pick<SessionEventData<'session.created'>, 'environmentId' | 'restriction'> {
  if (first?.type !== 'session.created') return {};
  const { environmentId, restriction } = first.data;
  return { ...(environmentId === undefined ? {} : { environmentId }), ...(restriction === undefined ? {} : { restriction }) };
}

export interface ImportPorts extends JournalPorts {
  readonly agents: AgentCatalog;
}

/** Makes the session that `events` are the log of. They have been checked. @throws RuntimeError SESSION_EXISTS, AGENT_NOT_FOUND */
export async function createFromLog(identity: SessionIdentity, exported: readonly [NewSessionEvent, ...NewSessionEvent[]], { store, agents }: ImportPorts): Promise<void> {
  await agents.get(identity.agentId);
  const [created, ...later] = exported;
  const events = [created, ...later.map(asCopied)] as const;
  const activations = activationsOf(foldAll(identity, events));
  await store.activations.add(activations);
  await store.create(identity, events);
  // Whoever looked in between has found no session, and may have taken them for strays.
  await store.activations.add(activations).catch(() => undefined);
}

async function eventsUpTo(store: EventStore, sessionId: string, seq: number): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  const nobody = { started: () => undefined, ended: () => undefined };
  for await (const event of new SessionEvents(store, sessionId, { limit: seq }, nobody)) events.push(event);
  return events;
}

function foldAll(identity: SessionIdentity, events: readonly NewSessionEvent[]): SessionState {
  let state = initialSessionState(identity);
  // What a store holds, or was checked as what it would hold, is an event of a known type.
  for (const [index, event] of events.entries()) state = foldSession(state, placeEvent(event as Parameters<typeof placeEvent>[0], identity.sessionId, index + 1));
  return state;
}
