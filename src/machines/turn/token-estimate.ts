/**
 * How many tokens a model will count, estimated from the kinds of characters: the same everywhere, without a provider's
 * own vocabulary.
 *
 * Meant to err on the high side. Against byte-pair vocabularies of 100,000 and more entries: English prose and code
 * come out from right to 1.4 times too high; digits, hexadecimal and base64 from right to 1.6 times; Chinese, Japanese
 * and Korean 1.2 to 2 times; Cyrillic and Greek up to 2 times. Too low, by up to a half, are made-up words of
 * lower-case letters, which no vocabulary holds. So leave a tenth free.
 */
import { imageReferencesIn } from './provider-message.ts';
import type { FilePart, ProviderMessage } from './provider-message.ts';
import type { ToolDescriptor } from './tool-definition.ts';

/** What one image costs at most with the providers of today, which scale down what is larger. */
export const IMAGE_TOKENS = 1_600;

/** What a provider adds to frame a message, a part of one, and the description of a tool. */
const MESSAGE_TOKENS = 4;
const PART_TOKENS = 4;
const TOOL_TOKENS = 12;

/** Bytes of a document to a token: pages are given as text and as a picture. */
const DOCUMENT_BYTES_PER_TOKEN = 16;
const TEXT_BYTES_PER_TOKEN = 3;

/** Costs are counted in quarters of a token, so that sums are exact. */
const TOKEN = 4;
/** Letters that are one token at most, and then letters to a token. */
const SHORT_WORD_LETTERS = 6;
const LETTERS_PER_TOKEN = 4;
const CAPITALS_PER_TOKEN = 2;
const DIGITS_PER_TOKEN = 2;
const SPACES_PER_TOKEN = 8;
const REPEATS_PER_TOKEN = 4;
/** Of a character of two, three and four bytes in UTF-8, in quarters. */
const TWO_BYTE_COST = 3;
const THREE_BYTE_COST = 6;
const HALF_SURROGATE_PAIR_COST = 6;

/**
 * Where letters and digits of different kinds meet, as in base64: what no vocabulary holds falls into smaller pieces
 * than its runs.
 */
const JOINT_COST = 1;

/** Kinds of characters; those of words first. */
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
const SPACE = 4;
const NEWLINE = 5;
const MARK = 6;
const WIDE = 7;

const KIND_OF_ASCII: Uint8Array = kindsOfAscii();

/** Tokens of a text. That of two texts joined is within 4 of the sum of both. */
export function estimateTokens(text: string): number {
  let quarters = 0;
  let followsWord = false;
  for (let start = 0; start < text.length;) {
    const kind = kindAt(text, start);
    const end = endOfRun(text, start, kind);
    const isWord = kind <= DIGIT;
    quarters += costOfRun(text, { start, end, kind }) + (followsWord && isWord ? JOINT_COST : 0);
    followsWord = isWord;
    start = end;
  }
  return Math.ceil(quarters / TOKEN);
}

/** Tokens of one message. */
export function estimateMessage(message: ProviderMessage): number {
  const { words, attachments } = messageCosts(message);
  return words + attachments;
}

export interface MessageCosts {
  readonly words: number;
  /** Of images and files, whose bytes are loaded when a model is called. */
  readonly attachments: number;
  /** Up to where in the log a summary in it stands for what was said. */
  readonly summarizesThroughSeq?: number | undefined;
}

/** What is known already: messages are values, and each step asks several times. */
const KNOWN_MESSAGES = new WeakMap<ProviderMessage, MessageCosts>();

export function messageCosts(message: ProviderMessage): MessageCosts {
  const known = KNOWN_MESSAGES.get(message);
  if (known !== undefined) return known;
  let [words, attachments] = [MESSAGE_TOKENS, 0];
  let summarizesThroughSeq: number | undefined;
  for (const part of message.content) {
    words += estimatePart(part);
    attachments += attachedTokens(part);
    if (part.type === 'text') summarizesThroughSeq = part.summarizesThroughSeq ?? summarizesThroughSeq;
  }
  const costs = { words, attachments, summarizesThroughSeq };
  KNOWN_MESSAGES.set(message, costs);
  return costs;
}

export type Part = ProviderMessage['content'][number];

/** What is known of parts already: a conversation grows by its end, and is estimated anew for each step. */
const KNOWN = new WeakMap<Part, number>();

/** Tokens of the words of a part. */
export function estimatePart(part: Part): number {
  const known = KNOWN.get(part);
  if (known !== undefined) return known;
  const tokens = estimateFrame(part) + estimateTokens(textOfPart(part));
  KNOWN.set(part, tokens);
  return tokens;
}

/** Tokens of a part beside its text. */
export function estimateFrame(part: Part): number {
  return PART_TOKENS + ('callId' in part ? estimateTokens(part.callId) + estimateTokens(part.name) : 0);
}

/** What a part says, as a model reads it: nothing for a file, which is described beside it. */
export function textOfPart(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text;
    case 'tool_result':
      return asText(part.output);
    case 'tool_call':
      return asText(part.input);
    case 'file':
      return '';
  }
}

/** Tokens of what a part refers to. */
export function attachedTokens(part: Part): number {
  if (part.type === 'file') return fileTokens(part);
  return part.type === 'tool_result' ? imageReferencesIn(part.output).length * IMAGE_TOKENS : 0;
}

/** Tokens of the descriptions of all tools: the sum of each. */
export function estimateTools(tools: readonly ToolDescriptor[]): number {
  return tools.reduce((tokens, tool) => tokens + toolTokens(tool), 0);
}

/** Descriptions are made once, and every step counts all of them. */
const counted = new WeakMap<ToolDescriptor, number>();

function toolTokens(tool: ToolDescriptor): number {
  const known = counted.get(tool);
  if (known !== undefined) return known;
  const { name, description, inputSchema } = tool;
  const tokens = TOOL_TOKENS + estimateTokens(name) + estimateTokens(description) + estimateTokens(asText(inputSchema));
  counted.set(tool, tokens);
  return tokens;
}

/** A value as a model reads it: a text as it is, everything else as JSON. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function fileTokens({ mediaType, bytes }: FilePart): number {
  if (mediaType.startsWith('image/')) return IMAGE_TOKENS;
  return Math.ceil(
    bytes /
      (mediaType.startsWith('text/') || mediaType === 'application/json'
        ? TEXT_BYTES_PER_TOKEN
        : DOCUMENT_BYTES_PER_TOKEN),
  );
}

/**
 * A run is characters of one kind; a capital begins a run of small letters, and different marks make runs of their own.
 */
function endOfRun(text: string, start: number, kind: number): number {
  const next = start + 1;
  if (kind === WIDE) return next;
  if (kind === UPPER && kindAt(text, next) === LOWER) return endOfKind(text, next, LOWER);
  return kind === MARK ? endOfRepeats(text, start) : endOfKind(text, next, kind);
}

function endOfKind(text: string, from: number, kind: number): number {
  let end = from;
  while (kindAt(text, end) === kind) end += 1;
  return end;
}

function endOfRepeats(text: string, start: number): number {
  const code = text.charCodeAt(start);
  let end = start + 1;
  while (text.charCodeAt(end) === code) end += 1;
  return end;
}

function costOfRun(
  text: string,
  { start, end, kind }: { readonly start: number; readonly end: number; readonly kind: number },
): number {
  const length = end - start;
  switch (kind) {
    case LOWER:
      return costOfWord(length);
    case UPPER:
      return kindAt(text, end - 1) === LOWER ? costOfWord(length) : TOKEN * Math.ceil(length / CAPITALS_PER_TOKEN);
    case DIGIT:
      return TOKEN * Math.ceil(length / DIGITS_PER_TOKEN);
    case SPACE:
      return costOfSpaces(length, kindAt(text, end));
    case NEWLINE:
    case MARK:
      return TOKEN * Math.ceil(length / REPEATS_PER_TOKEN);
    default:
      return costOfWide(text.charCodeAt(start));
  }
}

function costOfWord(letters: number): number {
  return letters <= SHORT_WORD_LETTERS ? TOKEN : TOKEN * Math.ceil(letters / LETTERS_PER_TOKEN);
}

/** One space belongs to the word after it. */
function costOfSpaces(length: number, next: number): number {
  const own = next === LOWER || next === UPPER || next === MARK ? length - 1 : length;
  return TOKEN * Math.ceil(own / SPACES_PER_TOKEN);
}

function costOfWide(code: number): number {
  if (code < 0x800) return TWO_BYTE_COST;
  return code >= 0xd800 && code < 0xe000 ? HALF_SURROGATE_PAIR_COST : THREE_BYTE_COST;
}

/** 0 beyond the end. */
function kindAt(text: string, index: number): number {
  if (index >= text.length) return 0;
  const code = text.charCodeAt(index);
  return code < 0x80 ? (KIND_OF_ASCII[code] ?? MARK) : WIDE;
}

function kindsOfAscii(): Uint8Array {
  const kinds = new Uint8Array(0x80).fill(MARK);
  kinds.fill(DIGIT, 0x30, 0x3a);
  kinds.fill(UPPER, 0x41, 0x5b);
  kinds.fill(LOWER, 0x61, 0x7b);
  kinds[0x20] = SPACE;
  kinds[0x09] = SPACE;
  kinds[0x0a] = NEWLINE;
  kinds[0x0d] = NEWLINE;
  return kinds;
}
