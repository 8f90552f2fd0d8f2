/**
 * The recordings of sessions that viewers check. Each is kept while it is followed, and for a minute after it was
 * asked for last; at most eight are kept that have no follower.
 */
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { Clock, TimerHandle } from '../clock/clock.ts';
import type { Sessions } from '../session/sessions.ts';
import type { InspectedText } from './inspected-text.ts';
import type { RememberedLimits } from './remembered-records.ts';
import { SessionRecording } from './session-recording.ts';

export interface SessionRecordingsOptions {
  readonly sessions: Pick<Sessions, 'events' | 'status'>;
  readonly clock: Pick<Clock, 'steadyNow' | 'setTimeout' | 'clearTimeout'>;
  readonly redacted: (event: SessionEvent) => SessionEvent;
  readonly text: InspectedText;
  readonly onProblem: (error: unknown) => void;
  /** Of each recording. */
  readonly limits?: RememberedLimits | undefined;
}

const MAX_UNFOLLOWED = 8;
const KEPT_MS = 60_000;

/** Of each: a session of a hundred thousand events. */
const LIMITS: RememberedLimits = { records: 250_000, characters: 32 * 1_048_576 };

interface Entry {
  readonly recording: SessionRecording;
  /** As the steady clock has it. */
  askedAt: number;
}

export class SessionRecordings {
  readonly #options: SessionRecordingsOptions;
  /** In the order in which they were asked for, the last one last. */
  readonly #entries = new Map<string, Entry>();
  #timer: TimerHandle | undefined;
  #isClosed = false;

  constructor(options: SessionRecordingsOptions) {
    this.#options = options;
  }

  /** What is missing from those that are kept. */
  get notes(): readonly string[] {
    return [...this.#entries.values()].flatMap(({ recording }) => recording.notes);
  }

  /** Up to date. Undefined: there is no such session. */
  async of(sessionId: string): Promise<SessionRecording | undefined> {
    try {
      this.#forgetReplaced(sessionId, await this.#stateOf(sessionId));
      const recording = this.#askedFor(sessionId);
      await recording.catchUp();
      return recording;
    } catch (error) {
      if (!RuntimeError.is(error) || error.code !== 'SESSION_NOT_FOUND') throw error;
      this.#forget(sessionId);
      return undefined;
    }
  }

  /** Ends all of them. Idempotent. */
  close(): void {
    this.#isClosed = true;
    for (const sessionId of [...this.#entries.keys()]) this.#forget(sessionId);
    this.#options.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Undefined where its log cannot be read: what can be read of it is shown all the same. */
  async #stateOf(sessionId: string): Promise<SessionState | undefined> {
    try {
      return await this.#options.sessions.status(sessionId);
    } catch (error) {
      if (RuntimeError.is(error) && error.code === 'SESSION_NOT_FOUND') throw error;
      this.#options.onProblem(error);
      return undefined;
    }
  }

  /** A session may have been deleted and brought back under its id: its log is another one then. */
  #forgetReplaced(sessionId: string, state: SessionState | undefined): void {
    const recording = this.#entries.get(sessionId)?.recording;
    if (recording === undefined || state === undefined) return;
    const isOther =
      recording.createdAt !== undefined && state.createdAt !== undefined && recording.createdAt !== state.createdAt;
    if (isOther || state.head < recording.head) this.#forget(sessionId);
  }

  #askedFor(sessionId: string): SessionRecording {
    const { sessions, redacted, text, onProblem, limits = LIMITS, clock } = this.#options;
    const recording =
      this.#entries.get(sessionId)?.recording ??
      new SessionRecording({ sessionId, sessions, redacted, text, limits, onProblem });
    this.#entries.delete(sessionId);
    if (this.#isClosed) return recording;
    this.#entries.set(sessionId, { recording, askedAt: clock.steadyNow() });
    this.#dropOldest();
    this.#timer ??= clock.setTimeout(() => this.#sweep(), KEPT_MS);
    return recording;
  }

  #dropOldest(): void {
    const unfollowed = [...this.#entries].filter(([, { recording }]) => !recording.isFollowed);
    for (const [sessionId] of unfollowed.slice(0, Math.max(0, unfollowed.length - MAX_UNFOLLOWED)))
      this.#forget(sessionId);
  }

  #sweep(): void {
    const { clock } = this.#options;
    const now = clock.steadyNow();
    this.#timer = undefined;
    for (const [sessionId, entry] of [...this.#entries]) {
      if (entry.recording.isFollowed) entry.askedAt = now;
      else if (now - entry.askedAt >= KEPT_MS) this.#forget(sessionId);
    }
    if (this.#entries.size > 0) this.#timer = clock.setTimeout(() => this.#sweep(), KEPT_MS);
  }

  #forget(sessionId: string): void {
    this.#entries.get(sessionId)?.recording.close();
    this.#entries.delete(sessionId);
  }
}
