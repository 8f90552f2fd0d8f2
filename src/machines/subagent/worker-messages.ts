/**
 * Reads what came over the wire: a message, a reference to a file that holds one, or the reason why it is neither.
 * Never throws.
 */
import type * as z from 'zod';
import { messageOf } from '../errors.ts';
import { utf8Length } from '../utf8.ts';
import { describeIssues } from '../validate.ts';
import {
  WORKER_INLINE_BYTES,
  WORKER_PROTOCOL_VERSION,
  workerChildMessage,
  workerFileReference,
  workerParentMessage,
} from './worker-protocol.ts';
import type {
  SubagentWorkerChildMessage,
  SubagentWorkerParentMessage,
  WorkerFileReference,
} from './worker-protocol.ts';

export type WorkerReading<Message> =
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'file'; readonly reference: WorkerFileReference }
  /** The other end is of another version of the package. */
  | { readonly kind: 'other_version'; readonly complaint: string }
  | { readonly kind: 'invalid'; readonly complaint: string };

/** Whether a value is a message that a worker may be sent. */
export function isSubagentWorkerParentMessage(value: unknown): value is SubagentWorkerParentMessage {
  return isJson(value) && readParentMessage(value, { isFromFile: true }).kind === 'message';
}

/** Whether a value is a message that a worker may send. */
export function isSubagentWorkerChildMessage(value: unknown): value is SubagentWorkerChildMessage {
  return isJson(value) && readChildMessage(value, { isFromFile: true }).kind === 'message';
}

export interface ReadingOptions {
  /** What came by file may be longer than what comes inline, and is no reference itself. */
  readonly isFromFile?: boolean | undefined;
}

export function readParentMessage(
  value: unknown,
  options: ReadingOptions = {},
): WorkerReading<SubagentWorkerParentMessage> {
  return read(workerParentMessage, value, options);
}

export function readChildMessage(
  value: unknown,
  options: ReadingOptions = {},
): WorkerReading<SubagentWorkerChildMessage> {
  return read(workerChildMessage, value, options);
}

function read<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  { isFromFile = false }: ReadingOptions,
): WorkerReading<z.output<Schema>> {
  try {
    return readOrThrow(schema, value, isFromFile);
  } catch (error) {
    // Getters, proxies and what is nested deeper than the stack.
    return { kind: 'invalid', complaint: `it cannot be read to its end (${messageOf(error)})` };
  }
}

function readOrThrow<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  isFromFile: boolean,
): WorkerReading<z.output<Schema>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { kind: 'invalid', complaint: `expected an object, received ${kindOf(value)}` };
  const given: unknown = (value as Readonly<Record<string, unknown>>)['v'];
  if (given !== undefined && given !== WORKER_PROTOCOL_VERSION)
    return { kind: 'other_version', complaint: otherVersion(given) };
  const bytes = isFromFile || isSurelyShort(value) ? 0 : utf8Length(JSON.stringify(value));
  if (bytes > WORKER_INLINE_BYTES) {
    return {
      kind: 'invalid',
      complaint: `expected at most ${WORKER_INLINE_BYTES} bytes, received ${bytes}; what is longer goes by file`,
    };
  }
  if (!isFromFile && Object.hasOwn(value, 'byFile')) {
    const reference = workerFileReference.safeParse(value);
    return reference.success
      ? { kind: 'file', reference: reference.data }
      : { kind: 'invalid', complaint: describeIssues(reference.error).join('; ') };
  }
  const parsed = schema.safeParse(value);
  return parsed.success
    ? { kind: 'message', message: parsed.data }
    : { kind: 'invalid', complaint: describeIssues(parsed.error).join('; ') };
}

/**
 * As JSON, a unit of text takes six bytes at most, `\u0000`; a number or a word with what stands around it never takes
 * more than this.
 */
const MOST_BYTES_OF_A_UNIT = 6;
const MOST_BYTES_OF_A_VALUE = 40;

/** Whether a message need not be measured: most are a few short texts. False says nothing. */
export function isSurelyShort(message: object): boolean {
  let bytes = 0;
  for (const [key, value] of Object.entries(message) as [string, unknown][]) {
    if (typeof value === 'object' ? value !== null : typeof value === 'function' || typeof value === 'bigint')
      return false;
    bytes +=
      (key.length + (typeof value === 'string' ? value.length : 0)) * MOST_BYTES_OF_A_UNIT + MOST_BYTES_OF_A_VALUE;
  }
  return bytes <= WORKER_INLINE_BYTES;
}

/** Channels and files bring nothing else; a caller of a guard may. */
function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

function otherVersion(given: unknown): string {
  const version = typeof given === 'number' || typeof given === 'string' ? String(given).slice(0, 20) : kindOf(given);
  return `this end speaks version ${WORKER_PROTOCOL_VERSION} of the worker protocol, the other end version ${version}`;
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value;
}
