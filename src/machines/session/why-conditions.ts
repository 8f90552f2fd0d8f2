/** What keeps a session from going on that its log cannot know of: the disk, and the schedules that send to it. */
import type { SessionState } from './session-state.ts';
import type { Reason } from './why-reason.ts';
import { spanText } from './why-reason.ts';

export interface Conditions {
  /** What is left on the disk of its home, for this user. Absent: it is unknown. */
  readonly freeBytes?: number | undefined;
  /** Where its home is. */
  readonly home?: string | undefined;
  /** Of a disk that is full: the largest files of the home, largest first. */
  readonly largestFiles?: readonly { readonly path: string; readonly bytes: number }[] | undefined;
  /** Those that send to any session. */
  readonly schedules?: readonly SendingSchedule[] | undefined;
}

export interface SendingSchedule {
  readonly id: string;
  readonly sessionId: string;
  readonly status: 'active' | 'paused' | 'parked' | 'ended';
  /** Why it has its status. */
  readonly because?: string | undefined;
  /** ISO-8601: since when it is due and no worker has fired it. */
  readonly dueSince?: string | undefined;
  /** ISO-8601. */
  readonly nextFireAt?: string | undefined;
}

/** Below that not even the end of a wake can be written for sure. */
const FULL_BYTES = 64 * 1024;

export function isDiskFull({ freeBytes }: Conditions): boolean {
  return freeBytes !== undefined && freeBytes < FULL_BYTES;
}

export function diskReasons(conditions: Conditions): Reason[] {
  if (!isDiskFull(conditions)) return [];
  const { freeBytes = 0, home, largestFiles = [] } = conditions;
  const at = home === undefined ? '' : `, ${home},`;
  // What is small beside the largest frees nothing.
  const large = largestFiles.filter(({ bytes }) => bytes >= (largestFiles[0]?.bytes ?? 0) / 10);
  const files = large.map(({ path, bytes }) => `${withoutFolder(path, home)} (${Math.ceil(bytes / 1024)} KiB)`);
  const removable = large.find(({ path }) => path.includes('/workspace/'));
  return [
    {
      kind: 'disk_full',
      text: `The disk of its home${at} is full (${freeBytes} bytes left): what happens cannot be written, so nothing goes on.${files.length === 0 ? '' : ` Largest there: ${files.join(', ')}.`}`,
      movers: [
        {
          who: 'person',
          events: [],
          does:
            removable === undefined
              ? 'frees space on that disk; a worker then goes on by itself'
              : 'frees space on that disk, as by removing what an agent wrote; a worker then goes on by itself',
          ...(removable === undefined ? {} : { program: ['rm', '-i', removable.path] }),
        },
        { who: 'worker', events: ['wake.started'], does: 'goes on with it, once there is space', command: ['worker'] },
      ],
    },
  ];
}

function withoutFolder(path: string, folder: string | undefined): string {
  return folder !== undefined && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
}

export interface ScheduleReasons {
  /** Of those that should have sent something by now. */
  readonly failing: readonly Reason[];
  readonly others: readonly Reason[];
}

/** @param nowMs milliseconds since the epoch */
export function scheduleReasons(
  { sessionId }: SessionState,
  { schedules = [] }: Conditions,
  nowMs: number,
): ScheduleReasons {
  const own = schedules.filter((schedule) => schedule.sessionId === sessionId);
  const isFailing = ({ status, dueSince }: SendingSchedule): boolean => status === 'parked' || dueSince !== undefined;
  // What a person has paused is as that person wants it.
  const others = own
    .filter((schedule) => !isFailing(schedule))
    .toSorted((one, other) => Number(one.status !== 'active') - Number(other.status !== 'active'));
  return {
    failing: own.filter(isFailing).map((schedule) => ofSchedule(schedule, nowMs)),
    others: others.map((schedule) => ofSchedule(schedule, nowMs)),
  };
}

function ofSchedule({ id, status, because, dueSince, nextFireAt }: SendingSchedule, nowMs: number): Reason {
  const why = because === undefined ? '' : `: ${because.replace(/\.$/, '')}`;
  const resume = {
    who: 'person',
    events: ['user.message'],
    does: 'lets it fire again',
    command: ['schedule', 'resume', id],
  } as const;
  const show = { who: 'person', events: [], does: 'checks it', command: ['schedule', 'show', id] } as const;
  const fire = {
    who: 'worker',
    events: ['user.message'],
    does: 'fires it, as long as one runs',
    command: ['worker'],
  } as const;
  if (status === 'paused' || status === 'parked')
    return {
      kind: 'schedule',
      text: `The schedule ${id} sends nothing to it: it is ${status}${why}.`,
      movers: [resume, show],
    };
  if (status === 'ended')
    return {
      kind: 'schedule',
      text: `The schedule ${id} sends nothing to it any more: it has ended${why}.`,
      movers: [show],
    };
  if (dueSince !== undefined)
    return {
      kind: 'schedule',
      text: `No worker runs: the schedule ${id} was due ${spanText(nowMs - Date.parse(dueSince))} ago.`,
      since: dueSince,
      movers: [{ ...fire, does: 'fires it as soon as one runs' }, show],
    };
  return {
    kind: 'schedule',
    text: `The schedule ${id} sends to it${nextFireAt === undefined ? '' : ' next'}, while a worker runs.`,
    ...(nextFireAt === undefined ? {} : { until: nextFireAt }),
    movers: [fire, show],
  };
}
