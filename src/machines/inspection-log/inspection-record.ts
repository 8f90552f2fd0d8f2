/**
 * The format `inspection-log/1`: what a recorder writes of the actors of a process, and what an inspector reads.
 *
 * NDJSON: the first line is the header, each further line one record. Names are short because there are millions of
 * them. Records are numbered densely from 1 (`s`), in the order in which things happened. Readers ignore kinds and
 * fields they do not know. All payloads (`data`, `context`, `params`, `output`) are JSON, redacted and bounded before
 * they came here; `cut` says that something was left out.
 */
import * as z from 'zod';
import { chartDescription } from '../inspection/chart-description.ts';
import { ACTOR_STATUSES } from './actor-statuses.ts';

export const INSPECTION_LOG_FORMAT = 'inspection-log/1';

/** A longer line is damage. The longest real ones are charts. */
export const MAX_LINE_CHARACTERS = 1_048_576;
export const MAX_NAME_CHARACTERS = 500;
export const MAX_MESSAGE_CHARACTERS = 4_000;
/** Transitions of one step: parallel regions take one each. */
export const MAX_TAKEN = 1_000;
/** Nested states. */
export const MAX_VALUE_DEPTH = 32;
/** Of an actor. */
export const MAX_FACTS = 16;
/** What comes after it can still be counted exactly. */
export const MAX_RECORD_NUMBER = 2 ** 52;

/** A state as XState says it: a key, or the states within each key. */
export type InspectedValue = string | { readonly [key: string]: InspectedValue };

const name = z.string().max(MAX_NAME_CHARACTERS);
const nonEmptyName = name.min(1);
const count = z.int().positive();
const milliseconds = z.number().nonnegative().max(8.64e15);
const flag = z.literal(true).optional();

/** Whether `value` is a state: bounded in depth, so that a caller that walks it may recurse. */
export function isInspectedValue(value: unknown, depth = 0): value is InspectedValue {
  if (typeof value === 'string') return value.length <= MAX_NAME_CHARACTERS;
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth >= MAX_VALUE_DEPTH) return false;
  for (const key in value)
    if (!isInspectedValue((value as Readonly<Record<string, unknown>>)[key], depth + 1)) return false;
  return true;
}

const value = z.custom<InspectedValue>((given) => isInspectedValue(given), {
  message: `expected a state: a string, or states in objects, at most ${MAX_VALUE_DEPTH} deep`,
});

const status = z.enum(ACTOR_STATUSES);
export type InspectedStatus = z.output<typeof status>;

const failure = z.object({ message: z.string().max(MAX_MESSAGE_CHARACTERS), code: name.optional() });

/**
 * What every record has: its number, when it happened (milliseconds since the epoch), and the key of the actor:
 * `<boot>:<sessionId>`.
 */
const common = { s: count.max(MAX_RECORD_NUMBER), t: milliseconds, a: nonEmptyName };

/** A chart, told before the first actor of it. `a` is the actor that made the recorder tell it. */
const machineRecord = z.object({ ...common, k: z.literal('machine'), id: name, chart: chartDescription });

/** An actor was made, or was there already when the recorder came. Told again, it brings what is known up to date. */
const actorRecord = z.object({
  ...common,
  k: z.literal('actor'),
  /** Key of the actor that made it. Absent for a root. */
  parent: nonEmptyName.optional(),
  /** Its own id among its siblings. */
  id: name,
  /** What it is: the id of its chart, or what else it is called by, as `promise`. */
  kind: name.optional(),
  /** Id of a chart that was told. */
  chart: name.optional(),
  value: value.optional(),
  status,
  /** Small things worth showing and searching: label, taskId, sessionId. */
  facts: z
    .record(name, name)
    .refine((facts) => Object.keys(facts).length <= MAX_FACTS, `expected at most ${MAX_FACTS} facts`)
    .optional(),
});

/** An event was sent to the actor `a`, which may process it later, or never. */
const eventRecord = z.object({
  ...common,
  k: z.literal('event'),
  /** Number of the event, which the step that it leads to repeats. */
  e: count,
  /** Key of the sender. Absent: the sender is no actor. */
  from: nonEmptyName.optional(),
  type: name,
  data: z.unknown().optional(),
  cut: flag,
});

/** One microstep. */
const stepRecord = z.object({
  ...common,
  k: z.literal('step'),
  /** Number of the event that led to it. */
  e: count.optional(),
  type: name,
  /**
   * Ids of the transitions that were taken. Empty: the event was ignored. Words in parentheses are none
   * (taken-words.ts).
   */
  taken: z.array(name).max(MAX_TAKEN),
  value,
  status,
  context: z.unknown().optional(),
  cut: flag,
});

/** An action that ran. */
const actionRecord = z.object({ ...common, k: z.literal('action'), name, params: z.unknown().optional(), cut: flag });

/** Something the actor said to its listeners. */
const emitRecord = z.object({ ...common, k: z.literal('emit'), type: name, data: z.unknown().optional(), cut: flag });

/** A timer was set. */
const timerRecord = z.object({
  ...common,
  k: z.literal('timer'),
  id: name,
  delayMs: z.number().nonnegative(),
  dueAt: milliseconds,
});

/** A timer was cleared before it was due. */
const cancelRecord = z.object({ ...common, k: z.literal('cancel'), id: name });

/** How the actor stands: its first snapshot, or its last. What is no chart has no value. */
const snapRecord = z.object({
  ...common,
  k: z.literal('snap'),
  value: value.optional(),
  status,
  output: z.unknown().optional(),
  error: failure.optional(),
  cut: flag,
});

/** The actor broke. */
const errorRecord = z.object({
  ...common,
  k: z.literal('error'),
  message: failure.shape.message,
  code: failure.shape.code,
});

/** By kind. */
export const recordSchemas = {
  machine: machineRecord,
  actor: actorRecord,
  event: eventRecord,
  step: stepRecord,
  action: actionRecord,
  emit: emitRecord,
  timer: timerRecord,
  cancel: cancelRecord,
  snap: snapRecord,
  error: errorRecord,
} as const;

export type InspectionKind = keyof typeof recordSchemas;
export type InspectionRecordOf<Kind extends InspectionKind> = Readonly<z.output<(typeof recordSchemas)[Kind]>>;
export type InspectionRecord = { readonly [Kind in InspectionKind]: InspectionRecordOf<Kind> }[InspectionKind];

export function isInspectionKind(kind: unknown): kind is InspectionKind {
  return typeof kind === 'string' && Object.hasOwn(recordSchemas, kind);
}

export const inspectionHeader = z.object({
  format: z.literal(INSPECTION_LOG_FORMAT),
  /** Tells the actors of one process from those of another: XState counts from zero in each. */
  boot: nonEmptyName,
  startedAt: milliseconds,
  program: z.object({ name, version: name, pid: z.int().nonnegative() }).optional(),
});

export type InspectionHeader = Readonly<z.output<typeof inspectionHeader>>;
