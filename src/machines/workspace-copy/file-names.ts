/**
 * Names of files as text. Systems keep them as bytes, which need not be UTF-8: a byte that is not becomes half of a
 * character, U+DC80 to U+DCFF, which no proper text holds, so that every name can be told from every other and be made
 * again.
 */

const FIRST_STRAY = 0xdc00;
const STRAY = /[\udc80-\udcff]/u;

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of a name. */
export function nameOfBytes(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    return patched(bytes);
  }
}

/** The bytes of a name or path whose text holds stray bytes; undefined for a plain one, which is its own text. */
export function bytesOfName(name: string): Uint8Array | undefined {
  if (!STRAY.test(name)) return undefined;
  const encoder = new TextEncoder();
  const bytes: number[] = [];
  for (const character of name) {
    if (STRAY.test(character)) bytes.push(character.charCodeAt(0) - FIRST_STRAY);
    else bytes.push(...encoder.encode(character));
  }
  return Uint8Array.from(bytes);
}

/** Character for character: the longest first, as one of UTF-8 has up to four bytes. */
function patched(bytes: Uint8Array): string {
  const text: string[] = [];
  for (let at = 0; at < bytes.length;) {
    const found = characterAt(bytes, at);
    text.push(found?.text ?? String.fromCharCode(FIRST_STRAY + (bytes[at] ?? 0)));
    at += found?.length ?? 1;
  }
  return text.join('');
}

function characterAt(bytes: Uint8Array, at: number): { readonly text: string; readonly length: number } | undefined {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length += 1) {
    try {
      return { text: strict.decode(bytes.subarray(at, at + length)), length };
    } catch {
      // It may be a longer one.
    }
  }
  return undefined;
}
