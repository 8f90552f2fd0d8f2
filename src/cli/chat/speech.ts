/**
 * What the agent says while it says it. Each line is printed for good once it is whole, the one that is being said
 * stands at the end of the screen; the log has the last word: what it holds is what was said.
 */
import { beginningOf } from '../../machines/cut-text.ts';

export interface Said {
  readonly kind: 'text' | 'reasoning';
  readonly text: string;
}

interface Passage extends Said {
  /** Characters of it that are printed. */
  readonly printed: number;
  /** The step that said it is over. */
  readonly isOver: boolean;
  /** Something of it was not heard: nothing more of it is shown before it is in the log. */
  readonly isTorn: boolean;
  /** Its attempt has failed. It counts as not said, unless the log keeps it as what was cut short. */
  readonly isTakenBack: boolean;
}

const NEW = { printed: 0, isOver: false, isTorn: false, isTakenBack: false } as const;

/** What the model says to the runtime is no words for people. */
const DIRECTIVE = /^[ \t]*```wakechart-directive[^]*/m;

/** Characters of a passage that are kept; the log holds all of it. */
const MAX_CHARACTERS = 200_000;

export class Speech {
  /** In the order in which they were said; the first is on the screen. */
  #passages: Passage[] = [];

  /** @returns whole lines that have to be printed now, and whether what is printed before them was taken back */
  hear(said: Said): { readonly whole: string; readonly isAfresh: boolean } {
    const isAfresh = this.#passages.some(({ isTakenBack }) => isTakenBack);
    this.#passages = this.#passages.filter(({ isTakenBack }) => !isTakenBack);
    this.#add(said);
    return { whole: this.#wholeLines(), isAfresh };
  }

  #add(said: Said): void {
    const last = this.#passages.at(-1);
    if (last?.isOver === false && last.kind === said.kind) {
      if (last.isTorn) return;
      const text = beginningOf(`${last.text}${said.text}`, MAX_CHARACTERS);
      this.#passages[this.#passages.length - 1] = { ...last, text };
    } else this.#passages.push({ ...said, ...NEW });
  }

  /** An attempt has failed: what it said was not said. */
  takeBack(): void {
    this.#passages = this.#passages
      .filter(({ isOver, printed }) => isOver || printed > 0)
      .map((passage) => (passage.isOver ? passage : { ...passage, isOver: true, isTorn: true, isTakenBack: true }));
  }

  /** The step is over, and the log tells of it. @param isTold whether it has been told already */
  over(isTold: boolean): void {
    this.#passages = this.#passages
      .filter(({ isOver }) => isOver || !isTold)
      .map((passage) => ({ ...passage, isOver: true }));
  }

  /** Words were lost here. */
  tear(): void {
    this.#passages = this.#passages.map((passage) => (passage.isOver ? passage : { ...passage, isTorn: true }));
    if (this.#passages.at(-1)?.isOver !== false) this.#passages.push({ kind: 'text', text: '', ...NEW, isTorn: true });
  }

  /** The log holds a message. @returns what of it is still to be printed, and whether what is printed was something else */
  told(text: string): { readonly rest: string; readonly isOther: boolean } {
    const index = this.#passages.findIndex(({ kind }) => kind === 'text');
    const passage = this.#passages[index];
    if (passage === undefined) return { rest: text.trim(), isOther: false };
    this.#passages = this.#passages.slice(index + 1);
    if (passage.printed === 0) return { rest: text.trim(), isOther: false };
    const printed = spoken(passage).slice(0, passage.printed);
    const whole = text.trim();
    return whole.startsWith(printed.trimEnd())
      ? { rest: whole.slice(printed.length).replace(/^\n+/, ''), isOther: false }
      : { rest: whole, isOther: true };
  }

  /** The log holds a thought. */
  thought(): void {
    if (this.#passages[0]?.kind === 'reasoning') this.#passages.shift();
  }

  /** The wake is over: what was said is in the log, or was not said. */
  end(): void {
    this.#passages = [];
  }

  /** What is being said, as far as it is not printed. */
  get current(): { readonly kind: Said['kind']; readonly text: string } | undefined {
    const [first] = this.#passages;
    if (first === undefined || first.isTorn) return undefined;
    const text = spoken(first).slice(first.printed).replace(/^\n+/, '');
    return text === '' ? undefined : { kind: first.kind, text };
  }

  /** Thoughts are folded when they are in the log, so none is printed before. */
  #wholeLines(): string {
    const [first] = this.#passages;
    if (first?.kind !== 'text') return '';
    const text = spoken(first);
    // Of the line that may begin a word to the runtime nothing is printed, nor an empty line that nothing follows.
    const end = text.trimEnd().lastIndexOf('\n') + 1;
    if (end <= first.printed) return '';
    this.#passages[0] = { ...first, printed: end };
    return text.slice(first.printed, end);
  }
}

function spoken({ text }: Passage): string {
  return text.replace(DIRECTIVE, '').trimStart();
}
