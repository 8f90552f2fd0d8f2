/** Text that a person has to judge: everything in it is seen, whatever it would like to hide. */

/**
 * Neither seen nor harmless: control characters, invisible ones, blanks that are no space, and what turns the order of
 * letters around.
 */
const HIDDEN = /(?![ \t\n])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u3164]/gu;

/** What could be taken for something else. */
const BEYOND_PLAIN = /[^\u0020-\u007E\n\t]/gu;
const MAX_NAMED = 5;

/** What cannot be seen is written as `\u{200B}`; blanks at the end of a line are shown as `·`. */
export function exact(text: string): string {
  return text
    .replaceAll(HIDDEN, (character) => `\\u{${hex(character)}}`)
    .replaceAll(/ +$/gm, (blanks) => '·'.repeat(blanks.length));
}

/** What in `text` looks like something that it is not, or could. Undefined: it is plain ASCII. */
export function oddities(text: string): string | undefined {
  const odd = [...new Set(text.match(BEYOND_PLAIN) ?? [])];
  if (odd.length === 0) return undefined;
  const names = odd
    .slice(0, MAX_NAMED)
    .map((character) => (exact(character) === character ? `${character} (U+${hex(character)})` : exact(character)));
  return `It holds characters beyond plain ASCII: ${names.join(', ')}${odd.length > MAX_NAMED ? ` and ${odd.length - MAX_NAMED} more` : ''}.`;
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}
