/** The log of a session and what comes beside it, as one iterator: the log decides when it ends. */
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionWord } from '../../machines/words/session-word.ts';

export type Told =
  | { readonly kind: 'event'; readonly value: SessionEvent }
  | { readonly kind: 'word'; readonly value: SessionWord };

/** As often as it comes, time has passed. */
export interface Tick {
  readonly kind: 'tick';
}

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

export async function* wordsOf(words: AsyncIterable<SessionWord>): AsyncGenerator<Told, void, undefined> {
  for await (const value of words) yield { kind: 'word', value };
}

/** Where several have something, the log comes first. */
export async function* merged<Beside extends Told | Tick>(
  events: AsyncIterable<SessionEvent>,
  ...others: readonly AsyncIterable<Beside>[]
): AsyncGenerator<Beside | Told, void, undefined> {
  let wake = (): void => undefined;
  const onNext = (): void => wake();
  const log = new Ahead(events, onNext);
  const beside = new Set(others.map((each) => new Ahead(each, onNext)));
  try {
    for (;;) {
      const hasCome = new Promise<void>((resolve) => (wake = resolve));
      const event = log.take();
      if (event !== undefined) {
        if ('end' in event) return;
        if ('thrown' in event) throw event.thrown;
        yield { kind: 'event', value: event.value };
        continue;
      }
      const found = firstOf(beside);
      if (found === undefined) await hasCome;
      else yield found.value;
    }
  } finally {
    log.end();
    for (const each of beside) each.end();
  }
}

/** What has ended or failed is no reason to end: what is said is in the log. */
function firstOf<Value>(sources: Set<Ahead<Value>>): { readonly value: Value } | undefined {
  for (const source of sources) {
    const next = source.take();
    if (next !== undefined && 'value' in next) return next;
    if (next !== undefined) sources.delete(source);
  }
  return undefined;
}
