/**
 * The life of a worker.
 *
 *   starting ──READY──▶ working ──DRAIN──▶ draining ──ENDED──▶ stopped
 *      │                   │                  │                   ▲
 *      ├──────DRAIN────────┼──────────────────┘ FORCE             │
 *      └──────FORCE────────┴────────▶ forced ◀┘ ──────ENDED───────┘
 *
 * starting:      It asks whether the index of what is due can be trusted; sessions are woken already.
 * working:       It takes what is due, as long as there are slots.
 * working.busy:  A wake runs, or it is not known whether something is due.
 * working.idle:  No wake runs and nothing is due; it sleeps until something is.
 * draining:      It takes nothing more; the wakes that run go on to their end, up to a limit.
 * forced:        The wakes that run are being stopped.
 * stopped:       No wake of this worker runs; what it did not take is left to others.
 */
import { setup } from 'xstate';
import type { StateValueFrom } from 'xstate';
import type { ChartNotes } from '../inspection/chart-notes.ts';
import { compileLifecycle } from '../lifecycle.ts';
import type { workerEvents } from './worker-events.ts';

export type WorkerEventType = keyof typeof workerEvents;

export const workerMachine = setup({ types: { events: {} as { readonly type: WorkerEventType } } }).createMachine({
  id: 'sessionWorker',
  description: 'The life of a worker.',
  initial: 'starting',
  states: {
    starting: {
      description: 'It asks whether the index of what is due can be trusted; sessions are woken already.',
      on: { READY: 'working', DRAIN: 'draining', FORCE: 'forced' },
    },
    working: {
      description: 'It takes what is due, as long as there are slots.',
      initial: 'busy',
      states: {
        busy: {
          description: 'A wake runs, or it is not known whether something is due.',
          on: { IDLE: 'idle' },
        },
        idle: { description: 'No wake runs and nothing is due; it sleeps until something is.', on: { WOKE: 'busy' } },
      },
      on: { DRAIN: 'draining', FORCE: 'forced' },
    },
    draining: {
      description: 'It takes nothing more; the wakes that run go on to their end, up to a limit.',
      meta: {
        waives: { 'ignored-command': { DRAIN: 'It drains already: a caller that asks again waits for the same end.' } },
      } satisfies ChartNotes,
      on: { FORCE: 'forced', ENDED: 'stopped' },
    },
    forced: {
      description: 'The wakes that run are being stopped.',
      meta: {
        waives: {
          'ignored-command': {
            DRAIN: 'To let wakes come to their end is less than what it does already.',
            FORCE: 'It stops them already, and a caller that asks again has them told again.',
          },
          'unbounded-wait': 'A wake that is stopped leaves behind what does not stop in time.',
        },
      } satisfies ChartNotes,
      on: { ENDED: 'stopped' },
    },
    stopped: { description: 'No wake of this worker runs; what it did not take is left to others.', type: 'final' },
  },
});

type WorkerState = StateValueFrom<typeof workerMachine>;

/** The public phases: the chart's top-level states. Whether it is idle is told by its events. */
export type WorkerPhase = Extract<WorkerState, string> | Extract<keyof Exclude<WorkerState, string>, string>;

export const workerLifecycle = compileLifecycle<WorkerState, { readonly type: WorkerEventType }>(workerMachine);
