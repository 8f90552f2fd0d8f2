/** Definitions of schedules in PostgreSQL, seen by the workers of all machines. */
import type { Clock, TimerHandle } from '../../actors/clock/clock.ts';
import type { ScheduleDefinitions, ScheduleListing } from '../../actors/schedule/durable-ports.ts';
import { messageOf, RuntimeError } from '../../machines/errors.ts';
import type { ScheduleDefinition } from '../../machines/schedule/schedule-definition.ts';
import { scheduleDefinition, scheduleId } from '../../machines/schedule/schedule-definition.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import type { RevisedRow } from './revised-rows.ts';
import { RevisedRows } from './revised-rows.ts';

// Finds out by checking now and then that something has changed.

interface StampWatchOptions {
  /** Another text after every change. */
  readonly stamp: () => Promise<string>;
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  /** Between two checks. */
  readonly pollMs: number;
  readonly onChange: () => void;
}

/** Calls `onChange` once it watches, and after each change. Returns the function that ends it. */
function watchStamp({ stamp, clock, pollMs, onChange }: StampWatchOptions): () => void {
  let timer: TimerHandle | undefined;
  let isOver = false;
  let last: string | undefined;
  const check = async (): Promise<void> => {
    // A database that is away has nothing to tell; the next check finds what happened meanwhile.
    const now = await stamp().catch(() => last);
    if (isOver) return;
    if (now !== last) {
      last = now;
      onChange();
    }
    timer = clock.setTimeout(() => void check(), pollMs);
  };
  void check();
  return () => {
    isOver = true;
    clock.clearTimeout(timer);
  };
}

export interface PostgresScheduleDefinitionsOptions {
  readonly database: PostgresDatabase;
  readonly clock: Clock;
  /** How often those who watch check for changes, in milliseconds. Default 2,000. */
  readonly pollMs?: number | undefined;
}

const DEFAULT_POLL_MS = 2_000;
const INVALID = 'SCHEDULE_DEFINITION_INVALID';
const REPAIR = 'Remove the schedule and add it again.';

export function createPostgresScheduleDefinitions({
  database,
  clock,
  pollMs = DEFAULT_POLL_MS,
}: PostgresScheduleDefinitionsOptions): ScheduleDefinitions {
  const rows = new RevisedRows(database, 'schedule_definition');
  return {
    async list() {
      const listings = (await rows.all()).map((row) => listingOf(row.key, row.body ?? ''));
      return listings.toSorted((one, other) => (one.id < other.id ? -1 : 1));
    },
    async get(id) {
      return readable(listingIn(await rows.load(checkedName(id)), id));
    },
    async add(definition) {
      const isNew = await rows.change(definition.id, (body) =>
        body === undefined ? { answer: true, write: { body: JSON.stringify(definition) } } : { answer: false },
      );
      if (!isNew)
        throw new RuntimeError('SCHEDULE_EXISTS', `there is a schedule "${definition.id}" already`, {
          category: 'conflict',
          hint: 'Choose another id, or replace it.',
          details: { scheduleId: definition.id },
        });
    },
    replace: (definition) =>
      rows.change(definition.id, () => ({ answer: undefined, write: { body: JSON.stringify(definition) } })),
    async remove(id) {
      const wasThere = await rows.change(checkedName(id), (body) =>
        body === undefined ? { answer: false } : { answer: true, write: { body: undefined } },
      );
      if (!wasThere) throw unknown(id);
    },
    ring: (id) => rows.touch(id),
    watch: (onChange) => watchStamp({ stamp: () => rows.stamp(), clock, pollMs, onChange }),
  };
}

function listingIn(row: RevisedRow | undefined, id: string): ScheduleListing {
  if (row?.body === undefined) throw unknown(id);
  return listingOf(id, row.body);
}

function readable(listing: ScheduleListing): ScheduleDefinition {
  if ('definition' in listing) return listing.definition;
  const { code, message, category, hint, details } = listing.error;
  throw new RuntimeError(code, message, { category, hint, details });
}

function listingOf(id: string, body: string): ScheduleListing {
  try {
    return { id, definition: read(id, body) };
  } catch (thrown) {
    return { id, error: (RuntimeError.is(thrown) ? thrown : invalid(id, messageOf(thrown))).toJSON() };
  }
}

function read(id: string, body: string): ScheduleDefinition {
  const definition = parseOrThrow(scheduleDefinition, JSON.parse(body), {
    what: `schedule "${id}"`,
    code: INVALID,
    hint: REPAIR,
  });
  if (definition.id !== id) throw invalid(id, `its row defines the schedule "${definition.id}"`);
  return definition;
}

function checkedName(id: string): string {
  if (scheduleId.safeParse(id).success) return id;
  throw unknown(id);
}

function invalid(id: string, what: string): RuntimeError {
  return new RuntimeError(INVALID, `schedule "${id}" is not valid: ${what}`, { category: 'validation', hint: REPAIR });
}

function unknown(id: string): RuntimeError {
  return new RuntimeError('SCHEDULE_NOT_FOUND', `there is no schedule "${id}"`, {
    category: 'not_found',
    hint: 'List the schedules.',
    details: { scheduleId: id },
  });
}
