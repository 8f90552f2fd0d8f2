/** Commands as a shell takes them. */

const NAME = 'wakechart';

/** @param words after `wakechart`; those in capitals stand for what has to be filled in @param home that they are about, where it is known */
export function commandLine(words: readonly string[], home?: string): string {
  return [NAME, ...(home === undefined ? [] : ['--home', home]), ...words].map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`)).join(' ');
}
