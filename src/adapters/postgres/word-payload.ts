/** Words as the text of notifications, each of which holds less than 8,000 bytes. */
import { readWord } from '../../machines/words/session-word.ts';
import type { SessionWord } from '../../machines/words/session-word.ts';

/** What else is in a message: who says it, and its number. */
const MAX_BYTES = 7_900;
/** Written in JSON a character may take six bytes, in UTF-8 three. */
const MAX_PIECE_CHARACTERS = 1_200;

/** One message at least. */
export function encodeWords(words: readonly SessionWord[]): string[] {
  const messages: string[] = [];
  let open: string[] = [];
  let bytes = 0;
  const close = (): void => {
    messages.push(`[${open.join(',')}]`);
    [open, bytes] = [[], 0];
  };
  for (const word of words.flatMap(inPieces)) {
    const text = JSON.stringify(word);
    const length = Buffer.byteLength(text) + 1;
    if (open.length > 0 && bytes + length > MAX_BYTES) close();
    open.push(text);
    bytes += length;
  }
  if (open.length > 0 || messages.length === 0) close();
  return messages;
}

/** Undefined for what is no message of ours; words of a newer version are passed over. */
export function decodeWords(text: string): SessionWord[] | undefined {
  try {
    const told: unknown = JSON.parse(text);
    return Array.isArray(told) ? told.flatMap((word) => readWord(word) ?? []) : undefined;
  } catch {
    return undefined;
  }
}

function inPieces(word: SessionWord): SessionWord[] {
  if (word.type === 'progress')
    return JSON.stringify(word).length <= MAX_PIECE_CHARACTERS ? [word] : [withoutWords(word)];
  if (word.type !== 'said' || word.text.length <= MAX_PIECE_CHARACTERS) return [word];
  const pieces: SessionWord[] = [];
  for (let from = 0; from < word.text.length;) {
    let until = from + MAX_PIECE_CHARACTERS;
    // Not within a character: half of one cannot be written in UTF-8.
    if (/^[\uDC00-\uDFFF]/.test(word.text.slice(until, until + 1))) until -= 1;
    pieces.push({ ...word, text: word.text.slice(from, until) });
    from = until;
  }
  return pieces;
}

function withoutWords({ progress, ...word }: Extract<SessionWord, { readonly type: 'progress' }>): SessionWord {
  const { message: _long, ...share } = progress;
  return { ...word, progress: share };
}
