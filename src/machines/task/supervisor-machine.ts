/**
 * The life of the task supervisor.
 *
 *   accepting ──DRAIN──▶ draining ──IDLE──▶ stopped
 *
 * accepting:  New tasks are taken; whatever waits starts as soon as a slot is free.
 * draining:   New tasks are refused and nothing more is started; what runs is being stopped.
 * stopped:    Every task has ended; records can still be read and closed.
 */
import { setup } from 'xstate';
import type { StateValueFrom } from 'xstate';
import type { ChartNotes } from '../inspection/chart-notes.ts';
import { compileLifecycle } from '../lifecycle.ts';

export const supervisorMachine = setup({
  types: { events: {} as { readonly type: 'DRAIN' } | { readonly type: 'IDLE' } },
}).createMachine({
  id: 'taskSupervisor',
  description: 'The life of the task supervisor.',
  initial: 'accepting',
  states: {
    accepting: {
      description: 'New tasks are taken; whatever waits starts as soon as a slot is free.',
      on: { DRAIN: 'draining' },
    },
    draining: {
      description: 'New tasks are refused and nothing more is started; what runs is being stopped.',
      meta: {
        waives: {
          'ignored-command': {
            DRAIN: 'The manager asks once: a caller that shuts it down again waits for the same end.',
          },
          'unbounded-wait':
            'Each task that is being stopped has a deadline, unless deadlines were switched off, and the supervisor counts their ends itself.',
        },
      } satisfies ChartNotes,
      on: { IDLE: 'stopped' },
    },
    stopped: { description: 'Every task has ended; records can still be read and closed.', type: 'final' },
  },
});

export const supervisorLifecycle = compileLifecycle<
  StateValueFrom<typeof supervisorMachine>,
  { readonly type: 'DRAIN' | 'IDLE' }
>(supervisorMachine);
