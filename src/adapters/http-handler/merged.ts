/** The log of a session and what is said in it meanwhile, as one iterator: the log decides when it ends. */
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionWord } from '../../machines/words/session-word.ts';

export type Told =
  | { readonly kind: 'event'; readonly value: SessionEvent }
  | { readonly kind: 'word'; readonly value: SessionWord };

type Next<Value> = { readonly value: Value } | { readonly end: true } | { readonly thrown: unknown };

/** An iterator whose next value is asked for before it is needed, and kept until it is taken. */
class Ahead<Value> {
  readonly #source: AsyncIterator<Value>;
  readonly #onNext: () => void;
  #next: Next<Value> | undefined;
  #isAsked = false;

  constructor(source: AsyncIterable<Value>, onNext: () => void) {
    this.#source = source[Symbol.asyncIterator]();
    this.#onNext = onNext;
  }

  /** What has come. Undefined: nothing yet; `onNext` is called when it has. */
  take(): Next<Value> | undefined {
    const next = this.#next;
    this.#next = undefined;
    if (next === undefined && !this.#isAsked) this.#ask();
    return next;
  }

  end(): void {
    void this.#source.return?.().then(undefined, () => undefined);
  }

  #ask(): void {
    this.#isAsked = true;
    const come = (next: Next<Value>): void => {
      this.#isAsked = false;
      this.#next = next;
      this.#onNext();
    };
    this.#source.next().then(
      ({ done, value }) => come(done === true ? { end: true } : { value }),
      (thrown: unknown) => come({ thrown }),
    );
  }
}

/** Where both have something, the log comes first. */
export async function* merged(
  events: AsyncIterable<SessionEvent>,
  words: AsyncIterable<SessionWord> | undefined,
): AsyncGenerator<Told, void, undefined> {
  let wake = (): void => undefined;
  const onNext = (): void => wake();
  const log = new Ahead(events, onNext);
  let said = words === undefined ? undefined : new Ahead(words, onNext);
  try {
    for (;;) {
      const hasCome = new Promise<void>((resolve) => (wake = resolve));
      const event = log.take();
      const word = event === undefined ? said?.take() : undefined;
      if (event === undefined && word === undefined) await hasCome;
      else if (event !== undefined) {
        if ('end' in event) return;
        if ('thrown' in event) throw event.thrown;
        yield { kind: 'event', value: event.value };
      } else if (word !== undefined && 'value' in word) yield { kind: 'word', value: word.value };
      // Words that have ended or failed are no reason to end: what is said is in the log.
      else said = undefined;
    }
  } finally {
    log.end();
    said?.end();
  }
}
