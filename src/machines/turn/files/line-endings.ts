/** How the lines of a text end. */

/** `mixed`: some end in CRLF and some in LF alone. `none`: it is a single line. */
export type LineEndings = 'lf' | 'crlf' | 'mixed' | 'none';

export function lineEndingsOf(text: string): LineEndings {
  let bare = false;
  let paired = false;
  for (let at = text.indexOf('\n'); at !== -1 && !(bare && paired); at = text.indexOf('\n', at + 1)) {
    if (text[at - 1] === '\r') paired = true;
    else bare = true;
  }
  if (bare && paired) return 'mixed';
  if (paired) return 'crlf';
  return bare ? 'lf' : 'none';
}

/** The same lines with endings that a file has throughout; a file that has none, or both, leaves them as they are. */
export function withLineEndings(text: string, endings: LineEndings): string {
  if (endings === 'lf') return text.replaceAll('\r\n', '\n');
  return endings === 'crlf' ? text.replaceAll(/\r?\n/g, '\r\n') : text;
}

/** How many lines a text has; what follows the last line break counts when there is anything. */
export function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return text === '' || text.endsWith('\n') ? lines : lines + 1;
}
