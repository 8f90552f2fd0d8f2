/**
 * Reads the events that logs are full of without the schemas, which cost more than parsing the JSON. Anything that is
 * not exactly as expected (another type, another version, a field more, a wrong value) is `undefined` here and goes to
 * the schemas, which judge it.
 */
import { isUuidV7 } from '../ids.ts';
import { sessionEventDefinitions } from './event-schemas.ts';
import { MAX_MESSAGE_CHARACTERS } from './limits.ts';
import type { SessionEventType, StoredEvent } from './session-event.ts';

type Check = (value: unknown) => boolean;
type PlainData = Readonly<Record<string, unknown>>;

interface QuickType {
  readonly v: number;
  readonly checks: ReadonlyMap<string, Check>;
  /** How many of the fields have to be there. */
  readonly required: number;
}

const MAX_ID_CHARACTERS = 200;

const isText: Check = (value) => typeof value === 'string';
const isId: Check = (value) => typeof value === 'string' && value.length > 0 && value.length <= MAX_ID_CHARACTERS;
const isMessageText: Check = (value) =>
  typeof value === 'string' && value.length > 0 && value.length <= MAX_MESSAGE_CHARACTERS;
const isCount: Check = (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
const isPositive: Check = (value) => typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
const isJsonValue: Check = (value) => value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
const isIdList: Check = (value) => Array.isArray(value) && value.every(isId);
const isOneOf = (...values: readonly string[]): Check => {
  const known = new Set<unknown>(values);
  return (value) => known.has(value);
};

/**
 * Fields that may be absent, where that is common. Any other field that may be absent goes to the schema where it is
 * there.
 */
const OPTIONAL_FIELDS: Readonly<Partial<Record<SessionEventType, Readonly<Record<string, Check>>>>> = {
  'span.started': { contextTokens: isCount, omittedMessages: isCount, shortenedMessages: isCount },
};

/** The fields of each type that have to be there. */
const QUICK_FIELDS = {
  'user.message': { text: isMessageText, delivery: isOneOf('queue', 'steer', 'interrupt') },
  'message.consumed': { eventIds: isIdList, spanId: isId },
  'span.started': {
    spanId: isId,
    kind: isOneOf('model_step'),
    backend: isText,
    provider: isText,
    model: isText,
    step: isPositive,
  },
  'span.completed': {
    spanId: isId,
    kind: isOneOf('model_step'),
    outcome: isOneOf('completed', 'failed', 'aborted', 'lost'),
    modelSteps: isCount,
  },
  'agent.thinking': { text: isText, spanId: isId },
  'agent.message': { text: isText, spanId: isId },
  'agent.tool_use': { callId: isId, name: isText, input: isJsonValue, spanId: isId },
  'agent.tool_result': {
    callId: isId,
    name: isText,
    outcome: isOneOf('completed', 'failed', 'cancelled', 'unknown'),
    output: isJsonValue,
  },
} as const satisfies { readonly [Type in SessionEventType]?: Readonly<Record<string, Check>> };

type QuickTypeName = keyof typeof QUICK_FIELDS;

const QUICK_TYPES: ReadonlyMap<string, QuickType> = new Map(
  Object.entries(QUICK_FIELDS).map(([type, fields]) => [
    type,
    {
      v: sessionEventDefinitions[type as QuickTypeName].v,
      checks: new Map([...Object.entries(fields), ...Object.entries(OPTIONAL_FIELDS[type as QuickTypeName] ?? {})]),
      required: Object.keys(fields).length,
    },
  ]),
);

/** `stored` as an event, when that is beyond doubt. It must come fresh from JSON: its data is kept, not copied. */
export function quickStoredEvent(stored: unknown): StoredEvent | undefined {
  return typeof stored === 'object' && stored !== null ? read(stored as PlainData, keepData) : undefined;
}

/**
 * A copy of `event` that shares nothing with it and is what JSON would make of it; undefined when that is not beyond
 * doubt.
 */
export function copyPlainEvent(event: unknown): StoredEvent | undefined {
  return isPlain(event) && !('toJSON' in event) ? read(event, copyFlatData) : undefined;
}

function read(
  { id, at, epoch, type, v, data }: PlainData,
  take: (data: PlainData) => PlainData | undefined,
): StoredEvent | undefined {
  if (typeof id !== 'string' || !isUuidV7(id) || typeof at !== 'string' || typeof type !== 'string') return undefined;
  if (epoch !== undefined && !isPositive(epoch)) return undefined;
  const quick = QUICK_TYPES.get(type);
  if (quick === undefined || v !== quick.v || typeof data !== 'object' || data === null) return undefined;
  const taken = take(data as PlainData);
  if (taken === undefined || !isExactly(taken, quick, QUICK_FIELDS[type as QuickTypeName])) return undefined;
  // The checks tie type and data together, which the compiler cannot follow through the table.
  return { id, at, epoch: epoch as number | undefined, type: type as QuickTypeName, v, data: taken };
}

function isExactly(data: PlainData, { checks, required }: QuickType, fields: Readonly<Record<string, Check>>): boolean {
  let found = 0;
  for (const name in data) {
    if (checks.get(name)?.(data[name]) !== true) return false;
    if (Object.hasOwn(fields, name)) found += 1;
  }
  return found === required;
}

function keepData(data: PlainData): PlainData {
  return data;
}

/** A copy of data whose values are plain, or lists of strings. */
function copyFlatData(data: PlainData): PlainData | undefined {
  if (!isPlain(data)) return undefined;
  const copy: Record<string, unknown> = {};
  for (const name in data) {
    const value = data[name];
    if (Array.isArray(value)) {
      if (Object.hasOwn(value, 'toJSON') || !value.every(isText)) return undefined;
      copy[name] = [...(value as readonly string[])];
    } else if (isPlainValue(value)) copy[name] = value;
    else return undefined;
  }
  return copy;
}

/** Whether JSON gives back the same value. It loses the sign of zero. */
function isPlainValue(value: unknown): boolean {
  return (
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    value === null ||
    (typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0))
  );
}

function isPlain(value: unknown): value is PlainData {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
