/** Makes a part of entries. */
import { Part, packFacts } from './part.ts';
import type { PartEntry } from './part-entries.ts';
import {
  MAX_TOOLS_OF_PART,
  bodySize,
  hashOfTerm,
  packPosting,
  sectionsOf,
  timesInText,
  timesInTitle,
} from './part-layout.ts';
import type { PartCounts, PartSections } from './part-layout.ts';
import type { Slices } from './slices.ts';

interface PostedTerm {
  readonly term: string;
  readonly hash: number;
  /** By document, ascending. */
  readonly postings: number[];
}

/** @param entries in the order of the session; not more than a part holds */
export async function encodePart(
  sessionId: string | undefined,
  entries: readonly PartEntry[],
  slices: Slices,
): Promise<Part> {
  const terms = await postedTerms(entries, slices);
  const tools = [...new Set(entries.flatMap(({ tool }) => (tool === undefined ? [] : [tool])))]
    .sort()
    .slice(0, MAX_TOOLS_OF_PART);
  const words = Buffer.from(terms.map(({ term }) => term).join('\n'));
  const counts: PartCounts = {
    documents: entries.length,
    terms: terms.length,
    postings: terms.reduce((sum, { postings }) => sum + postings.length, 0),
    wordBytes: words.length,
    documentBytes: entries.reduce((sum, { json }) => sum + json.length, 0),
    characters: entries.reduce((sum, { characters }) => sum + characters, 0),
    tools,
  };
  // A pool would put it at any place of its memory; numbers need multiples of their size.
  const body = Buffer.allocUnsafeSlow(bodySize(counts));
  const sections = sectionsOf(body, counts);
  words.copy(sections.words);
  fillTerms(sections, terms);
  await slices.breathe();
  fillDocuments(sections, entries, new Map(tools.map((tool, index) => [tool, index + 1])));
  const part = Part.of(sessionId, counts, body);
  if (part === undefined) throw new TypeError('a part was made that contradicts its own counts');
  return part;
}

/** In the order of their hashes. */
async function postedTerms(entries: readonly PartEntry[], slices: Slices): Promise<readonly PostedTerm[]> {
  const terms = new Map<string, PostedTerm>();
  for (const [document, entry] of entries.entries()) {
    for (const [term, times] of entry.terms) {
      const known = terms.get(term) ?? { term, hash: hashOfTerm(term), postings: [] };
      if (known.postings.length === 0) terms.set(term, known);
      known.postings.push(packPosting(document, timesInTitle(times), timesInText(times)));
    }
    if (slices.isOver) await slices.breathe();
  }
  return [...terms.values()].sort((one, other) => one.hash - other.hash || (one.term < other.term ? -1 : 1));
}

function fillTerms({ hashes, starts, postings }: PartSections, terms: readonly PostedTerm[]): void {
  let at = 0;
  for (const [slot, term] of terms.entries()) {
    hashes[slot] = term.hash;
    starts[slot] = at;
    postings.set(term.postings, at);
    at += term.postings.length;
  }
  starts[terms.length] = at;
}

function fillDocuments(
  sections: PartSections,
  entries: readonly PartEntry[],
  tools: ReadonlyMap<string, number>,
): void {
  let at = 0;
  for (const [index, { kind, tool, lastSeq, atMs, json, titleTerms, textTerms }] of entries.entries()) {
    sections.at[index] = atMs;
    sections.lastSeqs[index] = lastSeq;
    sections.lengths[index] = ((titleTerms << 16) | textTerms) >>> 0;
    sections.facts[index] = packFacts(kind, tool === undefined ? 0 : (tools.get(tool) ?? 0));
    sections.places[index] = at;
    json.copy(sections.documents, at);
    at += json.length;
  }
  sections.places[entries.length] = at;
}
