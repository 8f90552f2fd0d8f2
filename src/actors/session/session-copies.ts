/**
 * Sessions made from the log of another: forks, and what comes out of an export. Each is there as a whole or not at
 * all.
 */
import { RuntimeError } from '../../machines/errors.ts';
import type { Restriction } from '../../machines/session/event-parts.ts';
import { asCopied, forkedEvents, settlingDrafts } from '../../machines/session/session-fork.ts';
import { importedBounds } from '../../machines/session/imported-bounds.ts';
import { activationsOf } from '../../machines/session/session-activations.ts';
import { checkDraft, placeEvent } from '../../machines/session/session-event.ts';
import type { NewSessionEvent, SessionEvent, SessionEventData } from '../../machines/session/session-event.ts';
import { foldSession } from '../../machines/session/session-fold.ts';
import { depthOf, initialSessionState } from '../../machines/session/session-state.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { isoTimeOf } from '../clock/iso-time.ts';
import type { AgentCatalog } from './agent-catalog.ts';
import { keepView } from './event-store.ts';
import type { EventStore, SessionIdentity } from './event-store.ts';
import type { LineagePorts } from './lineage.ts';
import { ParentBounds, withEnvironmentsAbove } from './parent-bounds.ts';
import type { BoundsPorts } from './parent-bounds.ts';
import { SessionEvents } from './session-events.ts';
import { SessionJournal } from './session-journal.ts';
import type { JournalPorts } from './session-journal.ts';

export interface ForkRequest {
  readonly atSeq: number | undefined;
  readonly title: string | undefined;
}

/** @throws RuntimeError FORK_OUT_OF_RANGE; nothing is made then */
export async function forkSession(
  sourceId: string,
  { atSeq, title }: ForkRequest,
  ports: JournalPorts & BoundsPorts & Pick<LineagePorts, 'journals'>,
): Promise<SessionState> {
  const { store, ids, clock } = ports;
  const { agentId } = await store.identify(sourceId);
  const head = await store.head(sourceId);
  const seq = atSeq ?? head;
  if (seq > head) {
    throw new RuntimeError(
      'FORK_OUT_OF_RANGE',
      `expected an event from 1 to ${head} to fork session ${sourceId} at, received ${seq}`,
      { category: 'validation', hint: 'List the events of the session.' },
    );
  }
  const identity = { sessionId: ids.next(), agentId };
  const at = isoTimeOf(clock.now());
  const envelope = (draft: Parameters<typeof checkDraft>[0]): NewSessionEvent => ({
    id: draft.id ?? ids.next(),
    at,
    ...checkDraft(draft),
  });
  const past = await eventsUpTo(store, sourceId, seq);
  const importedThroughSeq = importedPartOf(past);
  const created = envelope({
    type: 'session.created',
    data: {
      ...boundsOf(past[0]),
      ...(await boundsFromAbove(sourceId, ports)),
      agentId,
      ...(title === undefined ? {} : { title }),
      forkOf: { sessionId: sourceId, seq, ...depthBelow(past[0]) },
      ...(importedThroughSeq === undefined ? {} : { importedThroughSeq }),
    },
  });
  const copied = [created, ...forkedEvents(past)];
  const settling = settlingDrafts(foldAll(identity, copied)).map(envelope);
  const state = foldAll(identity, [...copied, ...settling]);
  // Before the session is there: a hint without a session costs a check, a session without its hint would wait for ever.
  await store.activations.add(activationsOf(state));
  await store.create(identity, [created, ...copied.slice(1), ...settling]);
  // A worker that checked in between has found no session, and may have taken them for strays.
  await store.activations.add(activationsOf(state)).catch(() => undefined);
  const journal = await SessionJournal.open(identity.sessionId, ports);
  await keepView(store, journal.state);
  return journal.state;
}

type Created = SessionEventData<'session.created'>;

/**
 * Where it works, what binds it and what it may use up: a fork is no way out of any of it. All is taken over that is
 * not named as the first session's own.
 */
function boundsOf(
  first: SessionEvent | undefined,
): Omit<Created, 'agentId' | 'title' | 'parent' | 'jobId' | 'workspace' | 'forkOf' | 'importedThroughSeq'> {
  if (first?.type !== 'session.created') return {};
  const {
    agentId: _agent,
    title: _title,
    parent: _parent,
    jobId: _job,
    workspace: _workspace,
    forkOf: _fork,
    importedThroughSeq: _imported,
    ...bounds
  } = first.data;
  return bounds;
}

/** What binds the first session for whose parent it works: a log of an earlier version may lack it, and a fork has no parent. */
async function boundsFromAbove(
  sourceId: string,
  ports: BoundsPorts & Pick<LineagePorts, 'journals'>,
): Promise<Pick<Created, 'restriction'>> {
  const { state } = await ports.journals.open(sourceId);
  const { restriction } = await withEnvironmentsAbove(state, ports).catch((error: unknown) => {
    if (!RuntimeError.is(error) || error.code !== 'SESSION_NOT_FOUND') throw error;
    throw new RuntimeError(
      'SESSION_NOT_FOUND',
      `the session that ${sourceId} works for is gone, and with it what would bind a fork`,
      {
        category: 'not_found',
        hint: 'Export it and import that: what comes from an export asks before whatever no rule allows.',
        cause: error,
      },
    );
  });
  return state.parent === undefined || restriction === undefined ? {} : { restriction };
}

function depthBelow(first: SessionEvent | undefined): { readonly depth?: number } {
  const depth = first?.type === 'session.created' ? depthOf(first.data) : 0;
  return depth === 0 ? {} : { depth };
}

/** How much of a fork of these events came from elsewhere. */
function importedPartOf(past: readonly SessionEvent[]): number | undefined {
  const [first] = past;
  if (first?.type !== 'session.created' || first.data.importedThroughSeq === undefined) return undefined;
  const { importedThroughSeq } = first.data;
  // Its own first event stands in the place of the other one.
  return 1 + forkedEvents(past.filter(({ seq }) => seq <= importedThroughSeq)).length;
}

export interface ImportPorts extends LineagePorts, BoundsPorts {
  readonly agents: AgentCatalog;
}

export interface ImportOptions {
  /** The caller knows that the log is as the session has left it: its bounds are those that it says. Default false. */
  readonly isTrusted?: boolean | undefined;
}

/**
 * Makes the session that `events` are the log of. They have been checked. @throws RuntimeError SESSION_EXISTS,
 * AGENT_NOT_FOUND
 */
export async function createFromLog(
  identity: SessionIdentity,
  exported: readonly [NewSessionEvent, ...NewSessionEvent[]],
  ports: ImportPorts,
  { isTrusted = false }: ImportOptions = {},
): Promise<void> {
  const { store, agents } = ports;
  const agent = await agents.get(identity.agentId);
  const [first, ...later] = exported;
  const said = first.data as Created;
  const created = {
    ...first,
    data: {
      ...(isTrusted
        ? await trustedBounds(said, ports)
        : importedBounds(said, agent, await boundsOfParent(said, ports))),
      importedThroughSeq: exported.length,
    },
  };
  const events = [created, ...later.map(asCopied)] as const;
  const activations = activationsOf(foldAll(identity, events));
  await store.activations.add(activations);
  await store.create(identity, events);
  // A worker that checked in between has found no session, and may have taken them for strays.
  await store.activations.add(activations).catch(() => undefined);
}

/** What it says; a child of an earlier version works in the environments of its parent besides, though its log lacks them. */
async function trustedBounds(said: Created, ports: ImportPorts): Promise<Created> {
  const { parent, restriction } = said;
  if (parent === undefined || restriction?.environments !== undefined) return said;
  const above = await boundsOfParent(said, ports);
  if (above?.environments === undefined) return said;
  return { ...said, restriction: { ...(restriction ?? above), environments: above.environments } };
}

/**
 * What binds a session that is here and for which a log says that it works. The author of the log may have cut that out
 * of it.
 */
async function boundsOfParent({ parent }: Created, ports: ImportPorts): Promise<Restriction | undefined> {
  if (parent === undefined) return undefined;
  const journal = await ports.journals.open(parent.sessionId).catch((error: unknown) => {
    if (RuntimeError.is(error) && error.code === 'SESSION_NOT_FOUND') return undefined;
    throw error;
  });
  if (journal === undefined) return undefined;
  const above = await withEnvironmentsAbove(journal.state, ports);
  return (await ParentBounds.of(above, ports)).binding(above);
}

async function eventsUpTo(store: EventStore, sessionId: string, seq: number): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  const noFollowers = { started: () => undefined, ended: () => undefined };
  for await (const event of new SessionEvents(store, sessionId, { limit: seq }, noFollowers)) events.push(event);
  return events;
}

function foldAll(identity: SessionIdentity, events: readonly NewSessionEvent[]): SessionState {
  let state = initialSessionState(identity);
  // What a store holds, or was checked as what it would hold, is an event of a known type.
  for (const [index, event] of events.entries())
    state = foldSession(state, placeEvent(event as Parameters<typeof placeEvent>[0], identity.sessionId, index + 1));
  return state;
}
