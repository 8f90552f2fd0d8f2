/**
 * The sessions whose logs were recorded, as far as they have been read: what a living inspector asks its store for, read
 * only. Time stands where the recording does.
 */
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionLine } from '../../machines/inspection-log/session-line.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import { foldSession } from '../../machines/session/session-fold.ts';
import { initialSessionState } from '../../machines/session/session-state.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { Clock } from '../clock/clock.ts';
import { MAX_READ_EVENTS } from '../session/event-store.ts';
import { SessionEvents } from '../session/session-events.ts';
import type { RuntimeSourceOptions } from './runtime-source.ts';

interface RecordedSession {
  state: SessionState;
  /** One that does not follow on what came before: it counts once the next one follows on it. */
  ahead: SessionLine | undefined;
  readonly log: SessionEvent[];
  readonly watchers: Set<() => void>;
}

/** Of the lines of all sessions. */
const MAX_CHARACTERS = 256 * 1_048_576;

export class RecordedSessions {
  readonly #sessions = new Map<string, RecordedSession>();
  #time = 0;
  #characters = 0;
  #cut = 0;
  #broken = 0;
  #missing = 0;
  #left = 0;
  #isFull = false;

  get size(): number {
    return this.#sessions.size;
  }

  /** What is missing, a sentence each. */
  get notes(): readonly string[] {
    const counted: readonly (readonly [number, string])[] = [
      [this.#cut, 'Events of sessions that are cut, since they were too long to be recorded whole'],
      [this.#broken, 'Events of sessions that could not be read, so that what came after may be odd'],
      [this.#missing, 'Events of sessions that are missing, so that what came after may be odd'],
      [this.#left, 'Events of sessions that are not kept in memory, since the recording holds too many'],
    ];
    return [
      ...counted.flatMap(([count, what]) => (count > 0 ? [`${what}: ${count}.`] : [])),
      ...(this.#isFull ? ['The logs of sessions end early: they were too long to be recorded any further.'] : []),
    ];
  }

  /** The time of the newest that was recorded: waits are told as they were then. No timer ever fires. */
  readonly clock: Clock = {
    now: () => this.#time,
    steadyNow: () => 0,
    setTimeout: () => ({}),
    clearTimeout: () => undefined,
  };

  /** @param time milliseconds since the epoch, at which something was recorded */
  pass(time: number): void {
    this.#time = Math.max(this.#time, time);
  }

  /** @param line undefined: one that is damaged; 'full': no more follow @param characters of it */
  add(line: SessionLine | 'full' | undefined, characters: number): void {
    if (line === 'full') {
      this.#isFull = true;
      return;
    }
    if (line === undefined) {
      this.#broken += 1;
      return;
    }
    this.#characters += characters;
    if (this.#characters > MAX_CHARACTERS) {
      this.#left += 1;
      return;
    }
    const { agentId, event } = line;
    const session = this.#sessions.get(event.sessionId) ?? this.#begin(event.sessionId, agentId);
    for (const each of this.#following(session, line)) this.#fold(session, each);
  }

  /**
   * What can be told by now. A number that is too high is damaged, or events before it are missing: which it is the next
   * one says.
   */
  #following(session: RecordedSession, line: SessionLine): readonly SessionLine[] {
    const { state, ahead } = session;
    const { seq } = line.event;
    if (seq <= state.head) return [];
    if (seq === state.head + 1) {
      session.ahead = undefined;
      return [line];
    }
    if (seq === ahead?.event.seq) return [];
    if (ahead !== undefined && seq === ahead.event.seq + 1) {
      session.ahead = undefined;
      this.#broken -= 1;
      this.#missing += ahead.event.seq - state.head - 1;
      return [ahead, line];
    }
    session.ahead = line;
    this.#broken += 1;
    return [];
  }

  #fold(session: RecordedSession, { event, isCut }: SessionLine): void {
    try {
      session.state = foldSession(session.state, event);
    } catch {
      this.#broken += 1;
      return;
    }
    session.log.push(event);
    if (isCut) this.#cut += 1;
    this.pass(Date.parse(event.at) || 0);
    for (const watcher of [...session.watchers]) watcher();
  }

  /** As the sessions of a store. */
  get service(): RuntimeSourceOptions['sessions'] {
    return {
      list: async () => [...this.#sessions.values()].map(({ state }) => state),
      status: async (sessionId) => this.#of(sessionId).state,
      events: (sessionId, options) =>
        new SessionEvents(this.#store, sessionId, options ?? {}, { started: () => undefined, ended: () => undefined }),
      // Whether its process lives is a matter of then.
      hasWakeDied: async () => false,
      send: async (sessionId) => {
        this.#of(sessionId);
        throw new RuntimeError('INSPECTION_READ_ONLY', 'a recording takes no answers', {
          category: 'permission',
          hint: `Check whether it still waits: wakechart inspect --session ${sessionId}`,
        });
      },
    };
  }

  readonly #store: ConstructorParameters<typeof SessionEvents>[0] = {
    read: async (sessionId, { from = 1, limit = MAX_READ_EVENTS } = {}) => {
      const { log } = this.#of(sessionId);
      const start = log.findIndex(({ seq }) => seq >= from);
      return start === -1 ? [] : log.slice(start, start + limit);
    },
    watch: (sessionId, onChange) => {
      const watchers = this.#sessions.get(sessionId)?.watchers;
      const watcher = (): void => onChange();
      watchers?.add(watcher);
      return () => void watchers?.delete(watcher);
    },
  };

  #begin(sessionId: string, agentId: string): RecordedSession {
    const state = initialSessionState({ sessionId, agentId });
    const session = { state, ahead: undefined, log: [], watchers: new Set<() => void>() };
    this.#sessions.set(sessionId, session);
    return session;
  }

  #of(sessionId: string): RecordedSession {
    const found = this.#sessions.get(sessionId);
    if (found === undefined) throw unknown(sessionId);
    return found;
  }
}

function unknown(sessionId: string): RuntimeError {
  return new RuntimeError('SESSION_NOT_FOUND', `the log of session ${sessionId} was not recorded`, {
    category: 'not_found',
    hint: 'Check the home that it lies in: wakechart inspect --session ID',
  });
}
