/**
 * What the model of a program has said in a run: streamed as it comes, without secrets, and kept as the payloads of the
 * result.
 */
import type { AgentRunEventBody, RunPayload } from '../../machines/run/run-output.ts';
import type { PieceRedaction, SecretRedaction } from '../../machines/vault/secret-redaction.ts';

/** In one run. */
export const MAX_SAID_CHARACTERS = 8_000_000;

export interface SaidSoFarOptions {
  readonly redaction: SecretRedaction;
  readonly emit: (event: AgentRunEventBody) => void;
}

interface Block {
  readonly what: 'text' | 'reasoning';
  readonly number: number;
  readonly pieces: string[];
  readonly redaction: PieceRedaction<string>;
}

export class SaidSoFar {
  readonly #options: SaidSoFarOptions;
  readonly #payloads: RunPayload[] = [];
  #block: Block | undefined;
  #characters = 0;

  constructor(options: SaidSoFarOptions) {
    this.#options = options;
  }

  /** Of all texts together. */
  get characters(): number {
    return this.#characters;
  }

  /** Whether there is an answer, and not only thoughts. */
  get hasText(): boolean {
    return this.#block?.what === 'text' || this.#payloads.some(({ type }) => type === 'text');
  }

  add({
    what,
    block,
    text,
  }: {
    readonly what: 'text' | 'reasoning';
    readonly block: number;
    readonly text: string;
  }): void {
    if (text === '') return;
    if (this.#block?.what !== what || this.#block.number !== block) {
      this.end();
      this.#block = { what, number: block, pieces: [], redaction: this.#options.redaction.pieces() };
    }
    this.#characters += text.length;
    this.#tell(this.#block, this.#block.redaction.add(text));
  }

  /** The block that is open is over: what was kept back of it is told. */
  end(): void {
    const block = this.#block;
    if (block === undefined) return;
    this.#tell(block, block.redaction.end());
    this.#block = undefined;
    const text = block.pieces.join('');
    if (text !== '') this.#payloads.push({ type: block.what, text });
  }

  /** All that was said, in order. */
  payloads(): readonly RunPayload[] {
    this.end();
    return [...this.#payloads];
  }

  #tell(block: Block, text: string): void {
    if (text === '') return;
    block.pieces.push(text);
    this.#options.emit({ stream: 'assistant', data: { kind: block.what, text } });
  }
}
