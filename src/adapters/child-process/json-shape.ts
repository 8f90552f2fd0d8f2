/**
 * Counts what is in JSON text before it is parsed: parsing many small values takes longer than reading one long text.
 */
import { WORKER_DEPTH, WORKER_VALUES } from '../../machines/subagent/worker-bounds.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const [OPEN_LIST, CLOSE_LIST] = [0x5b, 0x5d];
const [OPEN_OBJECT, CLOSE_OBJECT] = [0x7b, 0x7d];

/** @throws Error saying what there is too much of. What is no JSON is for the parser to say. */
export function checkShape(text: Uint8Array): void {
  let values = 1;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === QUOTE) at = endOfText(text, at);
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values += 1;
      depth += 1;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    else if (byte === COMMA || byte === COLON) values += 1;
    if (values > WORKER_VALUES) throw new Error(`expected a message of at most ${WORKER_VALUES} values, it has more`);
    if (depth > WORKER_DEPTH)
      throw new Error(`expected a message with at most ${WORKER_DEPTH} lists and objects in each other, it has more`);
  }
}

/** Where the text that begins at `start` ends. */
function endOfText(text: Uint8Array, start: number): number {
  for (let end = text.indexOf(QUOTE, start + 1); end !== -1; end = text.indexOf(QUOTE, end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}
