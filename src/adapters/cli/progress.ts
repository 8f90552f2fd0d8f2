/** Says what one waits for, on a terminal, once it takes longer than a second. Gone without a trace when it is over. */
import type { Output } from './output.ts';
import { durationText, oneLine } from './text.ts';

const PATIENCE_MS = 1000;
const FRAME_MS = 100;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;

export class Progress {
  readonly #err: Output;
  #text = '';
  #sinceMs = 0;
  #frame = 0;
  #isDrawn = false;
  #isHeld = false;
  #timer: NodeJS.Timeout | undefined;

  /** @param err where it is drawn, so that what is piped away stays clean */
  constructor(err: Output) {
    this.#err = err;
  }

  /** Begins to wait for something else. */
  waitFor(text: string): void {
    this.stop();
    if (!this.#err.canRedraw) return;
    this.#text = text;
    this.#sinceMs = performance.now();
    if (!this.#isHeld) this.#timer = setInterval(() => this.#draw(), FRAME_MS).unref();
  }

  /** Somebody is asked something: nothing is drawn where they type, until `goOn`. */
  hold(): void {
    this.#isHeld = true;
    clearInterval(this.#timer);
    this.clear();
  }

  goOn(): void {
    this.#isHeld = false;
    if (this.#text !== '') this.waitFor(this.#text);
  }

  /** Makes place for a line of output; what is waited for is drawn again below it. */
  clear(): void {
    if (!this.#isDrawn) return;
    this.#isDrawn = false;
    this.#err.push('\r\u001B[K')?.catch(() => undefined);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#text = '';
    this.clear();
  }

  #draw(): void {
    const waitedMs = performance.now() - this.#sinceMs;
    if (waitedMs < PATIENCE_MS) return;
    const { styles, columns } = this.#err;
    const time = durationText(waitedMs);
    const text = oneLine(this.#text, columns - time.length - 6);
    this.#frame = (this.#frame + 1) % FRAMES.length;
    this.#isDrawn = true;
    this.#err.push(`\r\u001B[K${styles.cyan(FRAMES[this.#frame] ?? '')} ${text} ${styles.dim(time)}`)?.catch(() => undefined);
  }
}
