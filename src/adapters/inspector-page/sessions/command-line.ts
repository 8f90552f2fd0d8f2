/** Commands as a shell takes them. */
import { about } from '../model/view.ts';

const NAME = 'wakechart';

/**
 * About the home and the store that are checked, where they are known. @param words after `wakechart`; those in
 * capitals stand for what has to be filled in @param place `elsewhere`: another machine, where the home is another
 */
export function commandLine(words: readonly string[], place: 'here' | 'elsewhere' = 'here'): string {
  const { home, store } = about.value ?? {};
  return shellLine([
    NAME,
    ...(home === undefined || place === 'elsewhere' ? [] : ['--home', home]),
    ...(store === undefined ? [] : ['--store', store]),
    ...words,
  ]);
}

export function shellLine(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`))
    .join(' ');
}
