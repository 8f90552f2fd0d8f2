/** Text that a person has to judge: everything in it is seen, whatever it would like to hide. */

/**
 * Neither seen nor harmless: control characters, invisible ones, blanks that are no space, and what turns the order of
 * letters around.
 */
const HIDDEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u3164]/gu;

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** On one line: what cannot be seen is written as `\u{200B}`, where a line ends stands `\n`. */
export function exactLine(text: string): string {
  return text.replaceAll(HIDDEN, escaped);
}

/** The same, with blanks at the end shown as `·`. */
export function exact(text: string): string {
  return exactLine(text).replace(/ +$/, (blanks) => '·'.repeat(blanks.length));
}

/** The same on lines of its own, as `text` has them. */
export function exactLines(text: string): string[] {
  return text.split('\n').map(exact);
}

/** A backslash that would make what follows it check written out. */
const MISLEADING_BACKSLASH = /\\(?=[nrtu\\]|(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u3164])/gu;

/**
 * `text` on one line that reads in one way only: where a line ends stands `\n`, for a backslash before an n stands
 * `\\n`.
 */
export function unmistakableLine(text: string): string {
  return exactLine(text.replaceAll(MISLEADING_BACKSLASH, String.raw`\\`));
}

/**
 * Of what has more than `limit` characters the two ends, with how many are missing between them: what is dangerous may
 * stand at either.
 */
export function bothEnds(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const characters = Array.from(text);
  const omitted = characters.length - limit;
  if (omitted <= 0) return text;
  const head = Math.ceil(limit / 2);
  return `${characters.slice(0, head).join('')} … ${omitted} more characters … ${characters.slice(head + omitted).join('')}`;
}

/** What could be taken for something else. */
const BEYOND_PLAIN = /[^\u0020-\u007E\n\t]/gu;
const MAX_NAMED = 5;

/** What in `text` looks like something that it is not, or could. Undefined: it is plain ASCII. */
export function oddities(text: string): string | undefined {
  const odd = [...new Set(text.match(BEYOND_PLAIN) ?? [])];
  if (odd.length === 0) return undefined;
  const names = odd.slice(0, MAX_NAMED).map((character) => {
    const written = exactLine(character);
    return written === character ? `${character} (U+${hex(character)})` : written;
  });
  return `It holds characters beyond plain ASCII: ${names.join(', ')}${odd.length > MAX_NAMED ? ` and ${odd.length - MAX_NAMED} more` : ''}.`;
}

function escaped(character: string): string {
  return NAMED[character] ?? `\\u{${hex(character)}}`;
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}
