/**
 * A terminal that scrolls as terminals do, with a few lines at its end that are drawn anew: what is printed stands above
 * them for good, in the terminal's own history. Nothing takes the whole screen, so that it works over ssh and in tmux.
 */
import { Writable } from 'node:stream';
import { Output } from './output.ts';
import { displayWidth } from './text-width.ts';

export interface LiveLines {
  /** None is wider than the terminal. */
  readonly lines: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number };
}

/** As many times a second are changes drawn at most. */
const FRAME_MS = 33;

const CODES = new RegExp(`${String.fromCharCode(0x1b)}\\[[\\d;?]*[a-zA-Z]`, 'g');
const ERASE_SCREEN = '\u001B[2J\u001B[H';
const ERASE_BELOW = '\r\u001B[J';

export interface ScreenOptions {
  readonly out: Output;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What stands at the end, for a terminal of this size. */
  readonly live: (size: { readonly columns: number; readonly rows: number }) => LiveLines;
}

export class Screen {
  /** What is written there stands above the live lines, as soon as its line has ended. */
  readonly output: Output;
  readonly #options: ScreenOptions;
  #drawn: LiveLines | undefined;
  #unended = '';
  #timer: NodeJS.Timeout | undefined;
  #isOpen = false;

  constructor(options: ScreenOptions) {
    this.#options = options;
    this.output = new Output(this.#stream(), options.environment);
  }

  open(): void {
    this.#isOpen = true;
    this.#draw('');
  }

  /** Takes the live lines away; what is printed from then on just stands there. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearTimeout(this.#timer);
    void this.#options.out.push(`${this.#erased()}${this.#unended}`);
    this.#unended = '';
    this.#drawn = undefined;
  }

  /** Nothing is to be seen but the live lines; the history of the terminal stays. */
  wipe(): void {
    if (!this.#isOpen) return;
    this.#drawn = undefined;
    void this.#options.out.push(ERASE_SCREEN);
    this.#draw('');
  }

  /** Something of the live lines has changed. */
  changed(): void {
    if (!this.#isOpen || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#draw(''), FRAME_MS);
  }

  #print(text: string): void {
    if (!this.#isOpen) {
      void this.#options.out.push(text);
      return;
    }
    const all = `${this.#unended}${text}`;
    const end = all.lastIndexOf('\n') + 1;
    this.#unended = all.slice(end);
    if (end > 0) this.#draw(all.slice(0, end));
  }

  #draw(above: string): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#isOpen) return;
    const { out, live } = this.#options;
    const erased = this.#erased();
    const drawn = live({ columns: out.columns, rows: out.rows });
    const { lines, cursor } = drawn;
    const up = lines.length - 1 - cursor.row;
    const place = `\r${up > 0 ? `\u001B[${up}A` : ''}${cursor.column > 0 ? `\u001B[${cursor.column}C` : ''}`;
    void out.push(`${erased}${above.replaceAll('\n', '\r\n')}${lines.join('\r\n')}${place}`);
    this.#drawn = drawn;
  }

  /** A terminal that became narrower has broken the lines that were drawn. */
  #erased(): string {
    if (this.#drawn === undefined) return '';
    const { columns } = this.#options.out;
    const { lines, cursor } = this.#drawn;
    const rowsAbove = lines
      .slice(0, cursor.row)
      .reduce((sum, line) => sum + Math.max(1, Math.ceil(displayWidth(line.replaceAll(CODES, '')) / columns)), 0);
    const up = rowsAbove + Math.floor(cursor.column / columns);
    return `${up > 0 ? `\u001B[${up}A` : ''}${ERASE_BELOW}`;
  }

  #stream(): NodeJS.WriteStream {
    const { out } = this.#options;
    const stream = new Writable({
      decodeStrings: false,
      write: (chunk: string | Buffer, _encoding, done) => {
        this.#print(chunk.toString());
        done();
      },
    });
    Object.defineProperties(stream, {
      isTTY: { value: true },
      columns: { get: () => out.columns },
      rows: { get: () => out.rows },
    });
    // An output needs no more of a terminal than these.
    return stream as unknown as NodeJS.WriteStream;
  }
}
