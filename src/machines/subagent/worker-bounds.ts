/**
 * How much a worker may say beside its answer. A parent copies, redacts and stores what it hears, value by value: one
 * text may be long, but many small values would keep it busy for as long as their sender likes.
 */
import { beginningOf } from '../cut-text.ts';
import type { SecretRedaction } from '../vault/secret-redaction.ts';
import { shortened } from '../vault/shortened.ts';
import { utf8Length } from '../utf8.ts';

/** Of arguments, details and metadata, each: the texts in them, with a little for each value. */
export const WORKER_EXTRA_BYTES = 262_144;
/** Values in one message, keys included. */
export const WORKER_VALUES = 4_000;
/** Lists and objects in each other. */
export const WORKER_DEPTH = 64;
/** Of a text that is neither an answer nor a prompt, in characters. */
export const WORKER_NOTE_CHARACTERS = 65_536;

const BYTES_OF_A_VALUE = 8;
/** Room for the words that say how much was left out. */
const SHORTENED_CHARACTERS = WORKER_NOTE_CHARACTERS - 1_000;

/** A text as it may be said beside an answer: a long one by its two ends. */
export function noteOf(text: string): string {
  return text.length <= WORKER_NOTE_CHARACTERS ? text : shortened(text, SHORTENED_CHARACTERS);
}

/** Why a JSON value is too much, in words; undefined when it is not. Checks no more of it than it may have. */
export function excessOf(value: unknown): string | undefined {
  const left = { values: WORKER_VALUES, bytes: WORKER_EXTRA_BYTES };
  return excessIn(value, left, 0);
}

interface Left {
  values: number;
  bytes: number;
}

function excessIn(value: unknown, left: Left, depth: number): string | undefined {
  left.values -= 1;
  if (left.values < 0) return `expected at most ${WORKER_VALUES} values`;
  left.bytes -= BYTES_OF_A_VALUE + (typeof value === 'string' ? bytesOf(value) : 0);
  if (left.bytes < 0) return `expected at most ${WORKER_EXTRA_BYTES} bytes`;
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth >= WORKER_DEPTH) return `expected at most ${WORKER_DEPTH} lists and objects in each other`;
  if (Array.isArray(value)) return firstExcess(value, left, depth + 1);
  for (const key in value) {
    const excess =
      excessIn(key, left, depth + 1) ?? excessIn((value as Readonly<Record<string, unknown>>)[key], left, depth + 1);
    if (excess !== undefined) return excess;
  }
  return undefined;
}

function firstExcess(items: readonly unknown[], left: Left, depth: number): string | undefined {
  for (const item of items) {
    const excess = excessIn(item, left, depth);
    if (excess !== undefined) return excess;
  }
  return undefined;
}

function bytesOf(text: string): number {
  // What has more units than bytes are allowed need not be counted.
  return text.length > WORKER_EXTRA_BYTES ? text.length : utf8Length(text);
}

/**
 * What is the runtime's to say in the metadata of a result, by name or by how it begins: people and agents open what
 * lies there.
 */
const OWN_KEYS: ReadonlySet<string> = new Set([
  'outputPath',
  'outputBytes',
  'outputNotKept',
  'branchName',
  'baseRevision',
  'parentStatus',
  'settlementProblems',
]);
const OWN_BEGINNINGS: readonly string[] = ['worktree', 'wakechart.'];

/** All metadata of a worker's result but for what is not its to say: opaque, and without secrets. */
export function believedMetadata(
  given: Readonly<Record<string, unknown>>,
  redaction: SecretRedaction,
): Readonly<Record<string, unknown>> {
  const kept = Object.fromEntries(Object.entries(given).filter(([key]) => !isOwn(key)));
  return redaction.json(kept);
}

/** The names of what does not go on. */
export function disbelievedMetadata(given: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.keys(given).filter(isOwn);
}

function isOwn(key: string): boolean {
  return OWN_KEYS.has(key) || OWN_BEGINNINGS.some((beginning) => key.startsWith(beginning));
}

/** Of the names that are told of what was left out. */
const LEFT_OUT_CHARACTERS = 1_000;

/**
 * As much of the metadata of a result as a worker may say, the smallest first. What is left out stands in
 * `metadataLeftOut`, with the reason.
 */
export function boundedMetadata(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (excessOf(given) === undefined) return given;
  const bySize = Object.entries(given).toSorted(([, one], [, other]) => sizeOf(one) - sizeOf(other));
  const kept: Record<string, unknown> = { metadataLeftOut: ' '.repeat(2 * LEFT_OUT_CHARACTERS) };
  const leftOut: string[] = [];
  let reason = '';
  for (const [key, value] of bySize) {
    const excess = excessOf({ ...kept, [key]: value });
    if (excess === undefined) kept[key] = value;
    else {
      reason = excess;
      leftOut.push(key);
    }
  }
  kept['metadataLeftOut'] = `${beginningOf(leftOut.join(', '), LEFT_OUT_CHARACTERS)}: ${reason}, received more`;
  return kept;
}

/** Infinity where it is too much alone. */
function sizeOf(value: unknown): number {
  return excessOf(value) === undefined ? (JSON.stringify(value)?.length ?? 0) : Infinity;
}
