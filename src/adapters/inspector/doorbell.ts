/** Waits until somebody rings, or until it was quiet for so long that something should be said. */

export class Doorbell {
  readonly #beat: NodeJS.Timeout;
  #hasRung = false;
  #isQuiet = false;
  #answer: (() => void) | undefined = undefined;

  /** @param quietMs how often `wait` ends although nobody rings @param gone ends every wait */
  constructor(quietMs: number, gone: AbortSignal) {
    this.#beat = setInterval(() => {
      this.#isQuiet = true;
      this.#answer?.();
    }, quietMs);
    gone.addEventListener('abort', () => this.ring(), { once: true });
  }

  ring(): void {
    this.#hasRung = true;
    this.#answer?.();
  }

  /** What rang before counts. One at a time. */
  async wait(): Promise<'rung' | 'quiet'> {
    if (!this.#hasRung && !this.#isQuiet) await new Promise<void>((resolve) => (this.#answer = resolve));
    this.#answer = undefined;
    const isQuiet = this.#isQuiet;
    this.#hasRung = false;
    this.#isQuiet = false;
    return isQuiet ? 'quiet' : 'rung';
  }

  close(): void {
    clearInterval(this.#beat);
    this.ring();
  }
}
