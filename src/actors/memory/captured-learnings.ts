/** What logs say that an agent has learned: the truth that its learnings are made from. */
import { beginningOf } from '../../machines/cut-text.ts';
import type { SessionEvent, SessionEventOf } from '../../machines/session/session-event.ts';
import { MAX_KEPT_CHARACTERS } from '../../machines/memory/learning.ts';
import type { CapturedLearning } from '../../machines/memory/learning.ts';
import { MAX_READ_EVENTS } from '../session/event-store.ts';
import type { EventStore } from '../session/event-store.ts';
import type { LearningStore, LearningsExamination } from './learning-store.ts';

type Logs = Pick<EventStore, 'read' | 'list'>;

function capturedBy(
  sessionId: string,
  { seq, at, data: { promoteToMemory: _promoteToMemory, title, detail, ...data } }: SessionEventOf<'learning.captured'>,
): CapturedLearning {
  return {
    ...data,
    title: beginningOf(title, MAX_KEPT_CHARACTERS) || '(no title)',
    detail: beginningOf(detail, MAX_KEPT_CHARACTERS),
    sessionId,
    seq,
    at,
  };
}

/** The event with this number, if it is one. */
export async function capturedAt(
  store: Pick<EventStore, 'read'>,
  sessionId: string,
  seq: number,
): Promise<CapturedLearning | undefined> {
  const [event] = await store.read(sessionId, { from: seq, limit: 1 });
  return event !== undefined && event.seq === seq && isCapture(event) ? capturedBy(sessionId, event) : undefined;
}

/**
 * All that the sessions of an agent have learned, session by session. A log that cannot be read is told of and left
 * out.
 */
async function* capturedInLogs(
  store: Logs,
  agentId: string,
  onUnreadable: (sessionId: string, error: unknown) => void,
): AsyncGenerator<CapturedLearning> {
  for (const { sessionId } of await store.list({ agentId })) {
    try {
      yield* capturedIn(store, sessionId);
    } catch (error) {
      onUnreadable(sessionId, error);
    }
  }
}

/** Makes the learnings of an agent anew of its logs. */
export async function rebuildLearnings({
  agentId,
  store,
  learnings,
  onUnreadable,
}: {
  readonly agentId: string;
  readonly store: Logs;
  readonly learnings: LearningStore;
  readonly onUnreadable: (sessionId: string, error: unknown) => void;
}): Promise<LearningsExamination> {
  return learnings.rebuild(agentId, capturedInLogs(store, agentId, onUnreadable));
}

/** What was learned in these events of a session. */
export function capturesAmong(sessionId: string, events: readonly SessionEvent[]): readonly CapturedLearning[] {
  return events.filter(isCapture).map((event) => capturedBy(sessionId, event));
}

async function* capturedIn(store: Logs, sessionId: string): AsyncGenerator<CapturedLearning> {
  for (let from = 1; ;) {
    const page = await store.read(sessionId, { from });
    yield* capturesAmong(sessionId, page);
    const last = page.at(-1);
    if (last === undefined || page.length < MAX_READ_EVENTS) return;
    from = last.seq + 1;
  }
}

function isCapture(event: SessionEvent): event is SessionEventOf<'learning.captured'> {
  return event.type === 'learning.captured';
}
