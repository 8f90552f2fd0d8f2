/** The words of one session as they come from other processes: from one at a time, and with none missing. */
import type { OnWord } from '../../actors/words/word-channel.ts';
import { decodeWords } from './word-payload.ts';

/** A speaker in the middle of a step is heard at least at each poll; one that was not for so many is gone. */
const MAX_SILENT_POLLS = 2;

export class FollowedWords {
  readonly #onWord: OnWord;
  /** Where it listens, once that is known. */
  channel: string | undefined;
  #speaker = '';
  /** Of its last message. */
  #number = 0;
  /** Whether something was said that the log does not have. */
  #isOpen = false;
  #silentPolls = 0;
  #isClosed = false;

  constructor(onWord: OnWord) {
    this.#onWord = onWord;
  }

  close(): void {
    this.#isClosed = true;
  }

  hear(payload: string): void {
    const [, by = '', number = '', told = ''] = /^(\S+) (\d+) (.*)$/s.exec(payload) ?? [];
    const words = decodeWords(told);
    if (this.#isClosed || words === undefined || (by !== this.#speaker && words.length === 0)) return;
    this.#silentPolls = 0;
    const isNext = by === this.#speaker && Number(number) === this.#number + 1;
    // Another one speaks, or it tells anew what was said so far.
    if (by !== this.#speaker || number === '1') this.#takeBack();
    if (!isNext && number !== '1') this.#onWord({ type: 'lost' });
    this.#speaker = by;
    this.#number = Number(number);
    for (const word of words) {
      if (word.type !== 'progress') this.#isOpen = word.type === 'said';
      this.#onWord(word);
    }
  }

  /** A process that dies says nothing. */
  poll(): void {
    if (!this.#isOpen || this.#isClosed) return;
    this.#silentPolls += 1;
    if (this.#silentPolls > MAX_SILENT_POLLS) this.#takeBack();
  }

  /** What was said comes to nothing, as far as can be told from here. */
  #takeBack(): void {
    if (this.#isOpen) this.#onWord({ type: 'taken_back' });
    this.#isOpen = false;
    this.#speaker = '';
  }
}
