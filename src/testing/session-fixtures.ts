/** Sessions and events for the cases of contracts: ids and times that are the same in every run. */
import { formatUuidV7 } from '../machines/ids.ts';
import { checkDraft } from '../machines/session/session-event.ts';
import type { NewSessionEvent, SessionEvent, SessionEventDraft } from '../machines/session/session-event.ts';
import { foldSession } from '../machines/session/session-fold.ts';
import { initialSessionState } from '../machines/session/session-state.ts';
import type { SessionState } from '../machines/session/session-state.ts';
import type { NewSessionEvents } from '../actors/session/event-store.ts';

/** Milliseconds since the epoch. */
export const START_MS = Date.UTC(2026, 0, 1);
export const AGENT_ID = 'tester';

/** The n-th id; later ones sort after earlier ones. */
export function idOf(n: number): string {
  return formatUuidV7({ unixMs: START_MS + n, counter: 0, random: new Uint8Array(8) });
}

/** The whole numbers from `first` to `last`. */
export function numbersTo(last: number, first = 1): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}

export const SESSION_ID = idOf(0);
export const IDENTITY = { sessionId: SESSION_ID, agentId: AGENT_ID } as const;

/** A session that does not exist. */
export const NOBODY = idOf(99);

const CREATED: SessionEventDraft = { type: 'session.created', data: { agentId: AGENT_ID } };

/** The n-th event, ready to be appended. */
function eventOf(n: number, draft: SessionEventDraft, epoch?: number): NewSessionEvent {
  const { type, v, data } = checkDraft(draft);
  return {
    id: idOf(n),
    at: new Date(START_MS).toISOString(),
    ...(epoch === undefined ? {} : { epoch }),
    type,
    v,
    data,
  };
}

/** The first event of any session. */
export function creation(n = 1): NewSessionEvents {
  return [eventOf(n, CREATED)];
}

export function messageOf(n: number, epoch?: number): NewSessionEvent {
  return eventOf(n, { type: 'user.message', data: { text: `m${n}`, delivery: 'queue' } }, epoch);
}

export function messagesOf(first: number, ...rest: readonly number[]): NewSessionEvents {
  return [messageOf(first), ...rest.map((n) => messageOf(n))];
}

/** What begins the wake that claims this epoch. */
export function claimOf(n: number, epoch: number): NewSessionEvents {
  return [
    eventOf(
      n,
      { type: 'wake.started', data: { wakeId: `wake_${epoch}`, epoch, owner: 'test', queuedWakeIds: [] } },
      epoch,
    ),
  ];
}

/** A tool call with any input. */
export function toolUseOf(n: number, input: object): NewSessionEvent {
  return eventOf(n, { type: 'agent.tool_use', data: { callId: 'c', name: 'n', input, spanId: 's' } });
}

/** A tool result of this many characters. */
export function resultOf(n: number, characters: number, epoch?: number): NewSessionEvent {
  return eventOf(
    n,
    {
      type: 'agent.tool_result',
      data: { callId: 'c', name: 'n', outcome: 'completed', output: 'x'.repeat(characters) },
    },
    epoch,
  );
}

export function foldAll(
  events: readonly SessionEvent[],
  from: SessionState = initialSessionState(IDENTITY),
): SessionState {
  let state = from;
  for (const event of events) state = foldSession(state, event);
  return state;
}

/** Sequence number and id of each event. */
export function placesOf(events: readonly SessionEvent[]): readonly (readonly [seq: number, id: string])[] {
  return events.map(({ seq, id }) => [seq, id]);
}
