/**
 * What an inspector shows in a stored inspection log, which is given in pieces of text, as far as it has come: the
 * records, and the sessions whose logs were kept beside them.
 *
 * Memory: the newest 1,000,000 records, or as many of them as were written in 256 Mi characters. What is older is
 * dropped with a note, but for the charts and how the actors stood.
 */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { InspectionHeader, InspectionRecord } from '../../machines/inspection-log/inspection-record.ts';
import { InspectionReader } from '../../machines/inspection-log/inspection-reader.ts';
import { notesOfReport } from '../../machines/inspection-log/report-notes.ts';
import { letOthersRun } from '../clock/waiting.ts';
import { InspectedText } from './inspected-text.ts';
import type { Redact } from './inspected-text.ts';
import type { InspectionAbout } from './inspection-source.ts';
import { RecordNotifier } from './record-notifier.ts';
import { RememberedRecords } from './remembered-records.ts';
import type { RememberedLimits } from './remembered-records.ts';
import { RecordedSessions } from './recorded-sessions.ts';
import { createRuntimeSource } from './runtime-source.ts';
import type { ClosableSource } from './runtime-source.ts';
import { wholeData } from './shown-data.ts';

/** What a file or a pipe gives: a piece of the log, or something about it that the viewer has to know. */
export type LogPiece = string | { readonly note: string } | typeof CAUGHT_UP;

/** All that is there has been given; what comes from then on is new. */
export const CAUGHT_UP = Symbol('caught up');

export interface LogSourceOptions {
  /** In a few words: the name of the file. */
  readonly title: string;
  /** Ended by `close`, with `return`. */
  readonly pieces: AsyncIterable<LogPiece>;
  readonly redact?: Redact | undefined;
  readonly limits?: Partial<RememberedLimits> | undefined;
  /** Hears what goes wrong while the log is read, and what followers throw. */
  readonly onProblem: (error: unknown) => void;
}

const LIMITS: RememberedLimits = { records: 1_000_000, characters: 256 * 1_048_576 };
const MAX_NOTES = 20;
/** Of a title, or of a note. */
const MAX_SHOWN_CHARACTERS = 500;
const CHARACTERS_PER_TURN = 131_072;

export interface LogSource extends ClosableSource {
  /** Resolves when all that was there at first has been read, or the log has ended. */
  readonly caughtUp: Promise<void>;
}

/**
 * Resolves when the header was read. @throws RuntimeError INSPECTION_LOG_REFUSED where it is no inspection log; what
 * reading the pieces throws before that
 */
export async function openLogSource(options: LogSourceOptions): Promise<LogSource> {
  const log = new ReadLog(options);
  await log.opened;
  return log.source;
}

class ReadLog {
  readonly #sessions = new RecordedSessions();
  readonly #reader = new InspectionReader({
    onSessionLine: (line, characters) => this.#sessions.add(line, characters),
  });
  readonly #shownSessions: ClosableSource;
  readonly #iterator: AsyncIterator<LogPiece>;
  readonly #text: InspectedText;
  readonly #options: LogSourceOptions;
  readonly #kept: RememberedRecords;
  readonly #notifier: RecordNotifier;
  #notes: readonly string[] = [];
  #hasEnded = false;
  #sinceTurn = 0;
  #isClosed = false;
  #isCaughtUp: () => void = () => undefined;
  readonly #caughtUp: Promise<void>;
  /** Resolves with the header; what is there is read on. */
  readonly opened: Promise<void>;

  constructor(options: LogSourceOptions) {
    this.#options = options;
    const { title, redact, onProblem } = options;
    const { service, clock } = this.#sessions;
    this.#shownSessions = createRuntimeSource({
      title,
      sessions: service,
      clock,
      redact,
      onProblem,
    });
    this.#iterator = options.pieces[Symbol.asyncIterator]();
    this.#text = new InspectedText(options.redact);
    this.#kept = new RememberedRecords({ ...LIMITS, ...options.limits });
    this.#notifier = new RecordNotifier(options.onProblem);
    this.#caughtUp = new Promise((resolve) => (this.#isCaughtUp = resolve));
    this.opened = this.#open();
  }

  get source(): LogSource {
    const { header } = this;
    const sessions = this.#shownSessions;
    return {
      recordingOf: (sessionId) => sessions.recordingOf(sessionId),
      sessions: (options) => sessions.sessions(options),
      session: (sessionId) => sessions.session(sessionId),
      events: (sessionId, options) => sessions.events(sessionId, options),
      // Neither is recorded: what runs and what lies in folders now is no matter of then.
      processes: async () => [],
      changes: async () => [],
      answer: (sessionId, answer) => sessions.answer(sessionId, answer),
      header,
      about: () => this.#about(),
      range: () => this.#kept.range,
      records: (from) => this.#kept.read(from),
      follow: (listener) => this.#notifier.add(listener),
      chart: (id) => this.#kept.chart(id),
      toldCharts: () => this.#kept.charts,
      caughtUp: this.#caughtUp,
      close: () => this.#close(),
    };
  }

  get header(): InspectionHeader {
    const { header } = this.#reader;
    if (header === undefined)
      throw new RuntimeError(
        'INSPECTION_LOG_REFUSED',
        'expected an inspection log, whose first line is its header: nothing was read',
        { category: 'validation' },
      );
    return header;
  }

  async #open(): Promise<void> {
    try {
      while (this.#reader.header === undefined && (await this.#step()));
      // Says what is wrong, where the log has no header.
      if (this.#reader.header === undefined) this.#end();
    } catch (error) {
      this.#close();
      throw error;
    }
    void this.#readOn();
  }

  async #readOn(): Promise<void> {
    try {
      while (!this.#isClosed && (await this.#step()));
    } catch (error) {
      this.#note(
        `The log could not be read any further: ${RuntimeError.is(error) ? error.message : messageOf(error)}.`,
      );
      this.#options.onProblem(error);
      this.#end();
    }
    this.#isCaughtUp();
  }

  /** @returns whether there may be more */
  async #step(): Promise<boolean> {
    const next = await this.#iterator.next();
    if (this.#isClosed) return false;
    if (next.done === true) {
      this.#end();
      return false;
    }
    const { value } = next;
    if (typeof value === 'string') await this.#read(value);
    else if (value !== CAUGHT_UP) this.#note(value.note);
    // An empty file, or the beginning of a line: its rest is not waited for.
    else if (this.#reader.header === undefined) return false;
    else this.#isCaughtUp();
    return true;
  }

  async #read(piece: string): Promise<void> {
    this.#take(this.#reader.read(piece), piece.length);
    this.#sinceTurn += piece.length;
    if (this.#sinceTurn < CHARACTERS_PER_TURN) return;
    this.#sinceTurn = 0;
    // The source of the pieces may have all of them at hand.
    await letOthersRun();
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#take(this.#reader.end(), 0);
  }

  #take(records: readonly InspectionRecord[], characters: number): void {
    const shown = this.#options.redact === undefined ? records : records.map((record) => this.#redacted(record));
    this.#kept.add(shown, characters);
    this.#sessions.pass(shown.at(-1)?.t ?? 0);
    if (shown.length > 0) this.#notifier.notify();
  }

  #redacted(record: InspectionRecord): InspectionRecord {
    const { k, s, t, ...rest } = record;
    return { k, s, t, ...wholeData(rest, this.#text) } as InspectionRecord;
  }

  #note(note: string): void {
    this.#notes = [...this.#notes, note].slice(-MAX_NOTES);
  }

  #about(): InspectionAbout {
    const { dropped } = this.#kept;
    const notes = [
      ...notesOfReport(this.#reader.report),
      ...(dropped === 0 ? [] : [`The ${dropped} oldest records are not kept in memory.`]),
      ...this.#sessions.notes,
      ...this.#shownSessions.about().notes,
      ...this.#notes,
    ];
    return {
      kind: 'log',
      title: this.#text.cut(this.#options.title, MAX_SHOWN_CHARACTERS),
      hasSessions: this.#sessions.size > 0,
      canAnswer: false,
      notes: notes.map((note) => this.#text.cut(note, MAX_SHOWN_CHARACTERS)),
      hasEnded: this.#hasEnded || this.#isClosed,
    };
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#shownSessions.close();
    this.#notifier.clear();
    this.#isCaughtUp();
    // What reads the file may be waiting for it to grow; that is not waited for.
    void Promise.resolve(this.#iterator.return?.()).catch((error: unknown) => this.#options.onProblem(error));
  }
}
