/**
 * What a model says in one step: in words, as it says them, and then in the log. The log counts. Words that are
 * missing, or were said in vain, are put right when it says what was said.
 */
import type { SessionWord } from '../../machines/words/session-word.ts';
import type { SpeechKind, TurnPart } from './turn-part.ts';

type SpokenWord = Exclude<SessionWord, { readonly type: 'progress' }>;

interface Speech {
  readonly kind: SpeechKind;
  readonly id: string;
  text: string;
}

export class SpokenStep {
  readonly #id: string;
  /** What the log says of this step, told whole. */
  readonly #stored: TurnPart[] = [];
  /** What was said and is in no event yet, in the order in which it was said; the last one may go on. */
  #said: Speech[] = [];
  #parts = 0;
  /** What is said from here on is stored behind this event: it waits until that is told. */
  #loggedAfter: number | undefined;
  #isDeaf = false;
  #hasEnded = false;
  /** Words that came before what they follow was told. */
  #held: SpokenWord[] = [];

  readonly #since: number;

  /** @param begun which step it is, and the event that says that it began. Undefined: none has begun yet */
  constructor(begun?: { readonly id: string; readonly seq: number }) {
    this.#id = begun?.id ?? '';
    this.#since = begun?.seq ?? 0;
    this.#hasEnded = begun === undefined;
  }

  hear(word: SpokenWord): readonly TurnPart[] {
    if (this.#hasEnded || (this.#loggedAfter !== undefined && word.type !== 'taken_back')) {
      if (word.type === 'taken_back') this.#held = [];
      else this.#held.push(word);
      return [];
    }
    switch (word.type) {
      case 'said':
        return this.#isDeaf ? [] : this.#say(word.kind, word.text);
      case 'taken_back':
        return this.takeBack();
      case 'logged':
        // Words of an earlier step that came late.
        if (word.after < this.#since) return this.takeBack();
        if (this.#said.length > 0) this.#loggedAfter = word.after;
        else this.#isDeaf = false;
        return [];
      case 'lost':
        // From here on there is a gap: the rest of the step is told by the log.
        this.#isDeaf = true;
        return [];
    }
  }

  /** The log says what was said. */
  store(kind: SpeechKind, text: string, seq: number): readonly TurnPart[] {
    const [first] = this.#said;
    if (first === undefined) return this.#tell(this.#whole(kind, text));
    if (first.kind !== kind || !text.startsWith(first.text)) {
      const id = this.#nextId();
      return [...this.#retold(), ...this.#tell(this.#whole(kind, text, id))];
    }
    this.#said.shift();
    const rest = text.slice(first.text.length);
    const { id } = first;
    const more: readonly TurnPart[] = rest === '' ? [] : [{ type: 'speech', kind, id, text: rest }];
    // Those before the last one have been ended already.
    const end: readonly TurnPart[] = this.#said.length === 0 ? [{ type: 'speech-ended', kind, id }] : [];
    if (more.length > 0 && this.#said.length > 0) {
      // A part that is over cannot be added to.
      this.#stored.push(...this.#whole(kind, text, id));
      return this.#retold();
    }
    this.#stored.push(...this.#whole(kind, text, id));
    return [...more, ...end, ...this.#release(seq)];
  }

  /** Calls, and what came of them. */
  keep(parts: readonly TurnPart[], seq: number): readonly TurnPart[] {
    if (parts.length === 0) return [];
    if (!this.#hasEnded) this.#stored.push(...parts);
    return [...parts, ...this.#release(seq)];
  }

  takeBack(): readonly TurnPart[] {
    this.#isDeaf = false;
    this.#loggedAfter = undefined;
    return this.#said.length === 0 ? [] : this.#retold();
  }

  end(seq: number): readonly TurnPart[] {
    const parts = this.#said.length === 0 ? [] : this.#retold();
    this.#loggedAfter = undefined;
    const released = this.#release(seq);
    this.#hasEnded = true;
    return [...parts, ...released];
  }

  /** Another step begins: what was said by this one, and is in no event, does not count. */
  next(begun: { readonly id: string; readonly seq: number }): {
    readonly step: SpokenStep;
    readonly parts: readonly TurnPart[];
  } {
    const parts = this.#said.length === 0 ? [] : this.#retold();
    const step = new SpokenStep(begun);
    // What an earlier step has said and logged came late.
    const late = this.#held.findLastIndex((word) => word.type === 'logged' && word.after < begun.seq);
    const heard = this.#held.slice(late + 1).flatMap((word) => step.hear(word));
    return { step, parts: [...parts, { type: 'step-started' }, ...heard] };
  }

  #say(kind: SpeechKind, text: string): readonly TurnPart[] {
    if (text === '') return [];
    const last = this.#said.at(-1);
    if (last?.kind === kind) {
      last.text += text;
      return [{ type: 'speech', kind, id: last.id, text }];
    }
    const speech = { kind, id: this.#nextId(), text };
    this.#said.push(speech);
    return [
      ...(last === undefined ? [] : [{ type: 'speech-ended', kind: last.kind, id: last.id } as const]),
      { type: 'speech-started', kind, id: speech.id },
      { type: 'speech', kind, id: speech.id, text },
    ];
  }

  #nextId(): string {
    this.#parts += 1;
    return `${this.#id}-${this.#parts}`;
  }

  #whole(kind: SpeechKind, text: string, id = this.#nextId()): readonly TurnPart[] {
    return [
      { type: 'speech-started', kind, id },
      { type: 'speech', kind, id, text },
      { type: 'speech-ended', kind, id },
    ];
  }

  #tell(parts: readonly TurnPart[]): readonly TurnPart[] {
    this.#stored.push(...parts);
    return parts;
  }

  #retold(): readonly TurnPart[] {
    this.#said = [];
    return [{ type: 'step-taken-back' }, ...this.#stored];
  }

  #release(seq: number): readonly TurnPart[] {
    if (this.#said.length > 0 || (this.#loggedAfter !== undefined && seq <= this.#loggedAfter)) return [];
    this.#loggedAfter = undefined;
    this.#isDeaf = false;
    const held = this.#held;
    this.#held = [];
    return held.flatMap((word) => this.hear(word));
  }
}
