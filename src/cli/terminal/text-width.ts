/**
 * How many places of a terminal a text takes, and text broken into lines that fit. What is measured has to be printable
 * already.
 */

/** Most text is this, and is measured at once. */
const PLAIN = /^[\u0020-\u007E]*$/;

/** Characters that East Asian terminals draw two places wide, and those that are drawn as pictures. */
const WIDE =
  /[\u1100-\u115F\u231A\u231B\u2329\u232A\u2E80-\u303E\u3041-\u33FF\u3400-\u4DBF\u4E00-\u9FFF\uA000-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE10-\uFE19\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{16FE0}-\u{18DFF}\u{1B000}-\u{1B2FF}\u{1F1E6}-\u{1F1FF}\u{1F200}-\u{1F2FF}\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}|\uFE0F/u;

/** Drawn in the place of what is before it, or not at all. */
const NO_WIDTH = /^[\p{M}\p{Default_Ignorable_Code_Point}\u200B]+$/u;

let segmenter: Intl.Segmenter | undefined;

/** What a reader takes for characters. Made when first asked for: that takes 10 ms, which few commands need. */
export function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemesOf(text)) width += graphemeWidth(segment);
  return width;
}

/** The beginning of `text` that takes at most `width` places; `…` stands for what was left out. */
export function fitted(text: string, width: number): string {
  if (width === Infinity || text.length * 2 <= width || displayWidth(text) <= width) return text;
  return `${beginning(text, Math.max(0, width - 1))}…`;
}

/**
 * Lines of at most `width` places: broken between words, inside of one only where it is longer than a line. Spaces at
 * the breaks are left out.
 */
export function wrapped(text: string, width: number): string[] {
  return text
    .split('\n')
    .flatMap((line) =>
      line.length * 2 <= width || displayWidth(line) <= width ? [line] : wrappedLine(line, Math.max(1, width)),
    );
}

function wrappedLine(line: string, width: number): string[] {
  const lines: string[] = [];
  let current = '';
  let used = 0;
  for (const [word] of line.matchAll(/\s*\S+|\s+$/gu)) {
    const needed = displayWidth(word);
    if (used + needed <= width) {
      current += word;
      used += needed;
      continue;
    }
    if (current.trim() !== '') lines.push(current);
    const rest = broken(current.trim() === '' ? `${current}${word}` : word.trimStart(), width);
    current = rest.pop() ?? '';
    used = displayWidth(current);
    lines.push(...rest);
  }
  return current.trim() === '' && lines.length > 0 ? lines : [...lines, current];
}

/** `text` in parts that fit, with nothing left out. There is always one. */
export function broken(text: string, width: number): string[] {
  const parts: string[] = [];
  let rest = text;
  while (displayWidth(rest) > width) {
    const part = beginning(rest, width);
    // Something that is wider than a whole line still has to go somewhere.
    const taken = part === '' ? (graphemesOf(rest)[Symbol.iterator]().next().value?.segment ?? rest) : part;
    parts.push(taken);
    rest = rest.slice(taken.length);
  }
  return [...parts, rest];
}

function beginning(text: string, width: number): string {
  if (PLAIN.test(text.slice(0, width + 1))) return text.slice(0, width);
  let used = 0;
  let end = 0;
  for (const { segment } of graphemesOf(text)) {
    used += graphemeWidth(segment);
    if (used > width) break;
    end += segment.length;
  }
  return text.slice(0, end);
}

function graphemeWidth(grapheme: string): number {
  if (NO_WIDTH.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}
