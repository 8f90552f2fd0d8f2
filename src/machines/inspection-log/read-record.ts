/**
 * Checks what claims to be a record. The kinds that logs are full of are checked by hand, which costs a tenth of the
 * schemas; what is not beyond doubt goes to those.
 */
import { beginningOf } from '../cut-text.ts';
import { describeIssues } from '../validate.ts';
import { ACTOR_STATUSES } from './actor-statuses.ts';
import {
  MAX_FACTS,
  MAX_MESSAGE_CHARACTERS,
  MAX_NAME_CHARACTERS,
  MAX_RECORD_NUMBER,
  MAX_TAKEN,
  isInspectedValue,
  isInspectionKind,
  recordSchemas,
} from './inspection-record.ts';
import type { InspectionRecord } from './inspection-record.ts';

type PlainData = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

export type ReadRecord =
  | {
      readonly record: InspectionRecord;
      /** Fields that this version does not know; they are left out of the record. */ readonly unknownFields: readonly string[];
    }
  | { readonly unknownKind: string }
  | { readonly because: string };

const NO_FIELDS: readonly string[] = [];

const isName: Check = (value) => typeof value === 'string' && value.length <= MAX_NAME_CHARACTERS;
const isNonEmptyName: Check = (value) => isName(value) && value !== '';
const isCount: Check = (value) => typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
const isRecordNumber: Check = (value) => isCount(value) && (value as number) <= MAX_RECORD_NUMBER;
const isTime: Check = (value) => typeof value === 'number' && value >= 0 && value <= 8.64e15;
const isTrue: Check = (value) => value === true;
const isStatus: Check = (value) => (ACTOR_STATUSES as readonly unknown[]).includes(value);
const isTaken: Check = (value) => Array.isArray(value) && value.length <= MAX_TAKEN && value.every(isName);
const isState: Check = (value) => isInspectedValue(value);
const isAnything: Check = () => true;
const isAmount: Check = (value) => typeof value === 'number' && value >= 0 && value < Infinity;
const isMessage: Check = (value) => typeof value === 'string' && value.length <= MAX_MESSAGE_CHARACTERS;

const isFacts: Check = (value) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const names = Object.keys(value);
  return (
    names.length <= MAX_FACTS &&
    names.every((name) => name !== '__proto__' && isName(name) && isName((value as PlainData)[name]))
  );
};

interface QuickKind {
  readonly checks: ReadonlyMap<string, Check>;
  /** How many of the fields have to be there, and are counted. */
  readonly required: ReadonlySet<string>;
}

function quick(required: Readonly<Record<string, Check>>, optional: Readonly<Record<string, Check>> = {}): QuickKind {
  const all = { k: isName, s: isRecordNumber, t: isTime, a: isNonEmptyName, ...required };
  return {
    checks: new Map([...Object.entries(all), ...Object.entries(optional)]),
    required: new Set(Object.keys(all)),
  };
}

/** What the schemas of the same names say, in fewer words. */
const QUICK_KINDS: ReadonlyMap<unknown, QuickKind> = new Map([
  [
    'actor',
    quick(
      { id: isName, status: isStatus },
      { parent: isNonEmptyName, kind: isName, chart: isName, value: isState, facts: isFacts },
    ),
  ],
  ['event', quick({ e: isCount, type: isName }, { from: isNonEmptyName, data: isAnything, cut: isTrue })],
  [
    'step',
    quick(
      { type: isName, taken: isTaken, value: isState, status: isStatus },
      { e: isCount, context: isAnything, cut: isTrue },
    ),
  ],
  ['action', quick({ name: isName }, { params: isAnything, cut: isTrue })],
  ['emit', quick({ type: isName }, { data: isAnything, cut: isTrue })],
  ['timer', quick({ id: isName, delayMs: isAmount, dueAt: isTime })],
  ['cancel', quick({ id: isName })],
  ['snap', quick({ status: isStatus }, { value: isState, output: isAnything, cut: isTrue })],
  ['error', quick({ message: isMessage }, { code: isName })],
]);

/** @param stored fresh from JSON: what is fine is kept, not copied */
export function readRecord(stored: unknown): ReadRecord {
  if (typeof stored !== 'object' || stored === null || Array.isArray(stored)) return { because: 'expected an object' };
  const { k: kind } = stored as PlainData;
  if (isQuick(stored as PlainData, QUICK_KINDS.get(kind)))
    return { record: stored as InspectionRecord, unknownFields: NO_FIELDS };
  if (typeof kind !== 'string') return { because: 'k: expected the kind of the record' };
  return isInspectionKind(kind)
    ? readBySchema(stored as PlainData, kind)
    : { unknownKind: beginningOf(kind, MAX_NAME_CHARACTERS) };
}

function isQuick(stored: PlainData, kind: QuickKind | undefined): boolean {
  if (kind === undefined) return false;
  let found = 0;
  for (const name in stored) {
    if (kind.checks.get(name)?.(stored[name]) !== true) return false;
    if (kind.required.has(name)) found += 1;
  }
  return found === kind.required.size;
}

function readBySchema(stored: PlainData, kind: keyof typeof recordSchemas): ReadRecord {
  const schema = recordSchemas[kind];
  try {
    const parsed = schema.safeParse(stored);
    if (!parsed.success) return { because: beginningOf(describeIssues(parsed.error).join('; '), MAX_NAME_CHARACTERS) };
    return {
      record: parsed.data,
      unknownFields: Object.keys(stored).filter((name) => !Object.hasOwn(schema.shape, name)),
    };
  } catch {
    // Schemas recurse: what is nested deeper than the stack is no record.
    return { because: 'it is nested too deeply' };
  }
}
