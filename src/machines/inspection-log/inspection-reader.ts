/**
 * Reads an inspection log as it comes: pieces of text in, records out, in ascending order of their numbers.
 *
 * Only a wrong header is refused. Everything after it is read as far as it goes: damage costs the line that it is in,
 * and the report says where. A record whose number jumps ahead is told with the one after it, or at the end (see
 * record-order.ts).
 */
import { beginningOf } from '../cut-text.ts';
import { RuntimeError } from '../errors.ts';
import { describeIssues } from '../validate.ts';
import type { InspectionHeader, InspectionRecord } from './inspection-record.ts';
import { INSPECTION_LOG_FORMAT, inspectionHeader, MAX_LINE_CHARACTERS } from './inspection-record.ts';
import { readRecord } from './read-record.ts';
import type { ReadReport } from './read-report.ts';
import { ReadNotes } from './read-report.ts';
import { RecordOrder } from './record-order.ts';
import { readSessionLine, SESSION_LINE } from './session-line.ts';
import type { SessionLine } from './session-line.ts';

// Keeps one copy of the names that repeat in a million records: JSON makes a new string for each, which would be most
// of what a log takes in memory.

/** Above it, what is new is not shared. */
const MAX_SHARED = 200_000;

class SharedTexts {
  readonly #texts = new Map<string, string>();

  /** @param record fresh from JSON, changed in place */
  shared(record: InspectionRecord): InspectionRecord {
    const fields = record as { -readonly [Name in 'a' | 'type' | 'value' | 'from']?: unknown };
    fields.a = this.#one(record.a);
    if (typeof fields.type === 'string') fields.type = this.#one(fields.type);
    if (typeof fields.value === 'string') fields.value = this.#one(fields.value);
    if (typeof fields.from === 'string') fields.from = this.#one(fields.from);
    if (record.k !== 'step') return record;
    const { taken } = record as { readonly taken: string[] };
    for (const [index, id] of taken.entries()) taken[index] = this.#one(id);
    return record;
  }

  #one(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    if (this.#texts.size < MAX_SHARED) this.#texts.set(text, text);
    return text;
  }
}

const TOO_LONG = `expected a line of at most ${MAX_LINE_CHARACTERS} characters`;

export interface InspectionReaderOptions {
  /** Hears of events of sessions, which are no records; undefined for a damaged one, 'full' where no more follow. */
  readonly onSessionLine?: ((line: SessionLine | 'full' | undefined, characters: number) => void) | undefined;
}

export class InspectionReader {
  readonly #onSessionLine: InspectionReaderOptions['onSessionLine'];
  readonly #notes = new ReadNotes();
  readonly #order = new RecordOrder();
  readonly #texts = new SharedTexts();
  #header: InspectionHeader | undefined;
  #refusal: RuntimeError | undefined;
  /** The beginning of a line whose end has not come. */
  #rest = '';
  /** The line is too long already: what comes of it is not kept. */
  #isSkipping = false;
  #line = 0;
  #hasEnded = false;

  constructor({ onSessionLine }: InspectionReaderOptions = {}) {
    this.#onSessionLine = onSessionLine;
  }

  /** Absent until its line was read. */
  get header(): InspectionHeader | undefined {
    return this.#header;
  }

  get report(): ReadReport {
    return this.#notes.report;
  }

  /**
   * @returns what the lines that are whole now hold @throws RuntimeError INSPECTION_LOG_REFUSED: this is no such log;
   * INSPECTION_LOG_ENDED, after `end`
   */
  read(chunk: string): readonly InspectionRecord[] {
    this.#refuseWhenOver();
    const records: InspectionRecord[] = [];
    let from = 0;
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', from)) {
      this.#keep(chunk.slice(from, end));
      this.#endLine(records);
      from = end + 1;
    }
    this.#keep(from === 0 ? chunk : chunk.slice(from));
    return records;
  }

  /**
   * Nothing comes any more. @returns what was held back, and the last line, where it is whole without its end @throws
   * RuntimeError INSPECTION_LOG_REFUSED
   */
  end(): readonly InspectionRecord[] {
    this.#refuseWhenOver();
    this.#hasEnded = true;
    const records: InspectionRecord[] = [];
    if (this.#rest.trim() !== '' || this.#isSkipping) {
      this.#notes.hasTornTail = true;
      this.#endLine(records);
    }
    if (this.#header === undefined) throw this.#refuse('it is empty');
    const { believed, refused } = this.#order.end();
    this.#tell(records, believed, refused.length);
    return records;
  }

  #refuseWhenOver(): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    if (this.#hasEnded)
      throw new RuntimeError('INSPECTION_LOG_ENDED', 'expected no more of a log that has ended', {
        category: 'conflict',
        hint: 'Read each log with its own reader.',
      });
  }

  #keep(text: string): void {
    if (this.#isSkipping) return;
    this.#rest = this.#rest === '' ? text : this.#rest + text;
    if (this.#rest.length <= MAX_LINE_CHARACTERS) return;
    this.#isSkipping = true;
    this.#rest = '';
    // The end of the line may never come.
    if (this.#header === undefined) throw this.#refuse(TOO_LONG);
  }

  #endLine(records: InspectionRecord[]): void {
    const text = this.#rest;
    const isTooLong = this.#isSkipping;
    this.#rest = '';
    this.#isSkipping = false;
    this.#line += 1;
    if (isTooLong) this.#tooLong();
    else if (text.trim() !== '') this.#readLine(text, records);
  }

  #tooLong(): void {
    this.#notes.lines += 1;
    this.#notes.broken(this.#line, TOO_LONG);
  }

  #readLine(text: string, records: InspectionRecord[]): void {
    this.#notes.lines += 1;
    if (this.#header === undefined) {
      this.#header = this.#readHeader(text);
      return;
    }
    const stored = parsed(text);
    if (stored === undefined) return this.#notes.broken(this.#line, 'expected JSON');
    const read = readRecord(stored.value);
    if ('because' in read) return this.#notes.broken(this.#line, read.because);
    if ('unknownKind' in read)
      return read.unknownKind === SESSION_LINE
        ? this.#onSessionLine?.(readSessionLine(stored.value), text.length)
        : this.#notes.unknownKind(read.unknownKind);
    this.#notes.unknownFields(read.unknownFields);
    const { believed, refused } = this.#order.take(this.#texts.shared(read.record));
    this.#tell(records, believed, refused.length);
  }

  #tell(records: InspectionRecord[], believed: readonly InspectionRecord[], refused: number): void {
    this.#notes.outOfOrder += refused;
    for (const record of believed) {
      this.#notes.record(record.s);
      records.push(record);
    }
  }

  #readHeader(text: string): InspectionHeader {
    const first = parsed(text.startsWith('\uFEFF') ? text.slice(1) : text);
    if (first === undefined) throw this.#refuse('its first line is no JSON');
    const header = inspectionHeader.safeParse(first.value);
    if (header.success) return header.data;
    const { format } = (typeof first.value === 'object' && first.value !== null ? first.value : {}) as {
      readonly format?: unknown;
    };
    if (typeof format === 'string' && format !== INSPECTION_LOG_FORMAT)
      throw this.#refuse(`it says that it is "${beginningOf(format, 100)}"`);
    throw this.#refuse(`its first line is no header: ${describeIssues(header.error).join('; ')}`);
  }

  #refuse(because: string): RuntimeError {
    this.#refusal = new RuntimeError(
      'INSPECTION_LOG_REFUSED',
      `expected a log in the format ${INSPECTION_LOG_FORMAT}, which begins with its header: ${because}`,
      {
        category: 'validation',
        hint: 'Give what a recorder of this version wrote, from its first line on; a stored session is opened as a session.',
      },
    );
    return this.#refusal;
  }
}

/** `undefined`: it is no JSON. */
function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
