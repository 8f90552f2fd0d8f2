/** Commands as a shell takes them. */

const NAME = 'wakechart';

/** @param words after `wakechart`; those in capitals stand for what has to be filled in */
export function commandLine(words: readonly string[]): string {
  return [NAME, ...words].map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`)).join(' ');
}
