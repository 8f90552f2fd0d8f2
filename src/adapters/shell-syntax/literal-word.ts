/**
 * One word of a command line, read from its text: plain characters, quotes and escapes that every shell undoes alike,
 * and little else.
 */
import { openPatterns } from '../../machines/permission/open-word.ts';
import type { OpenWord } from '../../machines/permission/shell-reading.ts';
import { messageIn } from './message-document.ts';

export interface ReadWord {
  /** What the program gets; of an open word, as it is written without its quotes. */
  readonly value: string;
  readonly open?: OpenWord | undefined;
  /** Whether a parser gives it otherwise: its text is that of a here-document. */
  readonly isDocument?: true;
}

/** Characters that mean themselves in every shell, wherever in a word they stand. */
const PLAIN = /[A-Za-z0-9_\-./,:@%+=^]/;

/** A tilde that follows one of these stands for no home, as in `HEAD~2`. */
const BEFORE_PLAIN_TILDE = /[A-Za-z0-9^~]/;

/** What loses its meaning after a backslash. A letter never had one there, and is only hidden so. */
const ESCAPED = /[ !"#$&'()*;<>?[\\\]`{|}~^]/;
const ESCAPED_IN_DOUBLE_QUOTES = /["$\\`]/;

/** After a dollar sign between double quotes: then it means itself. */
const AFTER_PLAIN_DOLLAR = /[" )|]/;

const COMMAND_NAME = /^[A-Za-z0-9_./][A-Za-z0-9_.+/-]*$/;

/** Words of the shell's own grammar where a command begins; which of them count differs from shell to shell. */
const RESERVED: ReadonlySet<string> = new Set(
  'if then else elif fi do done case esac while until for select function coproc time in'.split(' '),
);

/** @throws NotUnderstood */
export function readWord(text: string): ReadWord {
  const document = messageIn(text);
  if (document !== undefined) return { value: document, isDocument: true };
  if (text === '{}') return { value: text };
  const patterns = /[*?[{]/.test(text) ? openPatterns(text) : undefined;
  if (patterns !== undefined) return { value: text, open: { kind: 'paths', patterns } };
  return new WordReader(text).read();
}

/** The name of a command: there is no honest reason to quote it. @throws NotUnderstood */
export function readsAsCommandName(text: string): string {
  if (!COMMAND_NAME.test(text)) throw new NotUnderstood(`its command name is not plain text (${JSON.stringify(text)})`);
  if (RESERVED.has(text)) throw new NotUnderstood(`"${text}" is a word of the shell's grammar`);
  return text;
}

class WordReader {
  readonly #text: string;
  #at = 0;
  #value = '';
  #hasStatus = false;

  constructor(text: string) {
    this.#text = text;
  }

  read(): ReadWord {
    while (this.#at < this.#text.length) this.#readPiece();
    return { value: this.#value, ...(this.#hasStatus ? { open: { kind: 'number' } } : {}) };
  }

  #readPiece(): void {
    const character = this.#text.charAt(this.#at);
    const next = this.#text.charAt(this.#at + 1);
    if (character === "'") this.#readSingleQuoted();
    else if (character === '"') this.#readDoubleQuoted();
    else if (character === '\\' && ESCAPED.test(next)) this.#take(next, 2);
    else if (character === '$' && next === '?') this.#takeStatus();
    else {
      assertPlain(character, this.#at === 0 ? '' : this.#text.charAt(this.#at - 1));
      this.#take(character, 1);
    }
  }

  #readSingleQuoted(): void {
    const end = this.#text.indexOf("'", this.#at + 1);
    if (end === -1) throw new NotUnderstood('it has a quote that does not end');
    this.#take(this.#text.slice(this.#at + 1, end), end + 1 - this.#at);
  }

  #readDoubleQuoted(): void {
    this.#at += 1;
    for (;;) {
      const character = this.#text.charAt(this.#at);
      const next = this.#text.charAt(this.#at + 1);
      if (character === '') throw new NotUnderstood('it has a quote that does not end');
      if (character === '"') break;
      if (character === '\\' && ESCAPED_IN_DOUBLE_QUOTES.test(next)) this.#take(next, 2);
      else if (character === '$' && next === '?') this.#takeStatus();
      else if (
        character === '`' ||
        (next === '\n' && character === '\\') ||
        (character === '$' && !AFTER_PLAIN_DOLLAR.test(next))
      ) {
        throw new NotUnderstood('it has an expansion between double quotes');
      } else this.#take(character, 1);
    }
    this.#at += 1;
  }

  #take(value: string, length: number): void {
    this.#value += value;
    this.#at += length;
  }

  #takeStatus(): void {
    this.#hasStatus = true;
    this.#take('$?', 2);
  }
}

function assertPlain(character: string, before: string): void {
  if (PLAIN.test(character) || (character === '~' && BEFORE_PLAIN_TILDE.test(before))) return;
  throw new NotUnderstood(`it has an unquoted ${JSON.stringify(character)}, which a shell may expand`);
}

/** Ends the reading of a command line. Never leaves this folder. */
export class NotUnderstood extends Error {
  override readonly name = 'NotUnderstood';
  readonly because: string;

  constructor(because: string) {
    super(because);
    this.because = because;
  }
}
