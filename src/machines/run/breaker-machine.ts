/**
 * What keeps runs away from a candidate that fails, and lets one of them find out whether it has recovered.
 *
 *            ┌───────────────────RECOVER───────────────────┐
 *            ▼                                             │
 *   closed ──COOL──▶ cooling ⟲COOL ──PROBE──▶ half_open ───┤
 *     │                │   ▲ ▲                 │  │        │
 *     │             DISABLE │ └──────COOL──────┘  │        │
 *     │                ▼    │                  DISABLE     │
 *     └───DISABLE──▶ disabled ⟲DISABLE ◀──────────┘        │
 *                    disabled ──PROBE──▶ half_open         │
 *                    cooling, disabled ──RECOVER───────────┘
 *
 * closed:     Every run may try it, any number at a time; nothing counts against it.
 * cooling:    It failed in a way that passes; no run is sent to it before its rest is over, unless a user insists.
 * half_open:  Its rest is over and exactly one attempt is out to see; no other run is sent to it. A probe that tells
 *             nothing goes back to where it came from.
 * disabled:   It failed in a way that does not pass by itself; it rests for hours, and what merely cools does not
 *             shorten that.
 *
 * Whether a rest is over, and whose word counts, is decided by times (see breaker.ts). The chart is a pure lifecycle
 * and is compiled.
 */
import { setup } from 'xstate';
import type { StateValueFrom } from 'xstate';
import type { ChartNotes } from '../inspection/chart-notes.ts';
import { compileLifecycle } from '../lifecycle.ts';
import type { breakerEvents } from './breaker-events.ts';

export type BreakerEventType = keyof typeof breakerEvents;

export interface BreakerEvent {
  readonly type: BreakerEventType;
}

export const breakerMachine = setup({ types: { events: {} as BreakerEvent } }).createMachine({
  id: 'breaker',
  description:
    'What keeps runs away from a candidate that fails, and lets one of them find out whether it has recovered.',
  initial: 'closed',
  states: {
    closed: {
      description: 'Every run may try it, any number at a time; nothing counts against it.',
      meta: {
        waives: {
          'ignored-command': { PROBE: 'Every run is admitted without a probe.' },
          'unbounded-wait': 'A candidate that works stays here.',
        },
      } satisfies ChartNotes,
      on: { COOL: 'cooling', DISABLE: 'disabled' },
    },
    cooling: {
      description:
        'It failed in a way that passes; no run is sent to it before its rest is over, unless a user insists.',
      on: { COOL: 'cooling', DISABLE: 'disabled', PROBE: 'half_open', RECOVER: 'closed' },
    },
    half_open: {
      description:
        'Its rest is over and exactly one attempt is out to see; no other run is sent to it. A probe that tells nothing goes back to where it came from.',
      meta: {
        waives: {
          'ignored-command': { PROBE: 'One probe is out, and no other run is admitted meanwhile.' },
          'unbounded-wait':
            'A probe that does not come back in time counts as one that told nothing: the next reader of its health puts that right first.',
        },
      } satisfies ChartNotes,
      on: { COOL: 'cooling', DISABLE: 'disabled', RECOVER: 'closed' },
    },
    disabled: {
      description:
        'It failed in a way that does not pass by itself; it rests for hours, and what merely cools does not shorten that.',
      on: { DISABLE: 'disabled', PROBE: 'half_open', RECOVER: 'closed' },
    },
  },
});

export type BreakerState = StateValueFrom<typeof breakerMachine>;

const breakerLifecycle = compileLifecycle<BreakerState, BreakerEvent>(breakerMachine);

const SNAPSHOTS = new Map(breakerLifecycle.snapshots.map((snapshot) => [snapshot.value, snapshot]));

/** The state after the event; undefined where the chart does not take it. */
export function breakerAfter(state: BreakerState, event: BreakerEventType): BreakerState | undefined {
  const snapshot = SNAPSHOTS.get(state);
  return snapshot === undefined ? undefined : breakerLifecycle.next(snapshot, event)?.value;
}
