/**
 * A 64-bit hash of ids and keys, as two 32-bit words. It finds candidates: its caller reads the record before it
 * believes it.
 */

export interface TextHash {
  readonly low: number;
  readonly high: number;
}

/** Never zero in both words: that stands for "none". */
export function hashText(text: string): TextHash {
  let one = 0x9e3779b1;
  let other = 0x85ebca77;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    one = Math.imul(one ^ code, 0x85ebca6b);
    other = Math.imul(other ^ code, 0xc2b2ae35);
  }
  one = Math.imul(one ^ (one >>> 16), 0x21f0aaad) ^ Math.imul(other ^ (other >>> 13), 0x735a2d97);
  other = Math.imul(other ^ (other >>> 16), 0x735a2d97) ^ Math.imul(one ^ (one >>> 13), 0x21f0aaad);
  const low = one >>> 0;
  const high = other >>> 0;
  return low === 0 && high === 0 ? { low: 1, high: 0 } : { low, high };
}
