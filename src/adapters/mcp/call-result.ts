/** What a tool of an MCP server answered, as a JSON value for the model. */
import { z } from 'zod';
import type { Redaction } from './redaction.ts';

/** Base64 characters of images, sounds and files of one result, all together: a model pays for each. */
const MAX_BINARY_CHARACTERS = 120_000;
/** Blocks of one result. */
const MAX_BLOCKS = 1_000;
/** Of what a tool says about its failure. */
const MAX_ERROR_CHARACTERS = 16_000;

/** Lenient: a block that is wrong must not cost the model the others. */
export const callResultSchema = z.looseObject({
  content: z.array(z.unknown()).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
  _meta: z.record(z.string(), z.unknown()).optional(),
});

export type CallResult = z.output<typeof callResultSchema>;

type Part = Readonly<Record<string, unknown>> & { readonly type: string };

/**
 * A text when there is nothing but text; the structured content when the blocks say the same in words; else
 * `{ structured?, content: [{ type, ... }] }`. What is too large or not known is named in its place.
 */
export function resultForModel(result: CallResult, redaction: Redaction): unknown {
  const parts = partsOf(result.content, redaction);
  const structured = redaction.json(result.structuredContent);
  const texts = parts.map((part) => (part.type === 'text' ? String(part['text']) : undefined));
  const isOnlyText = texts.every((text) => text !== undefined);
  if (structured === undefined) return isOnlyText ? texts.join('\n') : { content: parts };
  return isOnlyText && (texts.length === 0 || saysTheSame(texts.join('\n'), structured)) ? structured : { structured, content: parts };
}

/** The words of a result, for an error. */
export function wordsOf(result: CallResult, redaction: Redaction): string {
  const words = partsOf(result.content, redaction).map((part) => (part.type === 'text' ? String(part['text']) : `[${part.type}]`));
  const structured = result.structuredContent === undefined ? [] : [JSON.stringify(redaction.json(result.structuredContent))];
  const text = (words.length > 0 ? words : structured).join('\n').trim();
  return text.length <= MAX_ERROR_CHARACTERS ? text : `${text.slice(0, MAX_ERROR_CHARACTERS)}\n[${text.length - MAX_ERROR_CHARACTERS} more characters were left out]`;
}

function partsOf(content: readonly unknown[], redaction: Redaction): Part[] {
  const room = { characters: MAX_BINARY_CHARACTERS };
  const parts = content.slice(0, MAX_BLOCKS).map((block) => partOf(block, room, redaction));
  const more = content.length - parts.length;
  return more === 0 ? parts : [...parts, { type: 'text', text: `[${more} more blocks were left out]` }];
}

const binary = { data: z.string(), mimeType: z.string().default('application/octet-stream') };

/** The blocks that are known, each read into what the model gets. */
const block = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('image'), ...binary }),
  z.looseObject({ type: z.literal('audio'), ...binary }),
  z.looseObject({
    type: z.literal('resource_link'),
    uri: z.string(),
    name: z.string().optional(),
    description: z.string().optional(),
    mimeType: z.string().optional(),
  }),
  z.looseObject({
    type: z.literal('resource'),
    resource: z.looseObject({ uri: z.string(), mimeType: z.string().optional(), text: z.string().optional(), blob: z.string().optional() }),
  }),
]);

interface Room {
  /** What binary data may still take. */
  characters: number;
}

function partOf(given: unknown, room: Room, redaction: Redaction): Part {
  const parsed = block.safeParse(given);
  if (!parsed.success) return { type: 'text', text: `[a block of type ${redaction.text(typeOf(given))} was left out: it is not known or not well-formed]` };
  const known = parsed.data;
  switch (known.type) {
    case 'text':
      return { type: 'text', text: redaction.text(known.text) };
    case 'image':
    case 'audio':
      return { type: known.type, mediaType: known.mimeType, ...dataOrRemark(known.data, room) };
    case 'resource_link': {
      const { type, uri, name, description, mimeType } = known;
      return redaction.json({ type, uri, name, description, mediaType: mimeType }) as Part;
    }
    case 'resource': {
      const { uri, mimeType, text, blob } = known.resource;
      const content = text === undefined ? dataOrRemark(blob ?? '', room) : { text };
      return redaction.json({ type: 'resource', uri, mediaType: mimeType, ...content }) as Part;
    }
  }
}

function dataOrRemark(data: string, room: Room): { readonly data: string } | { readonly leftOut: string } {
  if (data.length > room.characters) {
    return { leftOut: `${Math.floor((data.length * 3) / 4)} bytes of data were left out: too large for one result` };
  }
  room.characters -= data.length;
  return { data };
}

function typeOf(given: unknown): string {
  const type = typeof given === 'object' && given !== null && 'type' in given ? given.type : undefined;
  return JSON.stringify(typeof type === 'string' ? type.slice(0, 40) : null);
}

/** Servers repeat structured content as text for clients that do not know it. */
function saysTheSame(text: string, structured: unknown): boolean {
  try {
    return JSON.stringify(sorted(JSON.parse(text))) === JSON.stringify(sorted(structured));
  } catch {
    return false;
  }
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}
