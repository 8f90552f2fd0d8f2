/**
 * What Claude Code says, once: it streams each block of text in pieces and then tells the whole block again, and an
 * older one tells whole blocks only.
 */
import type * as z from 'zod';
import type { CliFact } from './dialect.ts';
import type { streamEvent } from './claude-messages.ts';

type What = 'text' | 'reasoning';

interface StreamedBlock {
  readonly what: What;
  readonly number: number;
  readonly index: number | undefined;
  text: string;
}

const KINDS: Readonly<Record<string, What>> = { text: 'text', thinking: 'reasoning' };

export class ClaudeText {
  /** Streamed, and not told as a whole yet. */
  #blocks: StreamedBlock[] = [];
  #count = 0;

  /** A piece of what the model says, as it streams. */
  streamed({ type, index, content_block, delta }: z.output<typeof streamEvent>['event']): readonly CliFact[] {
    // What the message before it has not told as a whole will not be told any more.
    if (type === 'message_start') this.#blocks = [];
    const kind = KINDS[content_block?.type ?? ''];
    if (type === 'content_block_start' && kind !== undefined) this.#open(kind, index);
    if (type !== 'content_block_delta') return [];
    const what = delta?.thinking === undefined ? 'text' : 'reasoning';
    const text = delta?.thinking ?? delta?.text ?? '';
    if (text === '') return [];
    const block =
      this.#blocks.findLast((open) => open.index === index && open.what === what) ?? this.#open(what, index);
    block.text += text;
    return [{ kind: 'said', what, block: block.number, text }];
  }

  /** A whole block: as much of it as was not streamed. What was streamed otherwise cannot be taken back. */
  whole(what: What, text: string): readonly CliFact[] {
    const place = this.#blocks.findIndex((open) => open.what === what);
    const streamed = place === -1 ? undefined : this.#blocks.splice(place, 1)[0];
    if (streamed === undefined) {
      this.#count += 1;
      return [{ kind: 'said', what, block: this.#count, text }];
    }
    if (!text.startsWith(streamed.text)) return [];
    return [{ kind: 'said', what, block: streamed.number, text: text.slice(streamed.text.length) }];
  }

  #open(what: What, index: number | undefined): StreamedBlock {
    this.#count += 1;
    const block: StreamedBlock = { what, number: this.#count, index, text: '' };
    this.#blocks.push(block);
    return block;
  }
}
