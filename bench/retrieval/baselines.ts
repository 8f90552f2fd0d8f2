/** What retrieval is compared with: a text search, and the strongest simple ranking of the same pieces. */
import type { CorpusItem } from './corpus.ts';

/** Ids of the best, the best first. */
export type Search = (query: string, limit: number) => Promise<readonly string[]>;

const STOP_WORDS = new Set(
  'a an and any are as at be by did do does for from had has have how i in into is it its may of on or our that the their to was we were what when where which who why with'.split(
    ' ',
  ),
);

/** As grep would: how many of the query's words are somewhere in the text; of equal ones the newest. */
export function countingSearch(items: readonly CorpusItem[]): Search {
  const texts = items.map(({ id, text }, order) => ({ id, order, text: text.toLowerCase() }));
  return async (query, limit) => {
    const words = [...new Set(wordsOf(query))];
    const counted = texts.map(({ id, order, text }) => ({
      id,
      order,
      count: words.filter((word) => text.includes(word)).length,
    }));
    return counted
      .filter(({ count }) => count > 0)
      .sort((one, other) => other.count - one.count || other.order - one.order)
      .slice(0, limit)
      .map(({ id }) => id);
  };
}

const K1 = 1.2;
const B = 0.75;

/** BM25 over whole words in lower case, without stop words. */
export function okapiSearch(items: readonly CorpusItem[]): Search {
  const documents = items.map(({ id, text }) => ({ id, words: wordsOf(text).filter((word) => !STOP_WORDS.has(word)) }));
  const average = documents.reduce((sum, { words }) => sum + words.length, 0) / documents.length;
  const holders = new Map<string, number>();
  for (const { words } of documents) for (const word of new Set(words)) holders.set(word, (holders.get(word) ?? 0) + 1);
  return async (query, limit) => {
    const asked = [...new Set(wordsOf(query))].filter((word) => !STOP_WORDS.has(word));
    const scoreOf = (words: readonly string[]): number =>
      asked.reduce((score, word) => {
        const count = words.filter((each) => each === word).length;
        if (count === 0) return score;
        const holding = holders.get(word) ?? 0;
        const rarity = Math.log(1 + (documents.length - holding + 0.5) / (holding + 0.5));
        return score + (rarity * count * (K1 + 1)) / (count + K1 * (1 - B + (B * words.length) / average));
      }, 0);
    const scored = documents.map(({ id, words }) => ({ id, score: scoreOf(words) })).filter(({ score }) => score > 0);
    return scored
      .sort((one, other) => other.score - one.score)
      .slice(0, limit)
      .map(({ id }) => id);
  };
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}
