/**
 * The life of one session, as clients see it.
 *
 *             ┌──────────────── WAKE ────────────────┐
 *             │                                      ▼
 *   idle { resting ◀──RESOLVE── requires_action }  running ──RESCHEDULE──▶ rescheduling
 *             ▲                    ▲                 │ │ ▲ └──WAKE (a newer epoch takes over)
 *             └────────REST────────┼─────────────────┘ │ └───────WAKE─────────┘
 *                                  └──REQUIRE_ACTION───┘
 *   every one of them ──TERMINATE──▶ terminated
 *
 * idle:                  No wake runs.
 * idle.resting:          Nothing runs; new messages and due wakes make the session ready again.
 * idle.requires_action:  Nothing runs, and at least one request waits for an answer from outside.
 * running:               A wake holds the right to write; its epoch is the highest in the log.
 * rescheduling:          The wake ended before its work did, and a queued wake will go on with it. An interruption
 *                        cancels that.
 * terminated:            Messages and wakes are refused for ever; the log stays readable.
 *
 * A wake may begin while the log says `running`: then the wake before it died, and the newer epoch supersedes it. The
 * chart is a pure lifecycle and is compiled (see ../lifecycle.ts). No actor runs it: a session is its log, which
 * several processes write, so the chart judges each change of status before it is stored and as it is folded. What is
 * folded from events lives in session-fold.ts.
 */
import { setup } from 'xstate';
import type { StateValueFrom } from 'xstate';
import type { ChartNotes } from '../inspection/chart-notes.ts';
import { compileLifecycle } from '../lifecycle.ts';
import type { LifecycleSnapshot } from '../lifecycle.ts';
import type { sessionChartEvents } from './session-chart-events.ts';

export type SessionChartEventType = keyof typeof sessionChartEvents;

export interface SessionChartEvent {
  readonly type: SessionChartEventType;
}

export const sessionMachine = setup({ types: { events: {} as SessionChartEvent } }).createMachine({
  id: 'session',
  description: 'The life of one session, as clients see it.',
  meta: {
    unhandled: {
      as: 'rejected',
      because: 'A change of status that the chart does not have is refused before it is written.',
    },
  } satisfies ChartNotes,
  initial: 'idle',
  states: {
    idle: {
      description: 'No wake runs.',
      initial: 'resting',
      states: {
        resting: { description: 'Nothing runs; new messages and due wakes make the session ready again.' },
        requires_action: {
          description: 'Nothing runs, and at least one request waits for an answer from outside.',
          on: { RESOLVE: 'resting' },
        },
      },
      on: { WAKE: 'running', TERMINATE: 'terminated' },
    },
    running: {
      description: 'A wake holds the right to write; its epoch is the highest in the log.',
      on: {
        WAKE: 'running',
        REST: 'idle.resting',
        REQUIRE_ACTION: 'idle.requires_action',
        RESCHEDULE: 'rescheduling',
        TERMINATE: 'terminated',
      },
    },
    rescheduling: {
      description:
        'The wake ended before its work did, and a queued wake will go on with it. An interruption cancels that.',
      on: { WAKE: 'running', REST: 'idle.resting', TERMINATE: 'terminated' },
    },
    terminated: { description: 'Messages and wakes are refused for ever; the log stays readable.', type: 'final' },
  },
});

type TopLevel<Value> = Value extends string ? Value : Extract<keyof Value, string>;

/** The chart's top-level states. */
export type SessionStatus = TopLevel<StateValueFrom<typeof sessionMachine>>;

/** Why a session does not run; absent while it does. */
export type SessionStopReason = 'idle' | 'requires_action' | 'rescheduling' | 'terminated';

export type SessionChartSnapshot = LifecycleSnapshot<StateValueFrom<typeof sessionMachine>>;

export const sessionLifecycle = compileLifecycle<StateValueFrom<typeof sessionMachine>, SessionChartEvent>(
  sessionMachine,
);

/** What a configuration of the chart is called outside. */
export function statusOf(snapshot: SessionChartSnapshot): {
  readonly status: SessionStatus;
  readonly stopReason: SessionStopReason | undefined;
} {
  // The chart's top-level states are the statuses, by construction of the type.
  const status = snapshot.topLevel as SessionStatus;
  if (status === 'running') return { status, stopReason: undefined };
  if (status !== 'idle') return { status, stopReason: status };
  return { status, stopReason: snapshot.matches({ idle: 'requires_action' }) ? 'requires_action' : 'idle' };
}

const BY_NAME = new Map(sessionLifecycle.snapshots.map((snapshot) => [nameOf(statusOf(snapshot)), snapshot]));

/** The configuration after `event`, or undefined when the chart has no such move. */
export function nextConfiguration(
  current: { readonly status: SessionStatus; readonly stopReason?: SessionStopReason | undefined },
  event: SessionChartEventType,
): SessionChartSnapshot | undefined {
  const snapshot = BY_NAME.get(nameOf(current));
  return snapshot === undefined ? undefined : sessionLifecycle.next(snapshot, event);
}

function nameOf({
  status,
  stopReason,
}: {
  readonly status: SessionStatus;
  readonly stopReason?: SessionStopReason | undefined;
}): string {
  return status === 'running' ? status : `${status} ${stopReason ?? ''}`;
}
