/** The little of Markdown that helps to read an answer at a terminal; everything else stands as it was written. */
import type { Styles } from '../terminal/styles.ts';
import { printable } from '../terminal/text.ts';
import { broken, wrapped } from '../terminal/text-width.ts';

/** What stands between the two ends of a mark, on one line. */
const MARKED = /(`+)(?<code>[^`]+)\1|\*\*(?<bold>[^*\s](?:[^*]*[^*\s])?)\*\*/gu;

const FENCE = /^\s*(?:```|~~~)/u;
const HEADING = /^#{1,6}\s+\S/u;
const ITEM = /^(?<indent>\s*)(?<mark>[-*+]|\d{1,3}[.)])\s+(?=\S)/u;

/** One text that is given in pieces, each of whole lines. */
export class Markdown {
  #isCode = false;

  /** Lines of at most `width` places. */
  lines(text: string, width: number, styles: Styles): string[] {
    return printable(text)
      .replaceAll('\t', '  ')
      .replace(/\n$/, '')
      .split('\n')
      .flatMap((line) => this.#line(line, width, styles));
  }

  #line(line: string, width: number, styles: Styles): string[] {
    const isFence = FENCE.test(line);
    if (isFence) this.#isCode = !this.#isCode;
    if (isFence) return [styles.dim(broken(line, width)[0] ?? '')];
    // Code is not broken between its words: what is copied has to stay what it is.
    if (this.#isCode) return broken(line, width).map((each) => styles.cyan(each));
    if (HEADING.test(line)) return wrapped(line, width).map((each) => styles.bold(each));
    const item = ITEM.exec(line)?.[0] ?? '';
    const hanging = Math.min(item.length, Math.floor(width / 2));
    const [first = '', ...rest] = wrapped(line, width);
    const below = rest.length === 0 ? [] : wrapped(line.slice(first.length).trimStart(), width - hanging);
    return [first, ...below.map((each) => `${' '.repeat(hanging)}${each}`)].map((each) => styled(each, styles));
  }
}

/** The marks go where their style can be seen, and stay where there is none. */
function styled(line: string, styles: Styles): string {
  return line.replaceAll(MARKED, (marked: string, ...found: unknown[]) => {
    const { code, bold } = found.at(-1) as { readonly code?: string; readonly bold?: string };
    const text = code === undefined ? styles.bold(bold ?? '') : styles.cyan(code);
    return text === (code ?? bold) ? marked : text;
  });
}
