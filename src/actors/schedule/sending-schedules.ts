/** The schedules that send to sessions, as an explanation of those sessions needs them. */
import type { SendingSchedule } from '../../machines/session/why-conditions.ts';
import type { ScheduleRegistry } from './durable-registry.ts';

/** Those that cannot be read are left out: `schedule list` names them. */
export async function sendingSchedules(registry: Pick<ScheduleRegistry, 'list'>): Promise<readonly SendingSchedule[]> {
  return (await registry.list()).flatMap((view): SendingSchedule[] => {
    if ('error' in view) return [];
    const { id, state, dueSince, nextFireAt } = view;
    const { target } = view.definition;
    if (target.kind !== 'session') return [];
    return [
      {
        id,
        sessionId: target.sessionId,
        status: state.status,
        ...(state.reason === undefined ? {} : { because: state.reason.message }),
        ...(dueSince === undefined ? {} : { dueSince }),
        ...(nextFireAt === undefined ? {} : { nextFireAt }),
      },
    ];
  });
}
