/** What a search found, as a model reads it: each file with the lines that match and those around them. */
import { cutText } from '../../cut-text.ts';
import { MAX_GREP_CHARACTERS, MAX_GREP_SHOWN_LINE_CHARACTERS } from './file-limits.ts';
import { shownPath } from './file-path.ts';

export interface GrepReportOptions {
  readonly filesOnly: boolean;
  /** Lines before and after each match. */
  readonly context: number;
  readonly maxMatches: number;
}

interface NumberedLine {
  readonly number: number;
  readonly text: string;
}

export interface FoundLine extends NumberedLine {
  /** Where in the text the match begins; undefined for a line that does not match. */
  readonly matchAt: number | undefined;
}

export class GrepReport {
  readonly #options: GrepReportOptions;
  readonly #lines: string[] = [];
  #characters = 0;
  #matches = 0;
  #isFull = false;
  #fileName = '';
  #isFileNamed = false;
  #lastShown = 0;
  #owedContext = 0;
  #before: NumberedLine[] = [];

  constructor(options: GrepReportOptions) {
    this.#options = options;
  }

  /** Whether no more can be taken: what was found so far is all there will be. */
  get isFull(): boolean {
    return this.#isFull;
  }

  beginFile(path: string): void {
    this.#fileName = shownPath(path);
    this.#isFileNamed = false;
    this.#lastShown = 0;
    this.#owedContext = 0;
    this.#before = [];
  }

  /** Takes the next line of the file. Says whether more lines of this file are of interest. */
  add({ number, text, matchAt }: FoundLine): boolean {
    if (matchAt === undefined) {
      this.#addOther({ number, text });
      return !this.#isFull;
    }
    if (this.#matches >= this.#options.maxMatches) this.#isFull = true;
    if (this.#isFull) return false;
    this.#matches += 1;
    if (!this.#isFileNamed)
      this.#print(this.#lines.length > 0 && !this.#options.filesOnly ? `\n${this.#fileName}` : this.#fileName);
    this.#isFileNamed = true;
    if (this.#options.filesOnly) return false;
    this.#printMatch({ number, text, matchAt });
    return !this.#isFull;
  }

  /** `remarks` say what was not searched. */
  toText(remarks: readonly string[]): string {
    const what = this.#options.filesOnly ? 'files' : 'lines';
    const end = this.#isFull
      ? [
          `There is more than the ${this.#matches} matching ${what} shown here. Narrow the search by path, glob or pattern.`,
        ]
      : [];
    const none = this.#matches === 0 ? [`No ${what === 'files' ? 'file' : 'line'} matches.`] : [];
    return [...this.#lines, ...[...none, ...end, ...remarks].map((remark) => `[${remark}]`)].join('\n');
  }

  #addOther(line: NumberedLine): void {
    if (this.#options.context === 0 || this.#options.filesOnly) return;
    if (this.#owedContext > 0) {
      this.#owedContext -= 1;
      this.#printLine(line, '-');
      return;
    }
    this.#before.push(line);
    if (this.#before.length > this.#options.context) this.#before.shift();
  }

  #printMatch({ number, text, matchAt }: NumberedLine & { readonly matchAt: number }): void {
    const first = this.#before[0]?.number ?? number;
    if (this.#options.context > 0 && this.#lastShown > 0 && first > this.#lastShown + 1) this.#print('--');
    for (const line of this.#before) this.#printLine(line, '-');
    this.#before = [];
    this.#owedContext = this.#options.context;
    this.#printLine({ number, text: windowOf(text, matchAt) }, ':');
  }

  #printLine({ number, text }: NumberedLine, mark: ':' | '-'): void {
    this.#print(`${number}${mark}${cutText(text, MAX_GREP_SHOWN_LINE_CHARACTERS)}`);
    this.#lastShown = number;
  }

  #print(line: string): void {
    if (this.#characters + line.length > MAX_GREP_CHARACTERS) this.#isFull = true;
    if (this.#isFull) return;
    this.#lines.push(line);
    this.#characters += line.length + 1;
  }
}

/** A long line from a little before its match. */
function windowOf(text: string, matchAt: number): string {
  const lead = Math.floor(MAX_GREP_SHOWN_LINE_CHARACTERS / 4);
  return text.length <= MAX_GREP_SHOWN_LINE_CHARACTERS || matchAt <= lead ? text : `…${text.slice(matchAt - lead)}`;
}
