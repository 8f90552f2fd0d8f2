/**
 * The life of the task supervisor.
 *
 *   accepting ──DRAIN──▶ draining ──IDLE──▶ stopped
 *
 * accepting:  new tasks are taken; whatever waits starts as soon as a slot is free.
 * draining:   new tasks are refused and nothing more is started; what runs is being stopped.
 * stopped:    every task has ended; records can still be read and closed.
 */
import { setup } from 'xstate';
import type { StateValueFrom } from 'xstate';
import { compileLifecycle } from '../lifecycle.ts';

export const supervisorMachine = setup({ types: { events: {} as { readonly type: 'DRAIN' } | { readonly type: 'IDLE' } } }).createMachine({
  id: 'task-supervisor',
  initial: 'accepting',
  states: {
    accepting: { on: { DRAIN: 'draining' } },
    draining: { on: { IDLE: 'stopped' } },
    stopped: { type: 'final' },
  },
});

export const supervisorLifecycle = compileLifecycle<StateValueFrom<typeof supervisorMachine>, { readonly type: 'DRAIN' | 'IDLE' }>(supervisorMachine);
