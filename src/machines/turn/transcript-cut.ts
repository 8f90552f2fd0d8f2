/**
 * Makes messages smaller from within: texts, results and inputs are cut in the middle, visibly, until everything fits.
 */
import { estimateMessages } from './conversation-costs.ts';
import type { ProviderMessage, ToolCallPart, ToolResultPart } from './provider-message.ts';
import { asText, attachedTokens, estimateFrame, estimatePart, estimateTokens, textOfPart } from './token-estimate.ts';
import type { Part } from './token-estimate.ts';

/** A text is not cut below this many tokens: it would be hardly more than the words that say so. */
const MIN_TEXT_TOKENS = 24;

/** No text holds more characters to a token than a run of spaces. */
const MAX_CHARACTERS_PER_TOKEN = 8;

const WITHOUT_FILES = 'its content is left out here, since there is no room for it';

/**
 * The text, with as much left out in its middle as makes it fit; a text that fits as it is. Undefined when not even the
 * marker fits. A code point is never parted.
 */
export function cutMiddle(text: string, maxTokens: number): string | undefined {
  if (estimateTokens(text) <= maxTokens) return text;
  let best: string | undefined;
  let low = 0;
  let high = Math.min(text.length, maxTokens * MAX_CHARACTERS_PER_TOKEN);
  while (low <= high) {
    const kept = (low + high) >> 1;
    const cut = withoutMiddle(text, kept);
    if (estimateTokens(cut) <= maxTokens) {
      best = cut;
      low = kept + 1;
    } else high = kept - 1;
  }
  return best;
}

/** What stands where an old output was. */
export function outputLeftOut({ output, kept }: Pick<ToolResultPart, 'output' | 'kept'>): string {
  const characters = kept?.characters ?? asText(output).length;
  return `[output of ${characters} characters left out; it is in the log of the session${kept === undefined ? '' : ` and in the file ${kept.path}`}]`;
}

/**
 * The messages within a size: the largest parts are cut first, all to the same size. Calls stay with their results. If
 * that is not enough, files are named but not given. Undefined when they do not fit even so.
 */
export function cutToFit(
  messages: readonly ProviderMessage[],
  maxTokens: number,
): readonly ProviderMessage[] | undefined {
  return cutParts(messages, maxTokens) ?? cutParts(withoutAttachments(messages), maxTokens);
}

function cutParts(messages: readonly ProviderMessage[], maxTokens: number): readonly ProviderMessage[] | undefined {
  const total = estimateMessages(messages);
  if (total <= maxTokens) return messages;
  const sizes = messages.flatMap(({ content }) => content.map((part) => estimatePart(part) - estimateFrame(part)));
  const frames = total - sizes.reduce((tokens, size) => tokens + size, 0);
  const size = largestSize(sizes, maxTokens - frames);
  return size === undefined ? undefined : messages.map((message) => withParts(message, (part) => cutPart(part, size)));
}

/** The largest size to which all can be cut so that they fit into the room together. */
function largestSize(sizes: readonly number[], room: number): number | undefined {
  let best: number | undefined;
  let low = MIN_TEXT_TOKENS;
  let high = Math.max(MIN_TEXT_TOKENS, room);
  while (low <= high) {
    const size = (low + high) >> 1;
    if (sizes.reduce((tokens, each) => tokens + Math.min(each, size), 0) <= room) {
      best = size;
      low = size + 1;
    } else high = size - 1;
  }
  return best;
}

function cutPart(part: Part, maxTokens: number): Part {
  if (estimatePart(part) - estimateFrame(part) <= maxTokens) return part;
  const text = textOfPart(part);
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { ...part, text: cutMiddle(text, maxTokens) ?? '…' };
    case 'tool_result':
      return { ...part, output: cutMiddle(text, maxTokens) ?? '…' };
    case 'tool_call':
      return { ...part, input: cutInput(part, maxTokens) };
    case 'file':
      return part;
  }
}

/**
 * The input stays an object: long texts in it are cut, and where that is not enough it is shown as the text of its
 * JSON.
 */
function cutInput({ input }: ToolCallPart, maxTokens: number): unknown {
  const entries: readonly (readonly [string, unknown])[] = Object.entries(input as object);
  const room = Math.floor(maxTokens / 2 / Math.max(1, entries.length));
  const cut = Object.fromEntries(
    entries.map(([key, value]) => [key, typeof value === 'string' ? (cutMiddle(value, room) ?? value) : value]),
  );
  // Quotes and line breaks take more in JSON than in the text.
  const shown = { leftOut: cutMiddle(asText(input), Math.floor(maxTokens / 3)) };
  return [cut, shown].find((each) => estimateTokens(asText(each)) <= maxTokens) ?? {};
}

/** Images of results go with the output that refers to them. */
function withoutAttachments(messages: readonly ProviderMessage[]): readonly ProviderMessage[] {
  return messages.map((message) =>
    withParts(message, (part) => {
      if (part.type === 'file') return { type: 'text', text: `[${part.name}: ${WITHOUT_FILES}]` };
      return part.type === 'tool_result' && attachedTokens(part) > 0 ? { ...part, output: outputLeftOut(part) } : part;
    }),
  );
}

/** The change must give each part one that its message may hold. */
function withParts(message: ProviderMessage, change: (part: Part) => Part): ProviderMessage {
  // A message of one role holds parts of that role only, which the compiler cannot follow through the union.
  return { ...message, content: (message.content as readonly Part[]).map(change) } as ProviderMessage;
}

function withoutMiddle(text: string, kept: number): string {
  const head = wholeCodePoints(text, Math.ceil(kept / 2));
  const tail = wholeCodePoints(text, text.length - Math.floor(kept / 2));
  const leftOut = tail - head;
  return leftOut <= 0 ? text : `${text.slice(0, head)}\n[… ${leftOut} characters left out …]\n${text.slice(tail)}`;
}

/** The index, or the one before where it would part a surrogate pair. */
function wholeCodePoints(text: string, index: number): number {
  const code = text.charCodeAt(index);
  const isSecondHalf = code >= 0xdc00 && code < 0xe000 && index > 0;
  return isSecondHalf ? index - 1 : index;
}
