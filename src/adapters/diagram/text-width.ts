/**
 * How wide text is, without a font: the picture is drawn where it is unknown which font will show it. The widths are
 * those of DejaVu Sans, the widest of the usual system fonts, so that text fits in every other.
 */

/** Hundredths of the font size, from the space to the tilde. */
const REGULAR = [
  32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34, 84,
  84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63, 61, 73, 68, 99, 69, 61,
  69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59,
  82, 59, 59, 52, 64, 34, 64, 84,
];

const BOLD = [
  35, 46, 52, 84, 70, 100, 87, 31, 46, 46, 52, 84, 38, 42, 38, 37, 70, 70, 70, 70, 70, 70, 70, 70, 70, 70, 40, 40, 84,
  84, 84, 58, 100, 77, 76, 73, 83, 68, 68, 82, 84, 37, 37, 77, 64, 100, 84, 85, 73, 85, 77, 72, 68, 81, 77, 110, 77, 72,
  73, 46, 37, 46, 84, 50, 50, 67, 72, 59, 72, 68, 44, 72, 71, 34, 34, 67, 34, 104, 71, 69, 72, 72, 49, 60, 48, 71, 65,
  92, 65, 65, 58, 71, 37, 71, 84,
];

const FIRST = 0x20;
/**
 * Letters of Latin, Greek, Cyrillic and their like are no wider than this; ideographs and pictures fill a square and a
 * bit.
 */
const LAST_LETTER = 0x10ff;
const WIDTH_OF_LETTER = 88;
const WIDTH_OF_SQUARE = 130;

/** Pixels, at the given font size in pixels. */
export function textWidth(
  text: string,
  { size, isBold = false }: { readonly size: number; readonly isBold?: boolean },
): number {
  const table = isBold ? BOLD : REGULAR;
  let hundredths = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? FIRST;
    hundredths += table[code - FIRST] ?? (code <= LAST_LETTER ? WIDTH_OF_LETTER : WIDTH_OF_SQUARE);
  }
  return (hundredths * size) / 100;
}

/** At most so many characters, the last an ellipsis where some are missing. */
export function shortened(text: string, limit: number): string {
  const characters = Array.from(text);
  return characters.length <= limit ? text : `${characters.slice(0, limit - 1).join('')}…`;
}
