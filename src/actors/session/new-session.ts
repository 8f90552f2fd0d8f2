/**
 * Makes sessions: those of people and programs, and those that work for another one. Only copies of logs are made
 * elsewhere.
 */
import type { SessionEventData, SessionEventDraft } from '../../machines/session/session-event.ts';
import type { ChildBounds } from './parent-bounds.ts';
import { SessionJournal } from './session-journal.ts';
import type { JournalPorts } from './session-journal.ts';

type Created = SessionEventData<'session.created'>;

/**
 * For whom a session is made. It cannot be left out, and a child has none without what binds its parent. `callId`: the
 * call that it answers.
 */
export type Origin =
  | { readonly kind: 'own' }
  | { readonly kind: 'child'; readonly bounds: ChildBounds; readonly callId?: string | undefined };

type Fields = {
  readonly [Name in 'title' | 'owner' | 'jobId' | 'workspace' | 'environmentId' | 'runsIn' | 'narrowing']?:
    | Created[Name]
    | undefined;
};

export interface NewSessionRequest extends Fields {
  readonly sessionId: string;
  readonly agentId: string;
}

/** @throws RuntimeError SESSION_EXISTS */
export async function beginSession(
  { sessionId, agentId, ...fields }: NewSessionRequest,
  origin: Origin,
  ports: JournalPorts,
): Promise<SessionJournal> {
  const journal = new SessionJournal({ sessionId, agentId }, ports);
  const common = { agentId, ...definedOnly(fields) };
  const created: SessionEventDraft = {
    type: 'session.created',
    data: origin.kind === 'own' ? common : { ...common, ...childFields(origin) },
  };
  await ports.store.create({ sessionId, agentId }, journal.envelopes([created]));
  await journal.refresh();
  return journal;
}

function childFields({ bounds: { parent, ...bounds }, callId }: Extract<Origin, { readonly kind: 'child' }>): Omit<
  ChildBounds,
  'parent'
> & {
  readonly parent: NonNullable<Created['parent']>;
} {
  return { ...bounds, parent: { ...parent, ...(callId === undefined ? {} : { callId }) } };
}

function definedOnly(fields: Fields): Pick<Created, keyof Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
