/** Tells whether two documents say nearly the same: a summary that repeats a message, a message that was sent twice. */
import type { RetrievalDocument } from './retrieval-document.ts';
import { termsOf } from './terms.ts';

/** The share of all their different terms that both have. */
const LEAST_SIMILARITY = 0.85;

/** Shorter ones are alike by chance. */
const LEAST_TERMS = 4;

const KNOWN = new WeakMap<RetrievalDocument, ReadonlySet<string>>();

/** The place of the first in the list that says nearly the same as `document`; undefined when none does. */
export function nearDuplicateOf(document: RetrievalDocument, others: readonly RetrievalDocument[]): number | undefined {
  const terms = setOf(document);
  const index = others.findIndex((other) => isAlike(terms, setOf(other)));
  return index < 0 ? undefined : index;
}

function isAlike(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const smaller = Math.min(one.size, other.size);
  const larger = Math.max(one.size, other.size);
  if (smaller < LEAST_TERMS || smaller < LEAST_SIMILARITY * larger) return false;
  let common = 0;
  for (const term of one) if (other.has(term)) common += 1;
  return common >= LEAST_SIMILARITY * (one.size + other.size - common);
}

function setOf(document: RetrievalDocument): ReadonlySet<string> {
  const known = KNOWN.get(document) ?? new Set(termsOf(`${document.title} ${document.text}`));
  KNOWN.set(document, known);
  return known;
}
