/** Bytes as programs print them that count in numbers: `od`, `hexdump`, `od -An -td1`, and lists of numbers as JSON and Python write them. White space between them is for whoever looks. */

/** Digits in which `od` prints two bytes. */
const OCTAL_WORD_DIGITS = 6;

/** Each byte by itself: in decimal, with commas and without, and in octal. */
function byteForms(bytes: Uint8Array): string[] {
  return [Array.from(bytes).join(','), Array.from(bytes).join(''), Array.from(bytes, (byte) => byte.toString(8).padStart(3, '0')).join('')];
}

/** Several bytes as one number, the last of them first: what stands before the bytes moves where numbers begin. */
function wordForms(bytes: Uint8Array): string[] {
  return [2, 4, 8].flatMap((size) => Array.from({ length: size }, (_, moved) => wordsOf(bytes.subarray(moved), size)).flatMap((words) => [hexOf(words, size), ...(size === 2 ? [octalOf(words)] : [])]));
}

/** Whole ones only: what is beside the bytes in others is not known. */
function wordsOf(bytes: Uint8Array, size: number): readonly bigint[] {
  return Array.from({ length: Math.floor(bytes.length / size) }, (_, word) => bytes.subarray(word * size, (word + 1) * size).reduceRight((number, byte) => number * 256n + BigInt(byte), 0n));
}

function hexOf(words: readonly bigint[], size: number): string {
  return words.map((word) => word.toString(16).padStart(2 * size, '0')).join('');
}

function octalOf(words: readonly bigint[]): string {
  return words.map((word) => word.toString(8).padStart(OCTAL_WORD_DIGITS, '0')).join('');
}

export function numberForms(bytes: Uint8Array): string[] {
  return [...byteForms(bytes), ...wordForms(bytes)];
}
