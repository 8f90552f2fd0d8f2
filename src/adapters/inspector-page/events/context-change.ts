/** What is different between two contexts, by path. Bounded: the payload has all of it. */
import type { InspectedValue, InspectionRecordOf } from '../../../machines/inspection-log/inspection-record.ts';
import type { InspectionTimeline } from '../../../machines/inspection-log/inspection-timeline.ts';

export interface ContextChange {
  /** `input.command`; empty for the whole. */
  readonly path: string;
  readonly kind: 'added' | 'removed' | 'changed';
  readonly before?: unknown;
  readonly after?: unknown;
}

const MAX_CHANGES = 100;
const MAX_DEPTH = 6;

export function contextChanges(before: unknown, after: unknown): readonly ContextChange[] {
  const changes: ContextChange[] = [];
  compare(before, after, '', changes, 0);
  return changes;
}

function compare(before: unknown, after: unknown, path: string, changes: ContextChange[], depth: number): void {
  if (changes.length >= MAX_CHANGES || isSame(before, after)) return;
  if (!isBranch(before) || !isBranch(after) || Array.isArray(before) !== Array.isArray(after) || depth >= MAX_DEPTH) {
    changes.push({
      path,
      kind: before === undefined ? 'added' : after === undefined ? 'removed' : 'changed',
      before,
      after,
    });
    return;
  }
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const within = path === '' ? key : `${path}.${key}`;
    compare(own(before, key), own(after, key), within, changes, depth + 1);
  }
}

function isBranch(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function own(branch: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(branch, key) ? branch[key] : undefined;
}

/** JSON is small here: it was bounded before it was recorded. */
function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  return isBranch(one) && isBranch(other) && JSON.stringify(one) === JSON.stringify(other);
}

// How an actor stood before one of its steps.

/** So far back a context is searched for, in records of the actor: recorders write it when it changes. */
const MOST = 2_000;

/** The state before the step; undefined where none is known. */
export function stepBefore(
  timeline: InspectionTimeline,
  { a, s }: InspectionRecordOf<'step'>,
): InspectedValue | undefined {
  return timeline.at(s - 1).actor(a)?.value;
}

/** The context that was recorded last before the step. */
export function contextBefore(
  timeline: InspectionTimeline,
  { a, s }: InspectionRecordOf<'step'>,
): { readonly isKnown: boolean; readonly context?: unknown } {
  const records = timeline.sequence(a);
  const last = records.indexUpTo(s - 1);
  for (let index = last; index >= Math.max(0, last - MOST); index -= 1) {
    const record = records.at(index);
    if (record?.k === 'step' && record.context !== undefined) return { isKnown: true, context: record.context };
  }
  return { isKnown: false };
}
