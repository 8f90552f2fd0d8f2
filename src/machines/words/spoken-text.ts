/** What a model says in pieces, without the directive at its end: what it says to the runtime is no words for people. */
import { DIRECTIVE_FENCE } from '../wake/directive.ts';

const DIRECTIVE = new RegExp(`^[ \\t]*${DIRECTIVE_FENCE}`, 'm');

export class SpokenText {
  /** A line that may be the first of a directive. */
  #held = '';
  #isLineStart = true;
  #isOver = false;

  /** What can be told of it so far. */
  add(piece: string): string {
    if (this.#isOver) return '';
    const text = this.#held + piece;
    const from = this.#isLineStart ? 0 : text.indexOf('\n') + 1;
    // In the middle of a line, which does not end here.
    if (from === 0 && !this.#isLineStart) return text;
    const found = DIRECTIVE.exec(text.slice(from));
    if (found !== null) {
      this.#isOver = true;
      return text.slice(0, from + found.index);
    }
    const lastLine = Math.max(from, text.lastIndexOf('\n') + 1);
    const isUnsure = DIRECTIVE_FENCE.startsWith(text.slice(lastLine).replace(/^[ \t]+/, ''));
    this.#held = isUnsure ? text.slice(lastLine) : '';
    this.#isLineStart = isUnsure;
    return isUnsure ? text.slice(0, lastLine) : text;
  }

  /** What was kept back: no more pieces come. */
  end(): string {
    return this.#isOver ? '' : this.#held;
  }
}
