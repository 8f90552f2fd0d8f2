/**
 * SHA-256 over text that never is in memory as a whole: each block is hashed together with the hash of the blocks
 * before it.
 */
import { sha256Hex } from '../sha256.ts';

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
    const text = this.#hash + this.#block.join('');
    this.#block = [];
    this.#hash = await sha256Hex(text);
  }
}
