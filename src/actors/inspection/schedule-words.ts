/** The schedules of a store, as people read them: what each does, how it stands and how its last run ended. */
import type { StatusWords } from '../../machines/inspection-log/session-words.ts';
import type { ScheduleTarget } from '../../machines/schedule/schedule-definition.ts';
import { isSilent } from '../../machines/schedule/schedule-state.ts';
import type { ScheduleState } from '../../machines/schedule/schedule-state.ts';
import type { ScheduleOverview, ScheduleView } from '../schedule/durable-registry.ts';
import type { FleetCell, ShownFleet } from './fleet-words.ts';

const LISTED = 200;
const MAX_CHARACTERS = 200;

type Outcome = NonNullable<ScheduleState['lastRun']>['outcome'];

const STATUS: Readonly<Record<ScheduleState['status'], StatusWords['status']>> = {
  active: 'done',
  paused: 'quiet',
  parked: 'error',
  ended: 'quiet',
};
const OUTCOMES: Readonly<Record<Outcome, StatusWords['status']>> = {
  running: 'running',
  completed: 'done',
  failed: 'error',
  missed: 'waiting',
  cancelled: 'quiet',
};

/** @param at ISO-8601 @param cut takes secrets out and cuts */
export function shownSchedules(
  schedules: readonly ScheduleView[],
  { at, cut }: { readonly at: string; readonly cut: (text: string, most: number) => string },
): ShownFleet {
  const told = (text: string): string => cut(text, MAX_CHARACTERS);
  const more = schedules.length - LISTED;
  const note =
    schedules.length === 0
      ? 'There are none. One is added with wakechart schedule add.'
      : more > 0
        ? `${more} more are not listed: wakechart schedule list`
        : schedules.some((view) => 'dueSince' in view && view.dueSince !== undefined)
          ? 'No worker runs: they fire only while one does. Start it with wakechart worker'
          : 'They fire while a worker runs.';
  // Those that a person has paused are as that person wants them.
  const sorted = schedules.toSorted((one, other) => Number(isPaused(one)) - Number(isPaused(other)));
  return {
    at,
    parts: [
      {
        title: 'Schedules',
        count: String(schedules.length),
        columns: ['Schedule', 'Does', 'State', 'Last run', 'Outcome', 'Next in'],
        rows: sorted.slice(0, LISTED).map((view) => rowOf(view, at, told)),
        note,
      },
    ],
  };
}

function isPaused(view: ScheduleView): boolean {
  return 'state' in view && view.state.status === 'paused';
}

function rowOf(view: ScheduleView, at: string, told: (text: string) => string): readonly FleetCell[] {
  if ('error' in view)
    return [{ text: told(view.id) }, { text: told(view.error.message) }, { text: 'cannot be read', status: 'error' }];
  const { id, definition, state, dueSince, nextFireAt } = view;
  const because = state.reason === undefined ? '' : `: ${state.reason.message}`;
  const stands: FleetCell =
    dueSince === undefined
      ? { text: told(`${state.status}${because}`), status: STATUS[state.status] }
      : { text: 'no worker runs', status: 'error' };
  return [
    { text: told(id) },
    targetCell(definition.target, told),
    stands,
    ...lastRun(view, at, told),
    { until: dueSince ?? nextFireAt },
  ];
}

function targetCell(target: ScheduleTarget, told: (text: string) => string): FleetCell {
  return target.kind === 'command'
    ? { text: told(`runs ${target.command}`) }
    : { text: told(`sends “${target.text}”`), session: target.sessionId };
}

/** When, and how it ended. */
function lastRun(
  { state: { lastRun: run }, lastSlot }: ScheduleOverview,
  at: string,
  told: (text: string) => string,
): readonly [FleetCell, FleetCell] {
  if (lastSlot !== undefined && lastSlot > (run?.slot ?? ''))
    return [{ since: lastSlot }, { text: 'did not fire', status: 'error' }];
  if (run === undefined) return [{ text: 'none yet' }, {}];
  if (run.outcome === 'running' && isSilent(run, at))
    return [{ since: run.startedAt }, { text: 'interrupted: its worker is gone', status: 'error' }];
  const note = run.note === undefined ? '' : `: ${run.note}`;
  return [{ since: run.startedAt }, { text: told(`${run.outcome}${note}`), status: OUTCOMES[run.outcome] }];
}
