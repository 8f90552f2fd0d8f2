/** The part of a document that shows why it was found, with the words that fit in «guillemets». */
import { bounded } from './retrieval-document.ts';
import { MAX_EVIDENCE_CHARACTERS } from './retrieval-limits.ts';
import { termsOf } from './terms.ts';

const WORD = /[\p{L}\p{N}]+(?:[._/:@#-]+[\p{L}\p{N}]+)*/gu;

/** How far the first word that fits stands from the beginning of the part, in characters. */
const LEAD_CHARACTERS = 60;

/** Marks take room; a part without any is a little shorter than it may be. */
const ROOM_FOR_MARKS = 40;

/** @param found the terms of the document that fit */
export function evidenceOf(
  document: { readonly title: string; readonly text: string },
  found: ReadonlySet<string>,
): string {
  const whole = [document.title, document.text]
    .filter((part) => part !== '')
    .join(' — ')
    .replaceAll(/\s+/g, ' ');
  const room = MAX_EVIDENCE_CHARACTERS - ROOM_FOR_MARKS;
  const start = startOfWindow(whole, found, room);
  const part = `${start > 0 ? '…' : ''}${bounded(whole.slice(start), room)}`;
  let marks = 0;
  return part.replaceAll(WORD, (word) => {
    if (marks >= ROOM_FOR_MARKS / 2 || !fits(word, found)) return word;
    marks += 1;
    return `«${word}»`;
  });
}

/** Where as many different words as possible stand close together. */
function startOfWindow(text: string, found: ReadonlySet<string>, room: number): number {
  if (text.length <= room) return 0;
  const places = [...text.matchAll(WORD)].flatMap((match) =>
    fits(match[0], found) ? [{ index: match.index, word: match[0].toLowerCase() }] : [],
  );
  let best = { index: 0, words: 0 };
  for (const { index } of places) {
    const words = new Set(
      places
        .filter((place) => place.index >= index && place.index < index + room - LEAD_CHARACTERS)
        .map(({ word }) => word),
    ).size;
    if (words > best.words) best = { index, words };
  }
  const from = Math.max(0, best.index - LEAD_CHARACTERS);
  return from === 0 ? 0 : Math.max(0, text.indexOf(' ', from)) + 1;
}

function fits(word: string, found: ReadonlySet<string>): boolean {
  return termsOf(word).some((term) => found.has(term));
}
