/** What was said and given, on spans: nothing unless the user asks for it, and then only so much of it. */
import { beginningOf } from '../cut-text.ts';
import type { SpanAttributes } from './span-operation.ts';

/** `maxCharacters`: of each attribute; 0 leaves them out. */
export class SpanContents {
  readonly #maxCharacters: number;

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  /** A value as JSON, a text as it is. */
  attribute(name: string, value: unknown): SpanAttributes {
    if (this.#maxCharacters === 0) return {};
    const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
    return { [name]: this.#cut(text) };
  }

  /** What a model said, in the form of the conventions. */
  output(texts: readonly string[]): SpanAttributes {
    if (this.#maxCharacters === 0 || texts.length === 0) return {};
    const content = this.#cut(texts.join('\n\n'));
    return {
      'gen_ai.output.messages': JSON.stringify([
        { role: 'assistant', parts: [{ type: 'text', content }], finish_reason: 'stop' },
      ]),
    };
  }

  /** Keeps no more of what is said than will be told. */
  hold(texts: string[], text: string): void {
    const held = texts.reduce((sum, { length }) => sum + length, 0);
    if (held < this.#maxCharacters) texts.push(this.#cut(text));
  }

  /** The message of an error may repeat what a model was given. */
  message(text: string | undefined): string | undefined {
    return this.#maxCharacters === 0 || text === undefined ? undefined : this.#cut(text);
  }

  #cut(text: string): string {
    return text.length <= this.#maxCharacters ? text : `${beginningOf(text, this.#maxCharacters)}…`;
  }
}
