/**
 * Whether a person watches. Browsers have six connections to one server for all their tabs together, and each recording
 * that is followed takes one: what is not watched is left alone for a while, and caught up with when it is watched
 * again.
 */

/** Going back and forth costs nothing. */
const UNWATCHED_MS = 3_000;
const HIDDEN_MS = 60_000;

export class Attention {
  readonly #isAlways: boolean;
  readonly #left: AbortSignal;
  #isWatched = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #rest = new AbortController();
  #wake: (() => void) | undefined;

  /** @param isAlways it counts as checked for as long as the tab is */
  constructor(isAlways: boolean, left: AbortSignal) {
    this.#isAlways = isAlways;
    this.#left = left;
    const check = (): void => this.#check();
    document.addEventListener('visibilitychange', check, { signal: left });
    left.addEventListener('abort', () => this.#pause(), { once: true });
    this.#check();
  }

  /** Aborted when the page was not checked for a while, or was left. Another one, after `returned`. */
  get rest(): AbortSignal {
    return this.#rest.signal;
  }

  watch(isWatched: boolean): void {
    this.#isWatched = isWatched;
    this.#check();
  }

  /** Resolves when a person watches, or when it was left. */
  async returned(): Promise<void> {
    if (!this.#rest.signal.aborted || this.#left.aborted) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  #check(): void {
    clearTimeout(this.#timer);
    if (this.#left.aborted) return;
    const isHidden = document.visibilityState !== 'visible';
    if (isHidden || !(this.#isWatched || this.#isAlways)) {
      this.#timer = setTimeout(() => this.#rest.abort(), isHidden ? HIDDEN_MS : UNWATCHED_MS);
      return;
    }
    if (this.#rest.signal.aborted) this.#rest = new AbortController();
    this.#wake?.();
  }

  #pause(): void {
    clearTimeout(this.#timer);
    this.#rest.abort();
    this.#wake?.();
  }
}
