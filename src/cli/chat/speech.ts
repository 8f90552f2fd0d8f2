/**
 * What the agent says while it says it. Each line is printed for good once it is whole, the one that is being said
 * stands at the end of the screen; the log has the last word: what it holds is what was said.
 */
export interface Said {
  /** Which model step says it. */
  readonly runId: string;
  readonly kind: 'text' | 'reasoning';
  readonly text: string;
}

interface Passage extends Said {
  /** Characters of it that are printed. */
  readonly printed: number;
}

/** What the model says to the runtime is no words for people. */
const DIRECTIVE = /^[ \t]*```wakechart-directive[^]*/m;

/** Characters of a passage that are kept; the log holds all of it. */
const MAX_CHARACTERS = 200_000;

export class Speech {
  /** In the order in which they were said; the first is on the screen. */
  #passages: Passage[] = [];

  /** @returns whole lines that have to be printed now */
  hear(said: Said): string {
    const last = this.#passages.at(-1);
    if (last?.runId === said.runId && last.kind === said.kind)
      this.#passages[this.#passages.length - 1] = { ...last, text: `${last.text}${said.text}`.slice(0, MAX_CHARACTERS) };
    else this.#passages.push({ ...said, printed: 0 });
    return this.#wholeLines();
  }

  /** An attempt has failed: what it said was not said. @returns whether some of it is printed */
  takeBack(runId: string): boolean {
    const taken = this.#passages.filter((passage) => passage.runId === runId);
    this.#passages = this.#passages.filter((passage) => passage.runId !== runId);
    return taken.some(({ printed }) => printed > 0);
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
    if (first === undefined) return undefined;
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
