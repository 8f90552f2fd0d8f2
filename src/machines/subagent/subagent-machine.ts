/**
 * The life of one subagent job, from the moment its task has a slot.
 *
 *   preparing ──PREPARED──▶ running ──WORK_DONE────▶ settling.done    ──SETTLED──▶ completed
 *     │   │                   │  └────WORK_FAILED──▶ settling.failed  ──SETTLED──▶ failed
 *     │   └─PREPARE_FAILED────│──────────────▲
 *    STOP                    STOP
 *     ▼                       ▼
 *   preparing.stopping ──PREPARED──▶ running.stopping ──WORK_DONE · WORK_FAILED · WORK_GONE──▶ settling.stopped ──SETTLED──▶ cancelled
 *   preparing.stopping ──PREPARE_FAILED──▶ settling.stopped
 *
 * preparing:           Its worktree is being made, its worker is being started; nothing of the agent runs yet.
 * preparing.active:    Its end has not been asked for.
 * preparing.stopping:  Its end was asked for while it was being prepared; what was made so far is waited for, to be
 *                      ended.
 * running:             The agent works; follow-ups and answers reach it.
 * running.active:      Follow-ups and answers reach the agent.
 * running.stopping:    Its end was asked for: what runs is being ended, and what it says no longer counts as its
 *                      outcome.
 * settling:            Nothing of the agent runs any more; its worktree is checked, then removed or kept, and its end
 *                      is stored.
 * settling.done:       The work gave a result.
 * settling.failed:     The work failed, or could not begin.
 * settling.stopped:    The work was ended before it was done.
 * completed:           Its result is stored; no process and no worktree without a record is left.
 * failed:              Its failure is stored; no process and no worktree without a record is left.
 * cancelled:           That it was stopped is stored; no process and no worktree without a record is left.
 *
 * A settlement that fails changes nothing about how the work ended: it is reported beside it.
 *
 * A pure lifecycle (see ../lifecycle.ts): policy lives in the actors, which pick the event.
 */
import { setup } from 'xstate';
import type { StateValueFrom } from 'xstate';
import type { ChartNotes } from '../inspection/chart-notes.ts';
import { compileLifecycle } from '../lifecycle.ts';
import type { subagentEvents } from './subagent-events.ts';

export type SubagentChartEventType = keyof typeof subagentEvents;

export interface SubagentChartEvent {
  readonly type: SubagentChartEventType;
}

const stopping: ChartNotes = {
  waives: {
    'unbounded-wait': 'It ends when the work is proven gone; its task waits until a deadline, then says what is left.',
  },
};

export const subagentMachine = setup({ types: { events: {} as SubagentChartEvent } }).createMachine({
  id: 'subagent',
  description: 'The life of one subagent job, from the moment its task has a slot.',
  meta: {
    unhandled: {
      as: 'rejected',
      because:
        'A job asks the chart before it moves: what the chart does not take changes nothing, and the job goes by that.',
    },
  } satisfies ChartNotes,
  initial: 'preparing',
  states: {
    preparing: {
      description: 'Its worktree is being made, its worker is being started; nothing of the agent runs yet.',
      initial: 'active',
      states: {
        active: {
          description: 'Its end has not been asked for.',
          on: { PREPARED: '#subagent.running', PREPARE_FAILED: '#subagent.settling.failed', STOP: 'stopping' },
        },
        stopping: {
          description:
            'Its end was asked for while it was being prepared; what was made so far is waited for, to be ended.',
          meta: stopping,
          on: { PREPARED: '#subagent.running.stopping', PREPARE_FAILED: '#subagent.settling.stopped' },
        },
      },
    },
    running: {
      description: 'The agent works; follow-ups and answers reach it.',
      initial: 'active',
      states: {
        active: {
          description: 'Follow-ups and answers reach the agent.',
          on: { WORK_DONE: '#subagent.settling.done', WORK_FAILED: '#subagent.settling.failed', STOP: 'stopping' },
        },
        stopping: {
          description:
            'Its end was asked for: what runs is being ended, and what it says no longer counts as its outcome.',
          meta: stopping,
          on: {
            WORK_DONE: '#subagent.settling.stopped',
            WORK_FAILED: '#subagent.settling.stopped',
            WORK_GONE: '#subagent.settling.stopped',
          },
        },
      },
    },
    settling: {
      description:
        'Nothing of the agent runs any more; its worktree is checked, then removed or kept, and its end is stored.',
      meta: {
        waives: { 'unbounded-wait': 'The job settles itself, and what fails of that is reported beside its end.' },
      } satisfies ChartNotes,
      initial: 'done',
      states: {
        done: { description: 'The work gave a result.', on: { SETTLED: '#subagent.completed' } },
        failed: { description: 'The work failed, or could not begin.', on: { SETTLED: '#subagent.failed' } },
        stopped: { description: 'The work was ended before it was done.', on: { SETTLED: '#subagent.cancelled' } },
      },
    },
    completed: {
      description: 'Its result is stored; no process and no worktree without a record is left.',
      type: 'final',
    },
    failed: {
      description: 'Its failure is stored; no process and no worktree without a record is left.',
      type: 'final',
    },
    cancelled: {
      description: 'That it was stopped is stored; no process and no worktree without a record is left.',
      type: 'final',
    },
  },
});

/** The life of a job as actor logic. */
export const subagentLifecycle = compileLifecycle<StateValueFrom<typeof subagentMachine>, SubagentChartEvent>(
  subagentMachine,
);
