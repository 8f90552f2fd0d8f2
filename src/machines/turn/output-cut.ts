/** What a tool put out, cut to what a model is given: its beginning and its end, with a mark between them. */

export interface OutputCut {
  /** Characters of the result, the mark included. */
  readonly maxCharacters: number;
  /** Where all of it can be read, such as the path of a file. */
  readonly keptAt?: string | undefined;
}

/** Characters within which a cut moves to the end of a line. */
const MAX_MOVE = 200;

/** The text itself when it is short enough. A surrogate pair is never torn. */
export function cutOutput(text: string, { maxCharacters, keptAt }: OutputCut): string {
  if (text.length <= maxCharacters) return text;
  const where = keptAt === undefined ? '' : `; all of it is in ${keptAt}`;
  const markOf = (leftOut: number): string => `\n[… ${leftOut} characters left out here${where} …]\n`;
  // As many digits as there can be: a shorter number never makes the result longer.
  const room = maxCharacters - markOf(text.length).length;
  if (room <= 0) return markOf(text.length).trim();
  const head = headOf(text, Math.ceil(room / 2));
  const tail = tailOf(text, Math.floor(room / 2));
  return head + markOf(text.length - head.length - tail.length) + tail;
}

function headOf(text: string, length: number): string {
  const lineEnd = text.lastIndexOf('\n', length - 1);
  const end = lineEnd >= length - MAX_MOVE && lineEnd > 0 ? lineEnd : length;
  return text.slice(0, isLowSurrogate(text, end) ? end - 1 : end);
}

function tailOf(text: string, length: number): string {
  const start = text.length - length;
  const lineEnd = text.indexOf('\n', start);
  const from = lineEnd !== -1 && lineEnd < start + MAX_MOVE && lineEnd + 1 < text.length ? lineEnd + 1 : start;
  return text.slice(isLowSurrogate(text, from) ? from + 1 : from);
}

/** Whether a cut here would tear a pair. */
function isLowSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}
