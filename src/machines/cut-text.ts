/** Texts that are cut at their end: never within a character, since half of one can be stored by no store. */

/** At most `count` characters from its beginning, nothing said about the rest. */
export function beginningOf(text: string, count: number): string {
  const kept = text.length <= count ? text : text.slice(0, count);
  const last = kept.charCodeAt(kept.length - 1);
  return last >= 0xd800 && last < 0xdc00 ? kept.slice(0, -1) : kept;
}

/** The text, or at most `maxCharacters` of it with `…` as the last where something was left out. */
export function cutText(text: string, maxCharacters: number): string {
  return text.length <= maxCharacters ? text : `${beginningOf(text, Math.max(0, maxCharacters - 1))}…`;
}
