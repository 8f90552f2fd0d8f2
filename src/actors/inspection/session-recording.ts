/**
 * The log of one session, told as records. It is read once and in pages, goes on where it ended when a viewer asks
 * again, and follows the log as long as a viewer follows it. What cannot be read is a note: the viewer sees everything
 * before it.
 */
import { beginningOf } from '../../machines/cut-text.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { INSPECTION_LOG_FORMAT } from '../../machines/inspection-log/inspection-record.ts';
import type { InspectionHeader, InspectionRecord } from '../../machines/inspection-log/inspection-record.ts';
import { SessionRecords, headerOfSession } from '../../machines/inspection-log/session-records.ts';
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import { letOthersRun } from '../clock/waiting.ts';
import type { Sessions } from '../session/sessions.ts';
import type { InspectedText } from './inspected-text.ts';
import type { InspectionRange, InspectionRecording } from './inspection-source.ts';
import { LaterSecrets } from './later-secrets.ts';
import { RecordNotifier } from './record-notifier.ts';
import { RememberedRecords } from './remembered-records.ts';
import type { RememberedLimits } from './remembered-records.ts';

export interface SessionRecordingOptions {
  readonly sessionId: string;
  readonly sessions: Pick<Sessions, 'events'>;
  /** Takes secrets out of an event, and leaves it whole otherwise. */
  readonly redacted: (event: SessionEvent) => SessionEvent;
  /** What was recorded before a secret became known is shown without it too. */
  readonly text: InspectedText;
  readonly limits: RememberedLimits;
  readonly onProblem: (error: unknown) => void;
}

/** Events after which other work has a turn: a store may have all of them at hand. */
const EVENTS_PER_TURN = 200;

export class SessionRecording implements InspectionRecording {
  readonly #options: SessionRecordingOptions;
  readonly #log = new SessionRecords();
  readonly #kept: RememberedRecords;
  readonly #laterSecrets: LaterSecrets;
  readonly #notifier: RecordNotifier;
  #header: InspectionHeader | undefined;
  #createdAt: string | undefined;
  /** Number of the last event that was read. */
  #head = 0;
  /** Events that a store passes over because they are damaged. */
  #missing = 0;
  #firstMissing: number | undefined;
  #sinceTurn = 0;
  #note: string | undefined;
  #catchingUp: Promise<void> | undefined;
  /** The reading that follows, which may still be ending while the next one begins. */
  #following: Promise<void> = Promise.resolve();
  #leave: AbortController | undefined;

  constructor(options: SessionRecordingOptions) {
    this.#options = options;
    this.#kept = new RememberedRecords(options.limits);
    this.#laterSecrets = new LaterSecrets(options.text);
    this.#notifier = new RecordNotifier(options.onProblem);
  }

  get header(): InspectionHeader {
    return this.#header ?? { format: INSPECTION_LOG_FORMAT, boot: this.#options.sessionId, startedAt: 0 };
  }

  get head(): number {
    return this.#head;
  }

  /** When its first event happened. Absent before that was read. */
  get createdAt(): string | undefined {
    return this.#createdAt;
  }

  get isFollowed(): boolean {
    return this.#notifier.isHeard;
  }

  /** What is missing, a sentence each. */
  get notes(): readonly string[] {
    const { sessionId } = this.#options;
    const { dropped } = this.#kept;
    return [
      ...(this.#note === undefined ? [] : [this.#note]),
      ...(this.#firstMissing === undefined
        ? []
        : [
            `Of session ${sessionId} ${this.#missing === 1 ? 'one event is' : `${this.#missing} events are`} damaged and missing, the first of them event ${this.#firstMissing}; what came after may check odd.`,
          ]),
      ...(dropped === 0
        ? []
        : [`Of session ${sessionId} the ${dropped} oldest records are not kept in memory; its events have them all.`]),
    ];
  }

  range(): InspectionRange {
    return this.#kept.range;
  }

  async *records(from: number): AsyncGenerator<readonly InspectionRecord[]> {
    for await (const page of this.#kept.read(from))
      yield this.#laterSecrets.shown(page, this.range().last + 1, this.#kept.dropped > 0);
  }

  chart(id: string): ChartDescription | undefined {
    return this.#kept.chart(id);
  }

  follow(listener: () => void): () => void {
    const leave = this.#notifier.add(listener);
    if (this.#leave === undefined) this.#begin();
    return () => {
      leave();
      if (!this.isFollowed) this.#end();
    };
  }

  /** Reads what has come since. @throws RuntimeError SESSION_NOT_FOUND; whatever else goes wrong is a note */
  catchUp(): Promise<void> {
    if (this.#leave !== undefined && this.#head > 0) return Promise.resolve();
    this.#catchingUp ??= this.#read().finally(() => (this.#catchingUp = undefined));
    return this.#catchingUp;
  }

  /** Ends what follows. Idempotent. */
  close(): void {
    this.#notifier.clear();
    this.#end();
  }

  #begin(): void {
    const leave = new AbortController();
    this.#leave = leave;
    const before = Promise.allSettled([this.#following, this.#catchingUp]);
    this.#following = before.then(async () => {
      if (!leave.signal.aborted) await this.#read(leave.signal).catch((error: unknown) => this.#fail(error));
      // It came to an end by itself: the next to ask reads on.
      if (this.#leave === leave) this.#leave = undefined;
    });
  }

  #end(): void {
    this.#leave?.abort();
    this.#leave = undefined;
  }

  /** @param signal follows until it aborts; without one to the end of what is there */
  async #read(signal?: AbortSignal): Promise<void> {
    const events = this.#options.sessions.events(this.#options.sessionId, {
      from: this.#head + 1,
      follow: signal !== undefined,
      ...(signal === undefined ? {} : { signal }),
    });
    try {
      for await (const event of events) {
        this.#see(event);
        this.#sinceTurn += 1;
        if (this.#sinceTurn >= EVENTS_PER_TURN) await this.#othersTurn();
      }
      this.#note = undefined;
    } catch (error) {
      if (RuntimeError.is(error) && error.code === 'SESSION_NOT_FOUND') throw error;
      this.#fail(error);
    }
  }

  #see(event: SessionEvent): void {
    if (event.seq <= this.#head) return;
    this.#header ??= headerOfSession(event);
    this.#createdAt ??= event.at;
    if (event.seq > this.#head + 1) {
      this.#firstMissing ??= this.#head + 1;
      this.#missing += event.seq - this.#head - 1;
    }
    const records = this.#log.see(this.#options.redacted(event));
    this.#head = event.seq;
    this.#kept.add(
      records,
      records.reduce((sum, record) => sum + JSON.stringify(record).length, 0),
    );
    if (records.length > 0) this.#notifier.notify();
  }

  async #othersTurn(): Promise<void> {
    this.#sinceTurn = 0;
    await letOthersRun();
  }

  #fail(error: unknown): void {
    const { sessionId, onProblem } = this.#options;
    this.#note = `The log of session ${sessionId} cannot be read beyond event ${this.#head}: ${RuntimeError.is(error) ? error.code : beginningOf(messageOf(error), 200)}.`;
    onProblem(error);
  }
}
