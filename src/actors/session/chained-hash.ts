/**
 * SHA-256 over text that never is in memory as a whole: each block is hashed together with the hash of the blocks
 * before it.
 */

export class ChainedHash {
  readonly #blockLines: number;
  #hash = '';
  #block: string[] = [];

  constructor(blockLines: number) {
    this.#blockLines = blockLines;
  }

  async add(line: string): Promise<void> {
    this.#block.push(line);
    if (this.#block.length >= this.#blockLines) await this.#close();
  }

  /** As 64 hexadecimal digits. */
  async digest(): Promise<string> {
    if (this.#block.length > 0 || this.#hash === '') await this.#close();
    return this.#hash;
  }

  async #close(): Promise<void> {
    const bytes = new TextEncoder().encode(this.#hash + this.#block.join(''));
    this.#block = [];
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
    this.#hash = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  }
}
