/**
 * The child session that answers a tool call: made once, whichever process dies in between, and told what the call
 * says.
 */
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionEvent, SessionEventDraft } from '../../machines/session/session-event.ts';
import { OWN_KEYS } from '../../machines/session/session-requests.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { MAX_READ_EVENTS, keepView } from './event-store.ts';
import type { EventStore } from './event-store.ts';
import { accept, appendAtHead, interrupt } from './ingress.ts';
import { tellParent } from './lineage.ts';
import type { LineagePorts } from './lineage.ts';
import { beginSession } from './new-session.ts';
import type { ChildBounds } from './parent-bounds.ts';
import type { SessionJournal } from './session-journal.ts';

export interface SubflowSession {
  readonly sessionId: string;
  readonly agentId: string;
  /** What binds the session that calls. */
  readonly bounds: ChildBounds;
  readonly callId: string;
  readonly message: string;
  /** The folder in which it works. Default: one of its own. */
  readonly workspace?: string | undefined;
  readonly runsIn?: 'process' | undefined;
}

/** Makes the session and sends it its message, unless that has been done. */
export async function ensureSubflowSession(
  { sessionId, agentId, message, bounds, callId, workspace, runsIn }: SubflowSession,
  ports: LineagePorts,
): Promise<void> {
  try {
    await beginSession({ sessionId, agentId, workspace, runsIn }, { kind: 'child', bounds, callId }, ports);
  } catch (error) {
    if (!RuntimeError.is(error) || error.code !== 'SESSION_EXISTS') throw error;
  }
  const child = await ports.journals.open(sessionId);
  // No other process can have sent it a message before this one.
  if (child.state.messages > 0 || child.state.status === 'terminated') return;
  await accept(child, { type: 'user.message', text: message }, { idempotencyKey: `${OWN_KEYS}subflow:${callId}` });
  await keepView(ports.store, child.state);
}

/**
 * What the agent of a session said last, or undefined when it said nothing. @param after the event since which it
 * counts
 */
export async function lastMessageOf(
  sessionId: string,
  { store, journals }: LineagePorts,
  after = 0,
): Promise<string | undefined> {
  const { state } = await journals.open(sessionId);
  for (let end = state.head; end > after;) {
    const from = Math.max(after + 1, end + 1 - MAX_READ_EVENTS);
    const said = lastSaid(await readPart(store, sessionId, { from, end }));
    if (said !== undefined) return said;
    end = from - 1;
  }
  return undefined;
}

/** Ends a session that answers a call and cannot be woken: its caller is told why, and waits no more. */
export async function failSubflow(child: SessionJournal, reason: string, ports: LineagePorts): Promise<void> {
  await terminate(child, reason);
  await keepView(ports.store, child.state);
  await tellParent(child, ports);
}

/**
 * Cuts the children short that the calls of a session wait for, and theirs: who stops a session does not want them to
 * go on.
 */
export async function interruptSubflows(
  { openToolCalls }: SessionState,
  reason: string,
  ports: LineagePorts,
): Promise<void> {
  for (const { request } of openToolCalls) {
    if (request?.kind !== 'subflow') continue;
    const child = await ports.journals.open(request.childSessionId).catch(() => undefined);
    if (child === undefined || child.state.status === 'terminated') continue;
    const before = child.state;
    // One that has not read what it is to do would do it later, for no caller.
    if (before.pending.some(({ type }) => type === 'user.message') && before.modelSteps === 0)
      await terminate(child, reason);
    else await interrupt(child, reason);
    await keepView(ports.store, child.state);
    await tellParent(child, ports);
    await interruptSubflows(before, reason, ports);
  }
}

/**
 * Ends the sessions of jobs that work for a session which is over, and theirs. The runner of such a job sees it in the
 * log, in whichever process; a job that has no session yet finds that its parent wants it no more.
 */
export async function endJobsOf(
  { jobs, openToolCalls }: SessionState,
  reason: string,
  ports: LineagePorts,
): Promise<void> {
  for (const { childSessionId } of jobs) {
    const child = await ports.journals.open(childSessionId).catch(() => undefined);
    if (child === undefined || child.state.status === 'terminated') continue;
    const before = child.state;
    await terminate(child, reason);
    await keepView(ports.store, child.state);
    await interruptSubflows(before, reason, ports);
    await endJobsOf(before, reason, ports);
  }
  for (const { request } of openToolCalls) {
    const child =
      request?.kind === 'subflow'
        ? await ports.journals.open(request.childSessionId).catch(() => undefined)
        : undefined;
    if (child !== undefined) await endJobsOf(child.state, reason, ports);
  }
}

async function terminate(child: SessionJournal, reason: string): Promise<void> {
  const draftsFor = ({ status }: SessionState): SessionEventDraft[] =>
    status === 'terminated'
      ? []
      : [{ type: 'session.status_changed', data: { to: 'terminated', stopReason: 'terminated', reason } }];
  await appendAtHead(child, draftsFor, {});
}

function readPart(
  store: EventStore,
  sessionId: string,
  { from, end }: { readonly from: number; readonly end: number },
): Promise<readonly SessionEvent[]> {
  return store.read(sessionId, { from, limit: end + 1 - from });
}

function lastSaid(events: readonly SessionEvent[]): string | undefined {
  const event = events.findLast(({ type }) => type === 'agent.message');
  return event?.type === 'agent.message' ? event.data.text : undefined;
}
