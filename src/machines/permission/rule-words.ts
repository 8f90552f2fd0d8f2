/**
 * The words of a command in the text of a rule: as a shell would write them, with quotes where they are needed and
 * nothing else.
 */

/** Stands at the end of the words of a rule that means this command with no word more. */
const END_MARK = '$';

const PLAIN_WORD = /^[A-Za-z0-9_\-./,:@%+=^]+$/;

export interface RuleWords {
  readonly words: readonly string[];
  /** Whether nothing may follow. */
  readonly isExact: boolean;
}

/** Undefined when the text is not a list of words. */
export function parseRuleWords(text: string): RuleWords | undefined {
  const tokens = tokensOf(text.trim());
  if (tokens === undefined) return undefined;
  const isExact = tokens.at(-1)?.raw === END_MARK;
  const words = isExact ? tokens.slice(0, -1) : tokens;
  if (words.length === 0 || words.some(({ isPlain }) => !isPlain)) return undefined;
  return { words: words.map(({ value }) => value), isExact };
}

export function formatRuleWords({ words, isExact }: RuleWords): string {
  return [...words.map(quoted), ...(isExact ? [END_MARK] : [])].join(' ');
}

function quoted(word: string): string {
  if (PLAIN_WORD.test(word)) return word;
  return (
    word
      .split(/('+)/)
      .map((part) => (part === '' ? '' : part.startsWith("'") ? `"${part}"` : `'${part}'`))
      .join('') || "''"
  );
}

interface Token {
  readonly raw: string;
  readonly value: string;
  readonly isPlain: boolean;
}

const PIECE = /'(?<single>[^']*)'|"(?<double>[^"$`\\]*)"|(?<plain>[^\s'"]+)/y;

function tokensOf(text: string): Token[] | undefined {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const token = tokenAt(text, at);
    if (token === undefined) return undefined;
    tokens.push(token);
    at += token.raw.length;
    while (text.charAt(at) === ' ') at += 1;
  }
  return tokens;
}

function tokenAt(text: string, start: number): Token | undefined {
  let value = '';
  let at = start;
  let isPlain = true;
  while (at < text.length && text.charAt(at) !== ' ') {
    PIECE.lastIndex = at;
    const piece = PIECE.exec(text);
    if (piece === null) return undefined;
    const { single, double, plain } = piece.groups ?? {};
    if (plain !== undefined && !PLAIN_WORD.test(plain)) isPlain = false;
    value += single ?? double ?? plain ?? '';
    at = PIECE.lastIndex;
  }
  return at === start ? undefined : { raw: text.slice(start, at), value, isPlain };
}
