/**
 * The words of a session on their way to one follower: without secrets, also those that come in pieces, and without
 * what a model says to the runtime.
 */
import { marginOf } from '../../machines/vault/text-redaction.ts';
import type { TextRedaction } from '../../machines/vault/text-redaction.ts';
import { SpokenText } from '../../machines/words/spoken-text.ts';
import type { PieceRedaction } from '../../machines/vault/secret-redaction.ts';
import type { LivePart, LiveWords } from './live-words.ts';
import type { SessionWord } from '../../machines/words/session-word.ts';
import type { OnWord } from './word-channel.ts';

export interface TellOptions {
  readonly live: Pick<LiveWords, 'follow' | 'of'>;
  readonly sessionId: string;
  readonly redact: TextRedaction | undefined;
  /** Whose: those of this process, or of all. */
  readonly of: 'here' | 'everywhere';
}

/** Tells what was said of the step so far, then each word that comes. @returns leaves; idempotent */
export function tellWords({ live, sessionId, redact, of }: TellOptions, onWord: OnWord): () => void {
  const told = new ToldWords(redact, onWord);
  const speech = live.of(sessionId, of);
  if (speech !== undefined && speech.loggedAfter === undefined) {
    if (speech.isTorn) told.begin({ isTorn: true });
    for (const part of speech.parts) told.hear({ type: 'said', ...part });
  }
  for (const call of speech?.calls ?? []) told.hear({ type: 'progress', ...call });
  return live.follow(sessionId, (word) => told.hear(word), of);
}

interface OpenPart {
  readonly kind: LivePart['kind'];
  readonly secrets: PieceRedaction<string> | undefined;
  readonly spoken: Pick<SpokenText, 'add' | 'end'>;
}

class ToldWords {
  readonly #redact: TextRedaction | undefined;
  readonly #onWord: OnWord;
  #open: OpenPart | undefined;
  /** Of what comes next: it may begin with the rest of a secret. */
  #leftOut = 0;

  constructor(redact: TextRedaction | undefined, onWord: OnWord) {
    this.#redact = redact;
    this.#onWord = onWord;
  }

  begin({ isTorn }: { readonly isTorn: boolean }): void {
    this.#open = undefined;
    this.#leftOut = isTorn && this.#redact !== undefined && this.#redact.longest?.() !== 0 ? marginOf(this.#redact) : 0;
    if (isTorn) this.#onWord({ type: 'lost' });
  }

  hear(word: SessionWord): void {
    try {
      this.#hear(word);
    } catch {
      // A redaction that throws costs the text.
      this.begin({ isTorn: true });
    }
  }

  #hear(word: SessionWord): void {
    switch (word.type) {
      case 'said':
        return this.#say(word);
      case 'taken_back':
        this.begin({ isTorn: false });
        return this.#onWord(word);
      case 'logged':
        this.#end();
        this.begin({ isTorn: false });
        return this.#onWord(word);
      case 'progress':
        return this.#onWord(this.#progress(word));
      case 'lost':
        return this.begin({ isTorn: true });
    }
  }

  #say({ kind, text }: LivePart): void {
    if (this.#open?.kind !== kind) this.#end();
    this.#open ??= {
      kind,
      secrets: this.#redact === undefined ? undefined : piecesOf(this.#redact),
      spoken: kind === 'text' ? new SpokenText() : AS_IT_IS,
    };
    const { secrets, spoken } = this.#open;
    this.#tell(kind, spoken.add(this.#whole(secrets?.add(text) ?? text)));
  }

  /** A part is over: what was kept back of it is told. */
  #end(): void {
    if (this.#open === undefined) return;
    const { kind, secrets, spoken } = this.#open;
    this.#open = undefined;
    this.#tell(kind, spoken.add(this.#whole(secrets?.end() ?? '')) + spoken.end());
  }

  #whole(text: string): string {
    if (this.#leftOut === 0) return text;
    const whole = text.slice(this.#leftOut);
    this.#leftOut -= text.length - whole.length;
    return whole;
  }

  #tell(kind: LivePart['kind'], text: string): void {
    if (text !== '') this.#onWord({ type: 'said', kind, text });
  }

  #progress(word: Extract<SessionWord, { readonly type: 'progress' }>): SessionWord {
    const redact = this.#redact;
    if (redact === undefined) return word;
    const { message, ...share } = word.progress;
    const progress = message === undefined ? share : { ...share, message: redact(message) };
    return { ...word, name: redact(word.name), progress };
  }
}

const AS_IT_IS: OpenPart['spoken'] = { add: (piece) => piece, end: () => '' };

function piecesOf(redact: TextRedaction): PieceRedaction<string> {
  return redact.pieces?.() ?? new WordByWord(redact);
}

/** For a redaction that knows nothing of pieces: none of what it takes out has white space in it. */
class WordByWord implements PieceRedaction<string> {
  readonly #redact: TextRedaction;
  #last = '';

  constructor(redact: TextRedaction) {
    this.#redact = redact;
  }

  add(piece: string): string {
    const text = this.#last + piece;
    const length = /\S*$/.exec(piece)?.[0].length ?? 0;
    const until = length === piece.length ? 0 : text.length - length;
    this.#last = text.slice(until);
    return this.#redact(text.slice(0, until));
  }

  end(): string {
    return this.#redact(this.#last);
  }
}
