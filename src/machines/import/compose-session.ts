/** From what was read of a source to the log of a session, and an account of it. */
import { beginningOf } from '../cut-text.ts';
import type { NewSessionEvent } from '../session/session-event.ts';
import type { SessionState } from '../session/session-state.ts';
import { ImportedLog } from './imported-log.ts';
import type { ImportedLogOptions, Taken } from './imported-log.ts';
import { openWakes } from './planned-wakes.ts';
import type { SourceFact } from './source-fact.ts';
import type { LeftOver, SourceEntry } from './source-log.ts';

const MAX_TITLE_CHARACTERS = 80;

export interface ComposeOptions extends Omit<ImportedLogOptions, 'title'> {
  readonly entries: readonly SourceEntry[];
  readonly title: string | undefined;
  /** What the queue of wakes says, where there is one. */
  readonly queue: readonly SourceFact[] | undefined;
  /** What the source wants to achieve, where only its state says so. */
  readonly outcome: SourceFact | undefined;
  /** It is over, by its state. */
  readonly isTerminated: boolean;
  /** The time of what has none. Milliseconds since the epoch. */
  readonly fallbackAtMs: number;
}

export interface ComposedSession {
  readonly events: readonly [NewSessionEvent, ...NewSessionEvent[]];
  readonly state: SessionState;
  readonly title: string | undefined;
  readonly leftOver: readonly LeftOver[];
  readonly repeated: number;
  readonly closedCalls: number;
  readonly keptIds: number;
  /** The ids that events got which could not keep theirs, by those. */
  readonly newIds: ReadonlyMap<string, string>;
}

export function composeSession({
  entries,
  queue,
  outcome,
  isTerminated,
  fallbackAtMs,
  ...options
}: ComposeOptions): ComposedSession {
  const title = options.title ?? firstWords(entries);
  const log = new ImportedLog({ ...options, title }, fallbackAtMs);
  const leftOver: LeftOver[] = [];
  let repeated = 0;
  for (const entry of entries) {
    const takings = entry.reading.facts.map((fact, index) =>
      log.add(fact, { atMs: entry.reading.atMs, ...(index === 0 ? { id: entry.reading.id } : {}) }),
    );
    repeated += takings.filter((taken) => taken === 'repeated').length;
    const because = entry.reading.leftOver ?? takings.map(reasonOf).find((reason) => reason !== undefined);
    if (because !== undefined)
      leftOver.push({ line: entry.line, type: entry.reading.type, because, record: entry.record });
  }
  const hasOutcome = entries.some(({ reading }) => reading.facts.some(({ kind }) => kind === 'outcome'));
  if (outcome !== undefined && !hasOutcome) log.add(outcome);
  if (isTerminated) log.add({ kind: 'terminated' });
  const facts = entries.flatMap(({ reading }) => reading.facts);
  const { wakes, tooMany } = openWakes({ queue, log: facts, endedAtMs: lastTime(entries) });
  const { events, state, closedCalls, ids } = log.finish(wakes);
  const unplanned = tooMany.map((wake): LeftOver => ({
    line: 0,
    type: 'queued wake',
    because: 'more queued wakes than a session may have',
    record: { ...wake },
  }));
  return {
    events,
    state,
    title,
    leftOver: [...leftOver, ...unplanned],
    repeated,
    closedCalls,
    keptIds: ids.kept,
    newIds: ids.renamed,
  };
}

function reasonOf(taken: Taken): string | undefined {
  if (taken === 'cut') return 'longer than it may be here: its beginning is in the session';
  return typeof taken === 'object' ? taken.leftOver : undefined;
}

/** The first line of a user. */
function firstWords(entries: readonly SourceEntry[]): string | undefined {
  for (const { reading } of entries) {
    for (const fact of reading.facts) {
      if (fact.kind !== 'user_message') continue;
      const line = fact.text.trim().split('\n', 1)[0]?.trim() ?? '';
      if (line !== '') return beginningOf(line, MAX_TITLE_CHARACTERS);
    }
  }
  return undefined;
}

function lastTime(entries: readonly SourceEntry[]): number | undefined {
  return entries.findLast(({ reading }) => reading.atMs !== undefined)?.reading.atMs;
}
