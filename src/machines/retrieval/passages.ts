/**
 * Cuts a long text into documents: between paragraphs where that is possible, then between lines, then between words.
 */
import { beginningOf } from '../cut-text.ts';
import { MAX_DOCUMENT_CHARACTERS, MAX_PASSAGES } from './retrieval-limits.ts';

/** A passage is not made smaller than this share of what it may hold, only to end well. */
const LEAST_SHARE = 0.5;

/** At least one, even if it is empty. The middle of what is too long for all passages together is left out. */
export function passagesOf(text: string): readonly string[] {
  const trimmed = text.trim();
  const passages: string[] = [];
  for (let rest = withinBounds(trimmed); rest !== '';) {
    const end = endOfPassage(rest);
    passages.push(rest.slice(0, end).trim());
    rest = rest.slice(end).trim();
  }
  return passages.length === 0 ? [''] : passages.slice(0, MAX_PASSAGES);
}

function withinBounds(text: string): string {
  // Passages that end well are shorter than they may be.
  const room = Math.floor(MAX_PASSAGES * MAX_DOCUMENT_CHARACTERS * LEAST_SHARE);
  if (text.length <= room) return text;
  return `${text.slice(0, Math.floor(room / 2))}\n\n${text.slice(text.length - Math.floor(room / 2))}`;
}

function endOfPassage(text: string): number {
  if (text.length <= MAX_DOCUMENT_CHARACTERS) return text.length;
  const window = beginningOf(text, MAX_DOCUMENT_CHARACTERS);
  const least = MAX_DOCUMENT_CHARACTERS * LEAST_SHARE;
  const ends = [
    window.lastIndexOf('\n\n'),
    window.lastIndexOf('\n'),
    window.lastIndexOf('. ') + 1,
    window.lastIndexOf(' '),
  ];
  const end = ends.find((each) => each > least) ?? MAX_DOCUMENT_CHARACTERS;
  return beginningOf(text, end).length;
}
