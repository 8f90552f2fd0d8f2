/**
 * Pieces of a response as records: one JSON text a line, the first of them the header. What is no whole line is counted
 * and left out.
 */
import type { InspectionHeader, InspectionRecord } from '../../../machines/inspection-log/inspection-record.ts';

/** Of a line: more than a recorder writes, whose own limit comes with schemas that weigh more than the page. */
const MAX_CHARACTERS = 1_048_576;

export class RecordLines {
  header: InspectionHeader | undefined;
  /** Lines that were no JSON. */
  damaged = 0;
  readonly #decoder = new TextDecoder();
  #rest = '';

  read(piece: Uint8Array): readonly InspectionRecord[] {
    return this.#lines(this.#decoder.decode(piece, { stream: true }));
  }

  /** The response has ended; the last line may have no end. */
  end(): readonly InspectionRecord[] {
    return this.#lines(`${this.#decoder.decode()}\n`);
  }

  #lines(text: string): readonly InspectionRecord[] {
    const [first = '', ...others] = text.split('\n');
    // The beginning of a line that is too long is no JSON.
    const lines = [this.#rest.length > MAX_CHARACTERS ? this.#rest : this.#rest + first, ...others];
    this.#rest = lines.pop() ?? '';
    const records: InspectionRecord[] = [];
    for (const line of lines) {
      if (line === '') continue;
      const value = this.#parsed(line);
      if (value === undefined) continue;
      if (this.header === undefined) this.header = value as InspectionHeader;
      else records.push(value as InspectionRecord);
    }
    return records;
  }

  #parsed(line: string): unknown {
    try {
      return JSON.parse(line) as unknown;
    } catch {
      this.damaged += 1;
      return undefined;
    }
  }
}
