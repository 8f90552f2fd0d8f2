/** Waits until it is notified, or until it was quiet for so long that something should be said. */

export class HeartbeatSignal {
  readonly #beat: NodeJS.Timeout;
  #isNotified = false;
  #isQuiet = false;
  #answer: (() => void) | undefined = undefined;

  /** @param quietMs how often `wait` ends without a notification @param gone ends every wait */
  constructor(quietMs: number, gone: AbortSignal) {
    this.#beat = setInterval(() => {
      this.#isQuiet = true;
      this.#answer?.();
    }, quietMs);
    gone.addEventListener('abort', () => this.notify(), { once: true });
  }

  notify(): void {
    this.#isNotified = true;
    this.#answer?.();
  }

  /** What came before counts. One at a time. */
  async wait(): Promise<'notified' | 'quiet'> {
    if (!this.#isNotified && !this.#isQuiet) await new Promise<void>((resolve) => (this.#answer = resolve));
    this.#answer = undefined;
    const isQuiet = this.#isQuiet;
    this.#isNotified = false;
    this.#isQuiet = false;
    return isQuiet ? 'quiet' : 'notified';
  }

  close(): void {
    clearInterval(this.#beat);
    this.notify();
  }
}
