/**
 * The life of one background task.
 *
 *   queued ──START──▶ running ◀──PERMISSION_ALLOWED── waiting_permission
 *     │               │ │ │ └───REQUEST_PERMISSION──────▲   │
 *     │               │ │ └─SLEEP─▶ sleeping ──WAKE──▶ running
 *     │               │ │              │                    │
 *   CANCEL     COMPLETE FAIL·CANCEL  CANCEL     PERMISSION_DENIED·CANCEL
 *     ▼               ▼ ▼              ▼                    ▼
 *   cancelled     completed | failed | cancelled     failed | cancelled
 *
 * queued:                       A record in the queue: nothing is open, and no actor exists yet.
 * running:                      A slot is held, and something of the work may run.
 * running.starting:             The runner has been asked and has not answered with a handle.
 * running.active:               The runner works; watchdogs are armed.
 * running.stopping:             The work was asked to end; the handle's cancel runs, and its answer decides what comes
 *                               next.
 * waiting_permission:           The runner is alive and paused, a slot is held, and the idle watchdog is off.
 * waiting_permission.pending:   At least one request waits for its answer.
 * waiting_permission.stopping:  The work is to end while it waits; the handle's cancel runs.
 * sleeping:                     A schedule between two fires; no slot is held.
 * sleeping.resting:             The next fire has its time.
 * sleeping.stopping:            The schedule is to end while it rests; the handle's cancel runs.
 * completed:                    The runner has given a result; nothing of the work runs any more.
 * failed:                       The work has failed, was denied what it asked for, or ran into a limit; nothing of it
 *                               runs any more.
 * cancelled:                    It was ended, and nothing of it runs any more.
 *
 * STARTED and STOP move inside a status and do not matter outside; everything else is the public vocabulary. The chart
 * is a pure lifecycle (no context, guards, actions, timers): policy lives in the actors, which pick the event. That is
 * what lets it be compiled (see ../lifecycle.ts).
 */
import { setup } from 'xstate';
import type { StateValueFrom } from 'xstate';
import type { ChartNotes } from '../inspection/chart-notes.ts';
import type { taskEvents } from './task-events.ts';

/** The events that move a task from one status to another. */
export type BackgroundTaskTransitionEvent = Exclude<keyof typeof taskEvents, 'STARTED' | 'STOP'>;

export type BackgroundTaskChartEvent = { readonly type: keyof typeof taskEvents };

export const taskMachine = setup({ types: { events: {} as BackgroundTaskChartEvent } }).createMachine({
  id: 'task',
  description: 'The life of one background task.',
  meta: {
    unhandled: {
      as: 'rejected',
      because:
        'Who moves a task asks the chart first: what it does not take changes nothing, and the supervisor and the status function say so.',
    },
  } satisfies ChartNotes,
  initial: 'queued',
  states: {
    queued: {
      description: 'A record in the queue: nothing is open, and no actor exists yet.',
      on: { START: 'running', CANCEL: 'cancelled' },
    },
    running: {
      description: 'A slot is held, and something of the work may run.',
      initial: 'starting',
      states: {
        starting: {
          description: 'The runner has been asked and has not answered with a handle.',
          on: { STARTED: 'active', STOP: 'stopping' },
        },
        active: { description: 'The runner works; watchdogs are armed.', on: { STOP: 'stopping' } },
        // Work that is being stopped may neither ask nor rest: it would hold its slot for ever.
        stopping: {
          description: "The work was asked to end; the handle's cancel runs, and its answer decides what comes next.",
          on: { REQUEST_PERMISSION: undefined, SLEEP: undefined },
        },
      },
      on: {
        REQUEST_PERMISSION: 'waiting_permission',
        SLEEP: 'sleeping',
        COMPLETE: 'completed',
        FAIL: 'failed',
        CANCEL: 'cancelled',
      },
    },
    waiting_permission: {
      description: 'The runner is alive and paused, a slot is held, and the idle watchdog is off.',
      initial: 'pending',
      states: {
        pending: { description: 'At least one request waits for its answer.', on: { STOP: 'stopping' } },
        // An answer that comes now does not undo the stop.
        stopping: {
          description: "The work is to end while it waits; the handle's cancel runs.",
          on: { PERMISSION_ALLOWED: '#task.running.stopping' },
        },
      },
      on: { PERMISSION_ALLOWED: 'running.active', PERMISSION_DENIED: 'failed', CANCEL: 'cancelled' },
    },
    sleeping: {
      description: 'A schedule between two fires; no slot is held.',
      initial: 'resting',
      states: {
        resting: { description: 'The next fire has its time.', on: { STOP: 'stopping' } },
        stopping: {
          description: "The schedule is to end while it rests; the handle's cancel runs.",
          on: { WAKE: '#task.running.stopping' },
        },
      },
      on: { WAKE: 'running.active', CANCEL: 'cancelled' },
    },
    completed: { description: 'The runner has given a result; nothing of the work runs any more.', type: 'final' },
    failed: {
      description:
        'The work has failed, was denied what it asked for, or ran into a limit; nothing of it runs any more.',
      type: 'final',
    },
    cancelled: { description: 'It was ended, and nothing of it runs any more.', type: 'final' },
  },
});

type TopLevel<Value> = Value extends string ? Value : Extract<keyof Value, string>;

/** The public statuses: the chart's top-level states, and nothing else can be one. */
export type BackgroundTaskStatus = TopLevel<StateValueFrom<typeof taskMachine>>;
