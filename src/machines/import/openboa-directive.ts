/** What an openboa agent asked for at the end of a turn, and the lines of its `wake-queue.jsonl`. */
import { beginningOf } from '../cut-text.ts';
import { asObject, firstOf, firstText, firstTime, textIn } from './lenient.ts';
import type { JsonObject } from './lenient.ts';
import type { PlannedWake, SourceFact } from './source-fact.ts';

const DUE = ['dueAt', 'due_at', 'runAt', 'wakeAt', 'scheduledFor', 'at'];
const MADE = ['createdAt', 'created_at', 'queuedAt', 'ts', 'timestamp'];
const MAX_REASON_CHARACTERS = 200;
const MAX_NOTE_CHARACTERS = 2_000;

/** What a wake in the queue is called that will not come. */
const DONE: ReadonlySet<string> = new Set([
  'completed',
  'complete',
  'done',
  'consumed',
  'cancelled',
  'canceled',
  'failed',
  'skipped',
  'expired',
]);

/** The wakes and the learnings in what a model said about what comes next. @param atMs when it did */
export function directiveFacts(directive: JsonObject, atMs: number | undefined): readonly SourceFact[] {
  const wakes = listIn(directive, ['queuedWakes', 'queued_wakes']).flatMap((each): SourceFact[] => {
    const wake = plannedWakeIn(each, atMs);
    return wake === undefined ? [] : [{ kind: 'wake_planned', wake }];
  });
  return [...wakes, ...listIn(directive, ['learnings']).flatMap((each) => learningIn(each) ?? [])];
}

function listIn(fields: JsonObject, names: readonly string[]): readonly JsonObject[] {
  const value = firstOf(fields, names);
  return Array.isArray(value) ? value.map(asObject).filter((each) => each !== undefined) : [];
}

/** @param madeAtMs from when a delay counts */
export function plannedWakeIn(fields: JsonObject, madeAtMs: number | undefined): PlannedWake | undefined {
  const delay = fields['delaySeconds'];
  const from = firstTime(fields, MADE) ?? madeAtMs;
  const delayed =
    typeof delay === 'number' && Number.isFinite(delay) && delay >= 0 && from !== undefined
      ? from + delay * 1_000
      : undefined;
  const dueAtMs = firstTime(fields, DUE.slice(0, -1)) ?? delayed ?? firstTime(fields, DUE.slice(-1));
  if (dueAtMs === undefined || dueAtMs >= 8.64e15) return undefined;
  const priority = firstText(fields, ['priority']);
  const note = textIn(fields['note']);
  return {
    wakeId: firstText(fields, ['queuedWakeId', 'wakeId', 'id']),
    reason: beginningOf(firstText(fields, ['reason']) ?? 'queued where this session was before', MAX_REASON_CHARACTERS),
    dueAtMs: Math.trunc(dueAtMs),
    priority: priority === 'low' || priority === 'high' ? priority : 'normal',
    ...(note === undefined ? {} : { note: beginningOf(note, MAX_NOTE_CHARACTERS) }),
    dedupeKey: dedupeKeyIn(fields),
  };
}

/** One line of the queue; undefined for what is none. */
export function queueFact(fields: JsonObject): SourceFact | undefined {
  const status = firstText(fields, ['status', 'state']);
  const isDone =
    (status !== undefined && DONE.has(status)) ||
    firstOf(fields, ['completedAt', 'cancelledAt', 'consumedAt']) !== undefined;
  const wakeId = firstText(fields, ['queuedWakeId', 'wakeId', 'id']);
  if (isDone) return wakeId === undefined ? undefined : { kind: 'wake_done', wakeId };
  const wake = plannedWakeIn(fields, undefined);
  return wake === undefined ? undefined : { kind: 'wake_planned', wake };
}

export function learningIn(fields: JsonObject): Extract<SourceFact, { readonly kind: 'learning' }> | undefined {
  const kind = firstText(fields, ['kind', 'learningKind']);
  const text = firstText(fields, ['detail', 'text', 'content', 'title']);
  if (text === undefined) return undefined;
  return {
    kind: 'learning',
    learning: kind === 'correction' || kind === 'error' ? kind : 'lesson',
    title: beginningOf(firstText(fields, ['title']) ?? text, 120),
    detail: beginningOf(text, 400),
    dedupeKey: dedupeKeyIn(fields),
  };
}

function dedupeKeyIn(fields: JsonObject): string | undefined {
  const key = firstText(fields, ['dedupeKey', 'dedupe_key']);
  return key === undefined ? undefined : beginningOf(key, MAX_REASON_CHARACTERS);
}
