/** The sessions that are ticked in the list, to do the same with all of them. */
import { computed, signal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import type { ShownSummary } from '../../../actors/inspection/shown-answers.ts';
import { knownSessions } from './known-sessions.ts';

const ids = signal<ReadonlySet<string>>(new Set());
/** Where a range begins. */
let anchor: string | undefined;

/** Of those that are still listed, in the order of the list. */
export const tickedSessions: ReadonlySignal<readonly ShownSummary[]> = computed(() =>
  (knownSessions.value?.sessions ?? []).filter(({ sessionId }) => ids.value.has(sessionId)),
);
export const tickedCount: ReadonlySignal<number> = computed(() => tickedSessions.value.length);

export function isTicked(sessionId: string): boolean {
  return ids.value.has(sessionId);
}

export function toggleTick(sessionId: string): void {
  const next = new Set(ids.value);
  if (!next.delete(sessionId)) next.add(sessionId);
  ids.value = next;
  anchor = sessionId;
}

/** All from the one that was ticked last to this one. @param shown in the order of the list */
export function tickTo(sessionId: string, shown: readonly string[]): void {
  const from = shown.indexOf(anchor ?? '');
  const to = shown.indexOf(sessionId);
  if (from < 0 || to < 0) return toggleTick(sessionId);
  tickAll(shown.slice(Math.min(from, to), Math.max(from, to) + 1));
}

export function tickAll(sessionIds: readonly string[]): void {
  ids.value = new Set([...ids.value, ...sessionIds]);
}

export function tickNone(): void {
  ids.value = new Set();
  anchor = undefined;
}
