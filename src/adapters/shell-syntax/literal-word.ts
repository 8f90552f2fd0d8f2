/** One word of a command line that means itself: plain characters and quotes with nothing to expand in them. */
import { NotUnderstood } from './not-understood.ts';

/** Characters that mean themselves in every shell, wherever in a word they stand. */
const PLAIN = /[A-Za-z0-9_\-./,:@%+=^]/;

/** A tilde that follows one of these stands for nobody's home, as in `HEAD~2`. */
const BEFORE_PLAIN_TILDE = /[A-Za-z0-9^~]/;

/** What a shell expands or undoes between double quotes. */
const ALIVE_IN_DOUBLE_QUOTES = /[$`\\]/;

const COMMAND_NAME = /^[A-Za-z0-9_./][A-Za-z0-9_.+/-]*$/;

/** Words of the shell's own grammar where a command begins; which of them count differs from shell to shell. */
const RESERVED: ReadonlySet<string> = new Set(
  'if then else elif fi do done case esac while until for select function coproc time in'.split(' '),
);

/** The value of the word. @throws NotUnderstood */
export function readLiteralWord(text: string): string {
  let value = '';
  for (let at = 0; at < text.length; ) {
    const character = text.charAt(at);
    if (character === "'" || character === '"') {
      const end = text.indexOf(character, at + 1);
      if (end === -1) throw new NotUnderstood('it has a quote that does not end');
      const quoted = text.slice(at + 1, end);
      if (character === '"' && ALIVE_IN_DOUBLE_QUOTES.test(quoted)) throw new NotUnderstood('it has an expansion or an escape between double quotes');
      value += quoted;
      at = end + 1;
    } else {
      assertPlain(character, at === 0 ? '' : text.charAt(at - 1));
      value += character;
      at += 1;
    }
  }
  return value;
}

/** The name of a command: nobody has an honest reason to quote it. @throws NotUnderstood */
export function readsAsCommandName(text: string): string {
  if (!COMMAND_NAME.test(text)) throw new NotUnderstood(`its command name is not plain text (${JSON.stringify(text)})`);
  if (RESERVED.has(text)) throw new NotUnderstood(`"${text}" is a word of the shell's grammar`);
  return text;
}

function assertPlain(character: string, before: string): void {
  if (PLAIN.test(character) || (character === '~' && BEFORE_PLAIN_TILDE.test(before))) return;
  throw new NotUnderstood(`it has an unquoted ${JSON.stringify(character)}, which a shell may expand`);
}
