/**
 * Words that wait for a reader, within a bound: pieces of one kind become one, and what does not fit is dropped, which
 * `lost` says.
 */
import type { SessionWord } from '../../machines/words/session-word.ts';

/** Also of one piece. */
export const MAX_WAITING_CHARACTERS = 64_000;
const MAX_WAITING_WORDS = 256;

export class WaitingWords {
  #words: SessionWord[] = [];
  #characters = 0;

  get isEmpty(): boolean {
    return this.#words.length === 0;
  }

  shift(): SessionWord | undefined {
    const word = this.#words.shift();
    if (word?.type === 'said') this.#characters -= word.text.length;
    return word;
  }

  add(word: SessionWord): void {
    const last = this.#words.at(-1);
    if (word.type === 'said') this.#characters += word.text.length;
    if (word.type === 'said' && last?.type === 'said' && last.kind === word.kind)
      this.#words[this.#words.length - 1] = { ...last, text: last.text + word.text };
    else if (word.type !== 'lost' || last?.type !== 'lost') this.#words.push(word);
    if (this.#characters > MAX_WAITING_CHARACTERS || this.#words.length > MAX_WAITING_WORDS) this.#drop();
  }

  /** All but what the reader has to know to read on. */
  #drop(): void {
    const from = this.#words.findLastIndex(({ type }) => type === 'logged');
    const since = this.#words.slice(from + 1);
    const takenBack = since.find(({ type }) => type === 'taken_back');
    this.#words = [...this.#words.slice(from, from + 1), ...(takenBack === undefined ? [] : [takenBack])];
    if (since.length > 0) this.#words.push({ type: 'lost' });
    this.#characters = 0;
  }
}
