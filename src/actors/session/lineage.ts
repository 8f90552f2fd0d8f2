/**
 * Parents and children: a child is known to its parent from its creation on, and each time it comes to rest the parent
 * has it in its log.
 */
import { RuntimeError } from '../../machines/errors.ts';
import { OWN_KEYS } from '../../machines/session/session-requests.ts';
import { refusalError, stateAfter, terminated } from '../../machines/session/session-rules.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { keepView } from './event-store.ts';
import { appendAtHead } from './ingress.ts';
import type { JournalCache } from './journal-cache.ts';
import type { JournalPorts, SessionJournal } from './session-journal.ts';

export interface LineagePorts extends JournalPorts {
  readonly journals: JournalCache;
}

/**
 * Whether a session can have one more child.
 * @throws RuntimeError SESSION_TERMINATED, CHILD_LIMIT
 */
export function requireRoom(
  parent: SessionState,
  child: { readonly sessionId: string; readonly agentId: string },
): void {
  if (parent.status === 'terminated') throw refusalError(parent.sessionId, 'session.child_created', terminated(parent));
  const event = {
    type: 'session.child_created',
    v: 1,
    data: { childSessionId: child.sessionId, agentId: child.agentId },
  } as const;
  stateAfter(parent, [{ ...event, id: child.sessionId, at: '', sessionId: parent.sessionId, seq: parent.head + 1 }]);
}

/**
 * Says in the parent's log that the child exists. Idempotent. @throws RuntimeError SESSION_NOT_FOUND,
 * SESSION_TERMINATED, CHILD_LIMIT
 */
export async function announceChild(
  { sessionId, agentId, title, parent }: SessionState,
  ports: LineagePorts,
): Promise<void> {
  // The call that a session answers is what its parent knows of it.
  if (parent === undefined || parent.callId !== undefined) return;
  const journal = await ports.journals.open(parent.sessionId);
  const known: SessionEventDraft = {
    type: 'session.child_created',
    data: { childSessionId: sessionId, agentId, ...(title === undefined ? {} : { label: title }) },
  };
  // Where the log still is as it was checked: children that are made at the same time are counted one after the other.
  const draftsFor = ({ children }: SessionState): SessionEventDraft[] =>
    children.some((child) => child.sessionId === sessionId) ? [] : [known];
  await appendAtHead(journal, draftsFor, { idempotencyKey: `${OWN_KEYS}child-created:${sessionId}` });
}

/**
 * Puts into the parent's log how the child came to rest, then into the child's that the parent knows. Each is stored
 * once, whichever process dies in between: what is owed stays due until both are. A parent that is gone or terminated
 * need not know.
 */
export async function tellParent(child: SessionJournal, ports: LineagePorts): Promise<void> {
  const { owedToParent, parent, sessionId, agentId } = child.state;
  if (owedToParent === undefined || parent === undefined) return;
  const { turn, reason, summary } = owedToParent;
  const parentJournal = await openIfThere(parent.sessionId, ports.journals);
  if (parentJournal !== undefined && parentJournal.state.status !== 'terminated') {
    await announceChild(child.state, ports);
    const told: SessionEventDraft = {
      type: 'session.child_idle',
      data: { childSessionId: sessionId, agentId, turn, reason, summary, used: child.state.used },
    };
    // At the head: when it makes the parent due depends on what the parent went through last.
    await appendAtHead(parentJournal, () => [told], { idempotencyKey: `${OWN_KEYS}child-idle:${sessionId}:${turn}` });
  }
  await child.append([{ type: 'session.parent_told', data: { turn } }], {
    idempotencyKey: `${OWN_KEYS}parent-told:${turn}`,
  });
  await keepView(ports.store, child.state);
}

/** A child whose call waits for it was deleted: no log of it will ever say that it has come to rest. */
export async function tellOfDeletion(
  { sessionId, agentId, parent, head, used }: SessionState,
  ports: LineagePorts,
): Promise<void> {
  if (parent?.callId === undefined) return;
  const journal = await openIfThere(parent.sessionId, ports.journals);
  if (journal === undefined || journal.state.status === 'terminated') return;
  const gone: SessionEventDraft = {
    type: 'session.child_idle',
    data: {
      childSessionId: sessionId,
      agentId,
      turn: head + 1,
      reason: 'terminated',
      summary: 'The session was deleted.',
      used,
    },
  };
  const draftsFor = (state: SessionState): SessionEventDraft[] => (isAwaited(state, sessionId) ? [gone] : []);
  await appendAtHead(journal, draftsFor, { idempotencyKey: `${OWN_KEYS}child-idle:${sessionId}:deleted` });
}

function isAwaited({ openToolCalls }: SessionState, childSessionId: string): boolean {
  return openToolCalls.some(
    ({ phase, request }) =>
      phase === 'waiting' && request?.kind === 'subflow' && request.childSessionId === childSessionId,
  );
}

async function openIfThere(sessionId: string, journals: JournalCache): Promise<SessionJournal | undefined> {
  try {
    return await journals.open(sessionId);
  } catch (error) {
    if (RuntimeError.is(error) && error.code === 'SESSION_NOT_FOUND') return undefined;
    throw error;
  }
}
