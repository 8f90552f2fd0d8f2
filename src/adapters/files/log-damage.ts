/**
 * Finds what in a file of a log is no record, and tells a write that was cut off from a record that was there and is
 * damaged.
 *
 * A crash or a full disk leaves the beginning of a record: an append that failed, or whose writer died before it
 * acknowledged it. When its writer lived on and another process's record came in between, the rest stands on a later
 * line, and both parts together make a whole record.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { MAX_RECORD_BYTES } from '../../machines/session/limits.ts';
import { openToRead } from './file-operations.ts';
import type { ReadableFile } from './file-operations.ts';
import { scanLines } from './line-scanner.ts';
import { decodeLine } from './record-codec.ts';

/** A line of a log that is no record, or bytes at its end that are no line. */
export interface DamagedPlace {
  readonly file: string;
  /** In bytes, from the start of the file. */
  readonly offset: number;
  readonly length: number;
  /** A write that was cut off, or a part of one. It was never acknowledged as being on the disk. */
  readonly isTornWrite: boolean;
  /** Whether the file ends with it. */
  readonly isAtEnd: boolean;
}

/** How long a line without its end is given to come to one: a process may be writing it at this moment. */
const WRITE_GRACE_MS = 20;
const MAX_CHECKS = 10;

/** Beginnings whose rest may follow that are remembered. */
const MAX_BEGINNINGS = 8;

/** As far as it is the same for all records; a zero stands for any hexadecimal digit. */
const HEADER = '{"crc":"00000000","len":';
const CRC_START = 8;
const CRC_DIGITS = 8;
const AFTER_LENGTH = ',"record":';
const LONGEST_HEADER = HEADER.length + AFTER_LENGTH.length + 10;

/** @throws what the system says when the file cannot be read */
export async function damageIn(path: string): Promise<DamagedPlace[]> {
  const log = await openToRead(path);
  try {
    return await new DamageSearch(path, log).run();
  } finally {
    await log.close();
  }
}

class DamageSearch {
  readonly #path: string;
  readonly #log: ReadableFile;
  readonly #places: DamagedPlace[] = [];
  #beginnings: Buffer[] = [];

  constructor(path: string, log: ReadableFile) {
    this.#path = path;
    this.#log = log;
  }

  async run(): Promise<DamagedPlace[]> {
    let read = 0;
    let size = await this.#log.size();
    for (let checks = 1; ; checks += 1) {
      read = await this.#lines(read, size);
      if (read === size || checks === MAX_CHECKS) break;
      await pause(WRITE_GRACE_MS);
      const now = await this.#log.size();
      if (now === size) break;
      size = now;
    }
    if (read < size) await this.#end(read, size - read);
    return this.#places;
  }

  /** @returns where the first line begins that has not ended */
  async #lines(from: number, to: number): Promise<number> {
    let read = from;
    for await (const { lines, end } of scanLines(this.#log, from, to)) {
      for (const { bytes, start, end: next } of lines) {
        if (bytes !== undefined && decodeLine(bytes) !== undefined) continue;
        this.#note({
          offset: start,
          length: next - start,
          isTornWrite: bytes !== undefined && this.#isTorn(bytes),
          isAtEnd: false,
        });
      }
      read = end;
    }
    return read;
  }

  async #end(offset: number, length: number): Promise<void> {
    const bytes = length > MAX_RECORD_BYTES ? undefined : await this.#log.read(offset, length);
    const isTornWrite = bytes !== undefined && (decodeLine(bytes) !== undefined || this.#isTorn(bytes));
    this.#note({ offset, length, isTornWrite, isAtEnd: true });
  }

  #isTorn(line: Buffer): boolean {
    if (isBeginningOfRecord(line)) {
      this.#beginnings = [...this.#beginnings.slice(1 - MAX_BEGINNINGS), Buffer.from(line)];
      return true;
    }
    const whole = this.#beginnings.findIndex((beginning) => decodeLine(Buffer.concat([beginning, line])) !== undefined);
    if (whole === -1) return false;
    this.#beginnings.splice(whole, 1);
    return true;
  }

  #note(place: Omit<DamagedPlace, 'file'>): void {
    this.#places.push({ file: this.#path, ...place });
  }
}

/** Whether a record could go on behind these bytes, and has to. */
export function isBeginningOfRecord(line: Buffer): boolean {
  const text = line.toString('latin1', 0, LONGEST_HEADER);
  const crc = text.slice(CRC_START, CRC_START + CRC_DIGITS).replaceAll(/[0-9a-f]/g, '0');
  if (text.length <= HEADER.length)
    return HEADER.startsWith(text.slice(0, CRC_START) + crc + text.slice(CRC_START + CRC_DIGITS));
  const [, beforeRecord, digits, rest] = /^(\{"crc":"[0-9a-f]{8}","len":([1-9]\d{0,9}))(.*)$/s.exec(text) ?? [];
  if (beforeRecord === undefined || digits === undefined || rest === undefined) return false;
  if (!rest.startsWith(AFTER_LENGTH)) return AFTER_LENGTH.startsWith(rest);
  const wholeLength = beforeRecord.length + AFTER_LENGTH.length + Number(digits) + 1;
  // A whole JSON object goes on nowhere: then it is the length that is wrong.
  return wholeLength <= MAX_RECORD_BYTES && line.length < wholeLength && !isJson(line);
}

function isJson(line: Buffer): boolean {
  try {
    JSON.parse(line.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}
