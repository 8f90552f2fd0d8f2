/**
 * The life of a worker.
 *
 *   starting ──READY──▶ working ──DRAIN──▶ draining ──ENDED──▶ stopped
 *      │                   │                  │                   ▲
 *      ├──────DRAIN────────┼──────────────────┘ FORCE             │
 *      └──────FORCE────────┴────────▶ forced ◀┘ ──────ENDED───────┘
 *
 * starting:  asks whether the index of what is due can be trusted; sessions are woken already.
 * working:   takes what is due, as long as there are slots.
 * draining:  takes nothing more; the wakes that run go on to their end, up to a limit.
 * forced:    the wakes that run are being stopped.
 * stopped:   no wake of this worker runs; what it did not take is left to others.
 */
import { setup } from 'xstate';
import type { StateValueFrom } from 'xstate';
import { compileLifecycle } from '../lifecycle.ts';

export type WorkerEventType = 'READY' | 'DRAIN' | 'FORCE' | 'ENDED';

export const workerMachine = setup({ types: { events: {} as { readonly type: WorkerEventType } } }).createMachine({
  id: 'session-worker',
  initial: 'starting',
  states: {
    starting: { on: { READY: 'working', DRAIN: 'draining', FORCE: 'forced' } },
    working: { on: { DRAIN: 'draining', FORCE: 'forced' } },
    draining: { on: { FORCE: 'forced', ENDED: 'stopped' } },
    forced: { on: { ENDED: 'stopped' } },
    stopped: { type: 'final' },
  },
});

export type WorkerPhase = StateValueFrom<typeof workerMachine>;

export const workerLifecycle = compileLifecycle<WorkerPhase, { readonly type: WorkerEventType }>(workerMachine);
