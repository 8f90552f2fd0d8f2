/**
 * The logs of the sessions that a recording is about, as lines for its file: of each session whose actors were recorded
 * and of those that work for it, from the first event on and as it grows. Redacted and bounded like what an inspector
 * shows.
 */
import { RuntimeError } from '../../machines/errors.ts';
import type { InspectionRecord } from '../../machines/inspection-log/inspection-record.ts';
import { MAX_LINE_CHARACTERS } from '../../machines/inspection-log/inspection-record.ts';
import { FULL_LINE, sessionLineOf } from '../../machines/inspection-log/session-line.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { Sessions } from '../session/sessions.ts';
import { InspectedText } from './inspected-text.ts';
import type { Redact } from './inspected-text.ts';
import { EVENT_LIMITS, shownData } from './shown-data.ts';

export interface SessionTapeOptions {
  readonly sessions: Pick<Sessions, 'events' | 'status'>;
  readonly redact?: Redact | undefined;
  readonly limits?: Partial<SessionTapeLimits> | undefined;
  readonly onProblem: (error: unknown) => void;
}

interface SessionTapeLimits {
  /** Followed at once. The one that was heard of longest ago is left for another, and taken up again where it moves. */
  readonly followed: number;
  /** Of all lines together. */
  readonly characters: number;
}

/** Takes a whole line. Resolves when more may follow. */
type WriteLine = (line: string) => Promise<void>;

const LIMITS: SessionTapeLimits = { followed: 200, characters: 256 * 1_048_576 };
/** Where what was escaped in it makes the line of an event too long. */
const TIGHT_LIMITS = { ...EVENT_LIMITS, characters: 50_000, text: 20_000 };

interface Followed {
  agentId: string | undefined;
  /** Number of the last event that was written. */
  head: number;
  /** Aborted: it is not followed any more, until it is again. Absent: it never was. */
  leave: AbortController | undefined;
  reading: Promise<void>;
}

export class SessionLogLines {
  readonly #options: SessionTapeOptions;
  readonly #limits: SessionTapeLimits;
  readonly #text: InspectedText;
  /** The one that was heard of last stands last. */
  readonly #sessions = new Map<string, Followed>();
  #write: WriteLine | undefined;
  #characters = 0;
  #isFull = false;
  #isEnding = false;
  #ending: Promise<void> | undefined;

  constructor(options: SessionTapeOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#text = new InspectedText(options.redact);
  }

  /** From now on what it reads is written. */
  begin(write: WriteLine): void {
    this.#write = write;
  }

  /** Hears of sessions in what was recorded. */
  see(records: readonly InspectionRecord[]): void {
    for (const record of records)
      if (record.k === 'actor' && record.facts?.['sessionId'] !== undefined) this.#hear(record.facts['sessionId']);
  }

  /** Writes what is there and has not been written. Nothing is followed from then on. Idempotent. */
  end(): Promise<void> {
    return (this.#ending ??= this.#end());
  }

  async #end(): Promise<void> {
    this.#isEnding = true;
    for (const { leave } of this.#sessions.values()) leave?.abort();
    // Those too that are heard of meanwhile: they stand last.
    for (const [sessionId, followed] of this.#sessions) {
      await followed.reading;
      await this.#read(sessionId, followed);
    }
  }

  #hear(sessionId: string): void {
    const known = this.#sessions.get(sessionId);
    if (this.#isFull || (this.#isEnding && known !== undefined)) return;
    const followed = known ?? { agentId: undefined, head: 0, leave: undefined, reading: Promise.resolve() };
    this.#sessions.delete(sessionId);
    this.#sessions.set(sessionId, followed);
    if (this.#isEnding) return;
    if (followed.leave?.signal.aborted === false) return;
    const leave = new AbortController();
    followed.leave = leave;
    followed.reading = followed.reading.then(() => this.#read(sessionId, followed, leave.signal));
    this.#leaveOldest();
  }

  #leaveOldest(): void {
    const open = [...this.#sessions.values()].filter(({ leave }) => leave?.signal.aborted === false);
    for (const { leave } of open.slice(0, Math.max(0, open.length - this.#limits.followed))) leave?.abort();
  }

  /** @param signal follows until it aborts; without one to the end of what is there. Never rejects. */
  async #read(sessionId: string, followed: Followed, signal?: AbortSignal): Promise<void> {
    const { sessions, onProblem } = this.#options;
    try {
      followed.agentId ??= (await sessions.status(sessionId)).agentId;
      const events = sessions.events(sessionId, {
        from: followed.head + 1,
        follow: signal !== undefined,
        ...(signal === undefined ? {} : { signal }),
      });
      for await (const event of events) {
        if (this.#isFull) return;
        await this.#tell(followed.agentId, event);
        followed.head = event.seq;
      }
    } catch (error) {
      // One that was deleted has nothing more to tell.
      if (!RuntimeError.is(error) || error.code !== 'SESSION_NOT_FOUND') onProblem(error);
    }
  }

  async #tell(agentId: string, event: SessionEvent): Promise<void> {
    if (
      event.type === 'session.child_created' ||
      event.type === 'subagent.started' ||
      event.type === 'agent.subflow_started'
    )
      this.#hear(event.data.childSessionId);
    const line = this.#line(agentId, event);
    this.#characters += line.length;
    if (this.#characters <= this.#limits.characters) return this.#write?.(line);
    this.#isFull = true;
    for (const { leave } of this.#sessions.values()) leave?.abort();
    await this.#write?.(JSON.stringify(FULL_LINE));
    this.#options.onProblem(
      new RuntimeError('STORAGE_FAILED', 'the logs of sessions are recorded no further: they take up too much', {
        category: 'storage',
        hint: 'What actors do is still recorded; the stored sessions have the rest.',
      }),
    );
  }

  #line(agentId: string, event: SessionEvent): string {
    for (const limits of [EVENT_LIMITS, TIGHT_LIMITS]) {
      const { value: data, isCut } = shownData(event.data, this.#text, limits);
      const line = JSON.stringify(sessionLineOf({ agentId, event: { ...event, data } as SessionEvent, isCut }));
      if (line.length < MAX_LINE_CHARACTERS || limits === TIGHT_LIMITS) return line;
    }
    return '';
  }
}
