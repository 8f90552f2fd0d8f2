/**
 * How schedules stand, in PostgreSQL: a row for each, replaced by exactly one of all who have seen the same revision.
 */
import type { ScheduleStandings } from '../../actors/schedule/durable-ports.ts';
import { scheduleStanding } from '../../machines/schedule/durable-standing.ts';
import { slotsKeyOf } from '../../machines/schedule/schedule-definition.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { RevisedRows } from './standing-rows.ts';

export function createPostgresScheduleStandings({
  database,
}: {
  readonly database: PostgresDatabase;
}): ScheduleStandings {
  const rows = new RevisedRows(database, 'schedule_standing');
  return {
    async load(definition) {
      const row = await rows.load(slotsKeyOf(definition));
      if (row?.body === undefined) return undefined;
      return { revision: row.revision, standing: parse(definition.id, row.body) };
    },
    record: (definition, after, standing) => rows.replace(slotsKeyOf(definition), after, JSON.stringify(standing)),
  };
}

function parse(id: string, body: string): ReturnType<typeof scheduleStanding.parse> {
  try {
    return parseOrThrow(scheduleStanding, JSON.parse(body), {
      what: `the standing of schedule "${id}"`,
      code: 'SCHEDULE_STORE',
    });
  } catch (thrown) {
    throw new RuntimeError(
      'SCHEDULE_STORE',
      `the database holds no standing of schedule "${id}" that can be read: ${messageOf(thrown)}`,
      {
        category: 'storage',
        hint: 'It may have been written by a newer version of wakechart; run that one.',
        details: { scheduleId: id },
      },
    );
  }
}
