/**
 * One process on its way to the right to wake a session, and through the time it holds it.
 *
 *   seeking ──BIND──▶ contending ──WIN──▶ held ──PASS──▶ lost
 *    │  ▲                │  │              │              │
 *    │  └────STEP_BACK───┘  │           RELEASE        RELEASE
 *    │                      │              ▼              │
 *    └──REFUSE──▶ refused ◀─┘           released ◀────────┘
 *                 (REFUSE, PASS)
 *
 * seeking:     It asks the processes that may hold the right, and searches for a number that is free; nothing of ours
 *              can be seen by others.
 * contending:  Our number is taken and we answer under it, but others may have taken numbers at the same moment.
 * held:        No other living process holds or contends for a number above the log's epoch, and a later one is
 *              refused.
 * lost:        Another process found us silent and went past; what we write is void, and all that is left to do is to
 *              release the right.
 * refused:     Nothing is open; another process has the right, or it could not be asked for.
 * released:    Nothing is open; the number may be taken by others.
 *
 * Of two that contend the one with the higher number stays: the log, too, prefers the higher epoch. The lower one
 * leaves as soon as it sees the higher one; the higher one waits until the lower one has left, or leaves when the lower
 * one turns out to hold the right. The chart is a pure lifecycle and is compiled (see ../lifecycle.ts).
 */
import { setup } from 'xstate';
import type { StateValueFrom } from 'xstate';
import type { ChartNotes } from '../inspection/chart-notes.ts';
import { compileLifecycle } from '../lifecycle.ts';
import type { LifecycleSnapshot } from '../lifecycle.ts';
import type { leaseEvents } from './lease-events.ts';

export type LeaseChartEventType = keyof typeof leaseEvents;

export interface LeaseChartEvent {
  readonly type: LeaseChartEventType;
}

export const leaseMachine = setup({ types: { events: {} as LeaseChartEvent } }).createMachine({
  id: 'lease',
  description: 'One process on its way to the right to wake a session, and through the time it holds it.',
  meta: {
    unhandled: {
      as: 'rejected',
      because:
        'Who moves a lease asks the chart first and is told whether it has such a move; where it has none, nothing changes.',
    },
  } satisfies ChartNotes,
  initial: 'seeking',
  states: {
    seeking: {
      description:
        'It asks the processes that may hold the right, and searches for a number that is free; nothing of ours can be seen by others.',
      on: { BIND: 'contending', REFUSE: 'refused' },
    },
    contending: {
      description: 'Our number is taken and we answer under it, but others may have taken numbers at the same moment.',
      on: { WIN: 'held', STEP_BACK: 'seeking', PASS: 'refused', REFUSE: 'refused' },
    },
    held: {
      description:
        "No other living process holds or contends for a number above the log's epoch, and a later one is refused.",
      on: { PASS: 'lost', RELEASE: 'released' },
    },
    lost: {
      description:
        'Another process found us silent and went past; what we write is void, and all that is left to do is to release the right.',
      on: { RELEASE: 'released' },
    },
    refused: {
      description: 'Nothing is open; another process has the right, or it could not be asked for.',
      type: 'final',
    },
    released: { description: 'Nothing is open; the number may be taken by others.', type: 'final' },
  },
});

export type LeaseState = StateValueFrom<typeof leaseMachine>;

export type LeaseSnapshot = LifecycleSnapshot<LeaseState>;

export const leaseLifecycle = compileLifecycle<LeaseState, LeaseChartEvent>(leaseMachine);

/** What a process says about itself to those who ask. */
export const LEASE_PHASES = ['contending', 'held', 'lost'] as const;

export type LeasePhase = (typeof LEASE_PHASES)[number];

/** What each state is called to those who ask; a state in which no process can ask counts as lost. */
const PHASES = {
  seeking: 'lost',
  contending: 'contending',
  held: 'held',
  lost: 'lost',
  refused: 'lost',
  released: 'lost',
} as const satisfies Record<LeaseState, LeasePhase>;

export function leasePhaseOf(state: LeaseState): LeasePhase {
  return PHASES[state];
}
