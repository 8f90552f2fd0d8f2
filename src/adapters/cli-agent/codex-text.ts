/** What Codex says, piece by piece, and then once more as a whole. */
import type { CodexItem } from './codex-protocol.ts';
import type { CliFact } from './dialect.ts';

interface Told {
  readonly block: number;
  readonly text: string;
}

export class CodexText {
  /** Of what is not told as a whole yet. */
  readonly #told = new Map<string, Told>();
  #blocks = 0;

  piece(what: 'text' | 'reasoning', itemId: string, text: string): readonly CliFact[] {
    const told = this.#told.get(itemId) ?? { block: (this.#blocks += 1), text: '' };
    this.#told.set(itemId, { ...told, text: told.text + text });
    return text === '' ? [] : [{ kind: 'said', what, block: told.block, text }];
  }

  /** What its summary says next stands in a paragraph of its own. */
  nextPart(itemId: string): readonly CliFact[] {
    return this.#told.has(itemId) ? this.piece('reasoning', itemId, '\n\n') : [];
  }

  /** The rest of what was not told in pieces. What was told otherwise cannot be taken back. */
  whole({ id, type, text, summary = [] }: CodexItem): readonly CliFact[] {
    const what = type === 'reasoning' ? 'reasoning' : 'text';
    const said = what === 'reasoning' ? summary.join('\n\n') : (text ?? '');
    const told = this.#told.get(id)?.text ?? '';
    const rest = said.startsWith(told) ? this.piece(what, id, said.slice(told.length)) : [];
    this.#told.delete(id);
    return rest;
  }
}
