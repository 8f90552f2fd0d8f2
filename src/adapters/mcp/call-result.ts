/** What a tool of an MCP server answered, as a JSON value for the model. */
import * as z from 'zod';
import { beginningOf } from '../../machines/cut-text.ts';
import { MAX_TOOL_RESULT_CHARACTERS } from '../../machines/session/limits.ts';
import { imageReferencesIn } from '../../machines/turn/provider-message.ts';
import { FileReferences } from './file-references.ts';
import type { FilePart, FileReferencesOptions, SentFile } from './file-references.ts';
import { isRecord } from '../../machines/validate.ts';
import type { SecretRedaction } from '../../machines/vault/secret-redaction.ts';

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

type Part = FilePart;

/**
 * A text when there is nothing but text; the structured content when the blocks say the same in words, but a text that
 * is all of it as a text; else `{ structured?, content: [{ type, ... }] }`. What is too large or not known is named in its place. Images, sounds and
 * files are kept, and stand there by reference: the tool that was called must have run, so what cannot be kept is left
 * out and said to be.
 */
export async function resultForModel(result: CallResult, options: FileReferencesOptions): Promise<unknown> {
  const { redaction } = options;
  const files = new FileReferences(options);
  const parts: Part[] = [];
  // In turn: the first of them are kept, and only so many.
  for (const block of blocksOf(result.content, redaction))
    parts.push('file' in block ? await files.partOf(block.file) : block.part);
  const structured = withoutReferences(redaction.json(result.structuredContent));
  const texts = parts.flatMap((part) => (part.type === 'text' ? [String(part['text'])] : []));
  const text = texts.join('\n');
  const isOnlyText = texts.length === parts.length;
  if (structured === undefined) return isOnlyText ? text : withImagesApart({ content: parts });
  if (isOnlyText && onlyValueOf(structured) === text) return text;
  return isOnlyText && sayTheSame(texts, structured) ? structured : withImagesApart({ structured, content: parts });
}

/**
 * Data of a server in which something could be taken for an image that we have kept is only told: it would choose which
 * file a model is shown.
 */
function withoutReferences(structured: unknown): unknown {
  return [structured, [structured]].some((output) => imageReferencesIn(output).length > 0)
    ? JSON.stringify(structured)
    : structured;
}

interface Composed {
  readonly structured?: unknown;
  readonly content: readonly Part[];
}

/** What is too long for a log is cut there as a text, and images that are part of that text would be lost with it. */
function withImagesApart(composed: Composed): object {
  const images = composed.content.filter((part) => imageReferencesIn(part).length > 0);
  if (images.length === 0 || JSON.stringify(composed).length <= MAX_TOOL_RESULT_CHARACTERS) return composed;
  const others = composed.content
    .filter((part) => !images.includes(part))
    .map((part) => (part.type === 'text' ? String(part['text']) : JSON.stringify(part)));
  const output = [...('structured' in composed ? [JSON.stringify(composed.structured)] : []), ...others].join('\n');
  return { output, content: images };
}

/** The words of a result, for an error. */
export function wordsOf(result: CallResult, redaction: SecretRedaction): string {
  const words = blocksOf(result.content, redaction).map((block) =>
    'file' in block ? `[${block.file.type}]` : wordsOfPart(block.part),
  );
  const structured =
    result.structuredContent === undefined ? [] : [JSON.stringify(redaction.json(result.structuredContent))];
  const text = (words.length > 0 ? words : structured).join('\n').trim();
  return text.length <= MAX_ERROR_CHARACTERS
    ? text
    : `${beginningOf(text, MAX_ERROR_CHARACTERS)}\n[${text.length - MAX_ERROR_CHARACTERS} more characters were left out]`;
}

function wordsOfPart(part: Part): string {
  return part.type === 'text' ? String(part['text']) : `[${part.type}]`;
}

/** What a block is read into: all that a model gets of it, or a file. */
type Block = { readonly part: Part } | { readonly file: SentFile };

function blocksOf(content: readonly unknown[], redaction: SecretRedaction): Block[] {
  const blocks = content.slice(0, MAX_BLOCKS).map((given) => blockOf(given, redaction));
  const more = content.length - blocks.length;
  return more === 0 ? blocks : [...blocks, { part: { type: 'text', text: `[${more} more blocks were left out]` } }];
}

const binary = { data: z.string(), mimeType: z.string().optional() };

/** The blocks that are known. */
const knownBlock = z.discriminatedUnion('type', [
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
    resource: z.looseObject({
      uri: z.string(),
      mimeType: z.string().optional(),
      text: z.string().optional(),
      blob: z.string().optional(),
    }),
  }),
]);

function blockOf(given: unknown, redaction: SecretRedaction): Block {
  const parsed = knownBlock.safeParse(given);
  if (!parsed.success)
    return {
      part: {
        type: 'text',
        text: `[a block of type ${redaction.text(typeOf(given))} was left out: it is not known or not well-formed]`,
      },
    };
  const known = parsed.data;
  switch (known.type) {
    case 'text':
      return { part: { type: 'text', text: redaction.text(known.text) } };
    case 'image':
    case 'audio':
      return { file: { type: known.type, data: known.data, mediaType: known.mimeType } };
    case 'resource_link': {
      const { type, uri, name, description, mimeType } = known;
      return { part: redaction.json({ type, uri, name, description, mediaType: mimeType }) };
    }
    case 'resource': {
      const { uri, mimeType, text, blob } = known.resource;
      if (text === undefined && blob !== undefined)
        return { file: { type: 'resource', data: blob, mediaType: mimeType, uri } };
      return { part: redaction.json({ type: 'resource', uri, mediaType: mimeType, text }) };
    }
  }
}

function typeOf(given: unknown): string {
  const type = typeof given === 'object' && given !== null && 'type' in given ? given.type : undefined;
  return JSON.stringify(typeof type === 'string' ? type.slice(0, 40) : null);
}

/** What a tool answers that is no object, many servers wrap into one: `{ result }`, `{ content }`. */
function onlyValueOf(structured: unknown): unknown {
  const values = isRecord(structured) ? Object.values(structured) : [];
  return values.length === 1 ? values[0] : undefined;
}

/** Servers repeat structured content as text for clients that do not know it: as a whole, or item by item. */
function sayTheSame(texts: readonly string[], structured: unknown): boolean {
  const value = onlyValueOf(structured);
  const isSame = (text: string, item: unknown): boolean => text === item || isJsonOf(text, item);
  return (
    texts.length === 0 ||
    [structured, value].some((whole) => isSame(texts.join('\n'), whole)) ||
    (Array.isArray(value) && value.length === texts.length && value.every((item, at) => isSame(texts[at] ?? '', item)))
  );
}

function isJsonOf(text: string, value: unknown): boolean {
  try {
    return JSON.stringify(sorted(JSON.parse(text))) === JSON.stringify(sorted(value));
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
