/**
 * How schedules stand, in PostgreSQL: a row for each, replaced by exactly one of all who have seen the same revision.
 */
import type { ScheduleStates } from '../../actors/schedule/durable-ports.ts';
import { scheduleState } from '../../machines/schedule/schedule-state.ts';
import { slotsKeyOf } from '../../machines/schedule/schedule-definition.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import { SCHEDULE_STATE_TABLE } from '../../machines/stored-names.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { RevisedRows } from './revised-rows.ts';

export function createPostgresScheduleStates({ database }: { readonly database: PostgresDatabase }): ScheduleStates {
  const rows = new RevisedRows(database, SCHEDULE_STATE_TABLE);
  return {
    async load(definition) {
      const row = await rows.load(slotsKeyOf(definition));
      if (row?.body === undefined) return undefined;
      return { revision: row.revision, state: parse(definition.id, row.body) };
    },
    record: (definition, after, state) => rows.replace(slotsKeyOf(definition), after, JSON.stringify(state)),
  };
}

function parse(id: string, body: string): ReturnType<typeof scheduleState.parse> {
  try {
    return parseOrThrow(scheduleState, JSON.parse(body), {
      what: `the state of schedule "${id}"`,
      code: 'SCHEDULE_STORE',
    });
  } catch (thrown) {
    throw new RuntimeError(
      'SCHEDULE_STORE',
      `the database holds no state of schedule "${id}" that can be read: ${messageOf(thrown)}`,
      {
        category: 'storage',
        hint: 'It may have been written by a newer version of wakechart; run that one.',
        details: { scheduleId: id },
      },
    );
  }
}
