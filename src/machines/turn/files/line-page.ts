/** One page of a text file as a model reads it: numbered lines, and remarks about what the lines do not show. */
import { MAX_LINE_CHARACTERS, MAX_READ_CHARACTERS } from './file-limits.ts';
import type { SplitLine } from './line-splitter.ts';

/** Width of a line's number; a longer one moves its line to the right. */
const NUMBER_WIDTH = 6;

export interface PageRequest {
  /** Counted from 1. */
  readonly offset: number;
  readonly limit: number;
}

export class LinePage {
  readonly #request: PageRequest;
  readonly #lines: string[] = [];
  #characters = 0;
  #seen = 0;
  #isFull = false;
  #hasMark = false;
  #hasReplacements = false;
  #paired = false;
  #bare = false;
  #lastEnding: SplitLine['ending'] = '\n';

  constructor(request: PageRequest) {
    this.#request = request;
  }

  /** Whether no line that follows is on this page; `add` then only counts. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Takes the next line of the file. */
  add(line: SplitLine): void {
    const { ending } = line;
    this.#seen += 1;
    if (ending === '\r\n') this.#paired = true;
    if (ending === '\n') this.#bare = true;
    this.#lastEnding = ending;
    const hasMark = this.#seen === 1 && line.text.startsWith('\uFEFF');
    if (hasMark) this.#hasMark = true;
    if (this.#isFull || this.#seen < this.#request.offset) return;
    const shown = `${String(this.#seen).padStart(NUMBER_WIDTH)}\t${shownLine(line, hasMark)}`;
    // A page has one line at least, or reading on would never come further.
    if (this.#lines.length > 0 && this.#characters + shown.length > MAX_READ_CHARACTERS) {
      this.#isFull = true;
      return;
    }
    this.#lines.push(shown);
    this.#characters += shown.length + 1;
    if (shown.includes('\uFFFD')) this.#hasReplacements = true;
    if (this.#lines.length === this.#request.limit) this.#isFull = true;
  }

  /** `isWhole` says whether every line of the file was added, so that the count is that of the file. */
  toText({ isWhole }: { readonly isWhole: boolean }): string {
    return [...this.#lines, ...Array.from(this.#remarks(isWhole), (remark) => `[${remark}]`)].join('\n');
  }

  *#remarks(isWhole: boolean): Generator<string> {
    const { offset } = this.#request;
    const last = offset + this.#lines.length - 1;
    const total = countOf(this.#seen);
    if (this.#seen === 0) yield 'The file is empty.';
    else if (this.#lines.length === 0) yield `The file has ${total}; line ${offset} is beyond its end.`;
    else if (!isWhole) yield `Lines ${offset} to ${last}; there are more. Read on with offset ${last + 1}.`;
    else if (last < this.#seen) yield `Lines ${offset} to ${last} of ${this.#seen}. Read on with offset ${last + 1}.`;
    else if (offset > 1) yield `This is the end of the file; it has ${total}.`;
    if (this.#hasMark) yield 'The file begins with a byte order mark, which is not shown.';
    if (this.#paired) yield this.#bare ? 'Some lines end in CRLF and some in LF.' : 'Lines end in CRLF.';
    if (isWhole && this.#seen > 0 && last >= this.#seen && this.#lastEnding === '')
      yield 'The last line does not end in a line break.';
    if (this.#hasReplacements) yield 'Bytes that are not UTF-8 are shown as \uFFFD.';
  }
}

function shownLine({ text, characters }: SplitLine, hasMark: boolean): string {
  const line = hasMark ? text.slice(1) : text;
  if (characters <= MAX_LINE_CHARACTERS) return line;
  return `${line} [… ${characters - MAX_LINE_CHARACTERS} more characters of this line are not shown]`;
}

function countOf(lines: number): string {
  return lines === 1 ? '1 line' : `${lines} lines`;
}
