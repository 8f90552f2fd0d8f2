/** What there is around the sessions of a home: the space on its disk, and the schedules that send to them. */
import type { ScheduleRegistry } from '../actors/schedule/durable-registry.ts';
import { sendingSchedules } from '../actors/schedule/sending-schedules.ts';
import { freeSpace, largestFiles } from '../adapters/system/free-space.ts';
import { isDiskFull } from '../machines/session/why-conditions.ts';
import type { Conditions } from '../machines/session/why-conditions.ts';

interface SurroundingsParts {
  /** Absolute path. Absent: they are kept elsewhere. */
  readonly home: string | undefined;
  readonly schedules: Pick<ScheduleRegistry, 'list'> | undefined;
  /** Hears why something could not be found out. */
  readonly onProblem: (error: unknown) => void;
}

/** What cannot be found out is left out: it is told beside what a log says. */
export async function conditionsOf({ home, schedules, onProblem }: SurroundingsParts): Promise<Conditions> {
  const sending =
    schedules === undefined
      ? undefined
      : await sendingSchedules(schedules).catch((error: unknown) => {
          onProblem(error);
          return undefined;
        });
  if (home === undefined) return { schedules: sending };
  const disk = { freeBytes: await freeSpace(home), home };
  return { ...disk, schedules: sending, ...(isDiskFull(disk) ? { largestFiles: await largestFiles(home) } : {}) };
}
