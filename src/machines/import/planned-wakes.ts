/** Of all the wakes that a source speaks of, those that it still had before it. */
import { MAX_OPEN_QUEUED_WAKES } from '../session/limits.ts';
import type { SessionEventDraft } from '../session/session-event.ts';
import type { PlannedWake, SourceFact } from './source-fact.ts';

export interface PlanSources {
  /** What the queue says, if there is one: it is kept up to date, so it has the last word. */
  readonly queue?: readonly SourceFact[] | undefined;
  /** What the log says. */
  readonly log: readonly SourceFact[];
  /** When the log ends, in milliseconds since the epoch: what was due by then has come. */
  readonly endedAtMs: number | undefined;
}

export interface OpenWakes {
  /** By when they are due. */
  readonly wakes: readonly PlannedWake[];
  /** Those that are more than a session may have. */
  readonly tooMany: readonly PlannedWake[];
}

export function openWakes({ queue, log, endedAtMs = 0 }: PlanSources): OpenWakes {
  const open = new Map<string, PlannedWake>();
  for (const fact of queue ?? log) {
    if (fact.kind === 'wake_done') open.delete(fact.wakeId);
    if (fact.kind === 'wake_planned' && (queue !== undefined || fact.wake.dueAtMs > endedAtMs))
      open.set(fact.wake.wakeId ?? `${fact.wake.dueAtMs} ${fact.wake.reason}`, fact.wake);
  }
  const wakes = [...open.values()].toSorted((one, other) => one.dueAtMs - other.dueAtMs);
  return { wakes: wakes.slice(0, MAX_OPEN_QUEUED_WAKES), tooMany: wakes.slice(MAX_OPEN_QUEUED_WAKES) };
}

/** Each gets an id of its own: two that share one would be one. */
export function plannedWakeDrafts(wakes: readonly PlannedWake[]): readonly SessionEventDraft[] {
  return wakes.map(({ reason, dueAtMs, note, dedupeKey, priority }, index) => ({
    type: 'wake.queued',
    data: {
      queuedWakeId: `imported-${index + 1}`,
      reason,
      dueAt: new Date(dueAtMs).toISOString(),
      priority,
      ...(note === undefined ? {} : { note }),
      ...(dedupeKey === undefined ? {} : { dedupeKey }),
    },
  }));
}
