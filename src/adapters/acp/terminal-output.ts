/** The end of what a command has written, in as many bytes as are kept, cut between characters. */

export class TerminalOutput {
  readonly #limitBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  #isTruncated = false;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  add(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#bytes += chunk.length;
    // Cut seldom: each cut copies.
    if (this.#bytes > this.#limitBytes * 2 + 65_536) this.#shrink();
  }

  /** @param isWhole nothing more comes: half a character at the end stays one */
  read(isWhole: boolean): { readonly output: string; readonly truncated: boolean } {
    this.#shrink();
    const bytes = Buffer.concat(this.#parts);
    const shown = isWhole ? bytes : bytes.subarray(0, bytes.length - unfinishedBytes(bytes));
    return { output: shown.toString('utf8'), truncated: this.#isTruncated };
  }

  #shrink(): void {
    if (this.#bytes <= this.#limitBytes) return;
    const all = Buffer.concat(this.#parts);
    let start = all.length - this.#limitBytes;
    // In the middle of a character: the rest of it goes too.
    while (start < all.length && isContinuation(all[start])) start += 1;
    const kept = Buffer.from(all.subarray(start));
    this.#parts = [kept];
    this.#bytes = kept.length;
    this.#isTruncated = true;
  }
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Bytes at the end that are the beginning of a character. */
function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}
