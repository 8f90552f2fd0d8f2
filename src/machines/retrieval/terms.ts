/**
 * From text to the terms that are searched for: lower case without accents, identifiers and paths whole and in their
 * parts, words by their stems. English stems only; words of other languages are terms as they stand, and scripts
 * without spaces are cut into pairs.
 */
import { beginningOf } from '../cut-text.ts';

/** Says nothing about what a text is about. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a about after again all also am an and any are as at be because been before being but by can could did do does doing done for from had has have having he her here hers him his how i if in into is it its itself just ' +
    'let me more most my no nor not now of off on once only or other our out over own please same she should so some such than that the their them then there these they this those through to too under until up us very was ' +
    'anybody anyone anything somebody someone something nothing nobody everybody everyone every one ones many much ' +
    'we were what when where which while who whom whose why will with would you your yours ok okay yes hi hello thanks thank'
  ).split(' '),
);

/** Runs of letters and digits, with the marks that join the parts of identifiers, paths and versions. */
const CHUNK = /[\p{L}\p{N}]+(?:[._/:@#-]+[\p{L}\p{N}]+)*/gu;

const MARKS = /[._/:@#-]+/;

const BEYOND_ASCII = /\P{ASCII}/u;

const COMBINING = /\p{M}+/gu;

/** Scripts that put no space between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

const CAMEL = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;

const MAX_TERM_CHARACTERS = 64;

/** Every term of a text, in order and as often as it comes. */
export function termsOf(text: string): string[] {
  const terms: string[] = [];
  const plain = BEYOND_ASCII.test(text) ? text.normalize('NFKD').replaceAll(COMBINING, '') : text;
  for (const [chunk] of plain.matchAll(CHUNK)) addChunk(chunk, terms);
  return terms;
}

/** Words come again and again. Emptied when it is full. */
const KNOWN = new Map<string, string | undefined>();
const MAX_KNOWN = 20_000;

/** One word as a term; undefined for what says nothing. */
function termOf(word: string): string | undefined {
  if (KNOWN.has(word)) return KNOWN.get(word);
  const term = madeOf(word);
  if (KNOWN.size >= MAX_KNOWN) KNOWN.clear();
  KNOWN.set(word, term);
  return term;
}

function madeOf(word: string): string | undefined {
  const lower = word.toLowerCase();
  if (STOP_WORDS.has(lower) || (lower.length === 1 && !/\p{N}/u.test(lower))) return undefined;
  // Half of a character would not be the same when it is read again.
  return beginningOf(stem(lower), MAX_TERM_CHARACTERS);
}

function addChunk(chunk: string, terms: string[]): void {
  const parts = chunk.split(MARKS);
  if (parts.length > 1 && chunk.length <= MAX_TERM_CHARACTERS) terms.push(chunk.toLowerCase());
  for (const part of parts) {
    if (UNSPACED.test(part)) terms.push(...pairsOf(part));
    else addWord(part, terms);
  }
}

function addWord(word: string, terms: string[]): void {
  const whole = termOf(word);
  if (whole !== undefined) terms.push(whole);
  const humps = word.split(CAMEL);
  if (humps.length === 1) return;
  for (const hump of humps) {
    const term = termOf(hump);
    if (term !== undefined && term !== whole) terms.push(term);
  }
}

function pairsOf(run: string): string[] {
  const characters = Array.from(run);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index] ?? ''}${character}`);
}

const PLAIN_WORD = /^[a-z]{4,}$/;

/** Strips what inflection adds, and a final "e" so that "cache", "caches", "cached" and "caching" are one. */
export function stem(word: string): string {
  if (!PLAIN_WORD.test(word)) return word;
  const singular = withoutPlural(word);
  const bare = withoutVerbEnding(singular);
  const noun =
    bare.length > 6 ? bare.replace(/(?<=[ts])ion$/, '').replace(/(?<=[a-z]{4})(?:ment|ness|al|ly)$/, '') : bare;
  return noun.length > 3 ? noun.replace(/e$/, '').replace(/(?<=[^aeiou])y$/, 'i') : noun;
}

function withoutPlural(word: string): string {
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh|z)es$/.test(word)) return word.slice(0, -2);
  return /[^sui]s$/.test(word) ? word.slice(0, -1) : word;
}

function withoutVerbEnding(word: string): string {
  const found = /^(?<base>[a-z]*[aeiouy][a-z]*)(?:ing|ed)$/.exec(word)?.groups?.['base'];
  if (found === undefined || found.length < 3) return word;
  // "stopped", but "passed" and "called".
  return found.replace(/(?<twin>[bdgmnprt])\k<twin>$/, '$<twin>');
}
