/** What a person types at a terminal that gives each key at once: keys, and texts that are pasted as one piece. */
import { emitKeypressEvents } from 'node:readline';
import type { ReadStream } from 'node:tty';

export interface Key {
  /** As node:readline names it: `a`, `return`, `up`; empty for what has no name. */
  readonly name: string;
  readonly ctrl: boolean;
  /** With Alt. */
  readonly meta: boolean;
  /** What it writes; empty for keys that write nothing. */
  readonly text: string;
}

export type Typing =
  | { readonly type: 'key'; readonly key: Key }
  | { readonly type: 'paste'; readonly text: string }
  | { readonly type: 'end' };

/** As node:readline tells of a key. */
interface Keypress {
  readonly name?: string | undefined;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
  readonly sequence?: string;
}

/** The terminal marks what is pasted, so that a line end in it sends nothing. */
const PASTE_ON = '\u001B[?2004h';
const PASTE_OFF = '\u001B[?2004l';

/** Characters of one paste; more belongs into a file. */
const MAX_PASTE = 1_000_000;

export interface KeyboardOptions {
  readonly stream: ReadStream;
  /** Writes to the terminal at once. */
  readonly write: (codes: string) => void;
  readonly onTyping: (typing: Typing) => void;
}

export class Keyboard {
  readonly #options: KeyboardOptions;
  readonly #onKeypress = (text: string | undefined, key: Keypress): void => this.#hear(text, key);
  readonly #onEnd = (): void => this.#options.onTyping({ type: 'end' });
  #pasted: string | undefined;
  #isOpen = false;

  constructor(options: KeyboardOptions) {
    this.#options = options;
  }

  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    const { stream, write } = this.#options;
    emitKeypressEvents(stream);
    stream.setRawMode(true);
    write(PASTE_ON);
    stream.on('keypress', this.#onKeypress);
    for (const event of ['end', 'error', 'close']) stream.on(event, this.#onEnd);
    stream.resume();
  }

  /** The terminal is as it was before. Idempotent. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const { stream, write } = this.#options;
    stream.off('keypress', this.#onKeypress);
    for (const event of ['end', 'error', 'close']) stream.off(event, this.#onEnd);
    write(PASTE_OFF);
    // A terminal that is gone has no mode to be put back.
    if (!stream.destroyed) stream.setRawMode(false);
    stream.pause();
  }

  #hear(text: string | undefined, { name = '', ctrl = false, meta = false, sequence = '' }: Keypress): void {
    const { onTyping } = this.#options;
    if (name === 'paste-start') this.#pasted = '';
    else if (name === 'paste-end') {
      onTyping({ type: 'paste', text: (this.#pasted ?? '').replaceAll(/\r\n?/g, '\n') });
      this.#pasted = undefined;
    } else if (this.#pasted !== undefined) this.#pasted = `${this.#pasted}${sequence}`.slice(0, MAX_PASTE);
    else onTyping({ type: 'key', key: { name, ctrl, meta, text: ctrl || meta ? '' : (text ?? '') } });
  }
}
