/**
 * Shows, on a terminal, what the model says as it says it, and what the wake waits for once that takes longer than a
 * second. It is erased when the event that tells it is shown.
 */
import type { AgentRunEvent } from '../../machines/run/run-output.ts';
import type { SessionWord } from '../../machines/words/session-word.ts';
import type { Output } from './output.ts';
import { durationText, oneLine, printable } from './text.ts';
import { wrapped } from './text-width.ts';

const PATIENCE_MS = 1000;
const FRAME_MS = 100;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;

/** Of what the model says the end is shown, in lines; and no more than this is kept, in characters. */
const WORD_LINES = 12;
const MAX_WORDS = 8_000;
const WORD_INDENT = '  ';

interface Words {
  readonly runId: string;
  readonly kind: 'text' | 'reasoning';
  readonly text: string;
}

export class Progress {
  readonly #err: Output;
  #text = '';
  #words: Words | undefined;
  /** Lines that are drawn, the one of the cursor included. */
  #height = 0;
  #sinceMs = 0;
  #frame = 0;
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

  /**
   * What a backend streams: words are shown at once, until their event is told or the attempt that said them has
   * failed.
   */
  hear({ runId, ...event }: AgentRunEvent): void {
    if (event.stream === 'assistant') this.#say({ runId, ...event.data });
    else if (event.stream === 'attempt' && this.#words?.runId === runId) this.#words = undefined;
  }

  /** What comes from another process, which may take it back. @param text what is waited for meanwhile */
  hearWord(word: SessionWord, text: string): void {
    if (word.type === 'said') {
      if (this.#timer === undefined) this.waitFor(text);
      this.#say({ runId: '', kind: word.kind, text: word.text });
    } else if (word.type === 'taken_back' || word.type === 'lost') this.stop();
  }

  /** A person is asked: nothing is drawn where they type, until `goOn`. */
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
    if (this.#height === 0) return;
    const above = `${ERASE_LINE}\u001B[1A`.repeat(this.#height - 1);
    this.#height = 0;
    this.#err.push(`${above}${ERASE_LINE}`)?.catch(() => undefined);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#text = '';
    this.#words = undefined;
    this.clear();
  }

  #say({ runId, kind, text }: Words): void {
    if (this.#timer === undefined || this.#isHeld) return;
    const before = this.#words?.runId === runId && this.#words.kind === kind ? this.#words.text : '';
    this.#words = { runId, kind, text: `${before}${text}`.slice(-MAX_WORDS) };
    // The first words at once; those that follow with the next frame.
    if (before === '') this.#draw();
  }

  #draw(): void {
    const waitedMs = performance.now() - this.#sinceMs;
    const words = this.#wordLines();
    if (waitedMs < PATIENCE_MS && words.length === 0) return;
    this.clear();
    const { styles, columns } = this.#err;
    const time = durationText(waitedMs);
    const text = oneLine(this.#text, columns - time.length - 6);
    this.#frame = (this.#frame + 1) % FRAMES.length;
    const lines = [...words, `${styles.cyan(FRAMES[this.#frame] ?? '')} ${text} ${styles.dim(time)}`];
    this.#height = lines.length;
    this.#err.push(lines.join('\n'))?.catch(() => undefined);
  }

  #wordLines(): string[] {
    if (this.#words === undefined) return [];
    const { styles, columns, rows } = this.#err;
    const { kind, text } = this.#words;
    const said = printable(text.replace(DIRECTIVE, '').trim()).replaceAll('\t', '  ');
    if (said === '') return [];
    // One place short, so that the terminal breaks no line by itself.
    const lines = wrapped(said, columns - WORD_INDENT.length - 1).slice(-Math.max(1, Math.min(WORD_LINES, rows - 2)));
    return lines.map((line) => `${WORD_INDENT}${kind === 'reasoning' ? styles.dim(line) : line}`);
  }
}

const ERASE_LINE = '\r\u001B[K';

/** What the model says to the runtime is no words for people. */
const DIRECTIVE = /^[ \t]*```wakechart-directive[^]*/m;
