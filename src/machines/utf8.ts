/** Sizes of text as it is stored and sent. */

/** Bytes that `text` takes in UTF-8. A lone surrogate counts as the three bytes of its replacement character. */
export function utf8Length(text: string): number {
  // Most text is ASCII, and a loop without branches finds that out fastest.
  let seen = 0;
  for (let index = 0; index < text.length; index += 1) seen |= text.charCodeAt(index);
  return seen < 0x80 ? text.length : text.length + bytesBeyondOne(text);
}

function bytesBeyondOne(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x80) continue;
    if (code < 0x800) bytes += 1;
    else if (code >= 0xd800 && code < 0xdc00 && isLowSurrogate(text.charCodeAt(index + 1))) {
      bytes += 2;
      index += 1;
    } else bytes += 2;
  }
  return bytes;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code < 0xe000;
}
