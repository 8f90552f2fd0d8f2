/**
 * The life of one subagent job, from the moment its task has a slot.
 *
 *   preparing ──PREPARED──▶ running ──WORK_DONE────▶ settling.done    ──SETTLED──▶ completed
 *     │   │                   │  └────WORK_FAILED──▶ settling.failed  ──SETTLED──▶ failed
 *     │   └─PREPARE_FAILED────│──────────────▲
 *    STOP                    STOP
 *     ▼                       ▼
 *   *.stopping ──PREPARED · PREPARE_FAILED · WORK_DONE · WORK_FAILED · WORK_GONE──▶ settling.stopped ──SETTLED──▶ cancelled
 *
 * preparing:          its worktree is being made, its worker is being started; nothing of the agent runs yet.
 * running:            the agent works; follow-ups and answers reach it.
 * *.stopping:         somebody asked it to end; what runs is being ended, and what it says no longer counts as its outcome.
 * settling:           nothing of the agent runs any more; its worktree is looked at, then removed or kept, its end is stored.
 * settling.*:         how the work itself ended. A settlement that fails changes nothing about that: it is reported beside it.
 * completed, failed, cancelled: its end is stored; no process, no worktree without a record is left.
 *
 * A pure lifecycle (see ../lifecycle.ts): policy lives in the actors, which pick the event.
 */
import { setup } from 'xstate';
import type { StateValueFrom } from 'xstate';
import { compileLifecycle } from '../lifecycle.ts';

export type SubagentChartEventType = 'PREPARED' | 'PREPARE_FAILED' | 'STOP' | 'WORK_DONE' | 'WORK_FAILED' | 'WORK_GONE' | 'SETTLED';

export interface SubagentChartEvent {
  readonly type: SubagentChartEventType;
}

export const subagentMachine = setup({ types: { events: {} as SubagentChartEvent } }).createMachine({
  id: 'subagent',
  initial: 'preparing',
  states: {
    preparing: {
      initial: 'active',
      states: {
        active: { on: { PREPARED: '#subagent.running', PREPARE_FAILED: '#subagent.settling.failed', STOP: 'stopping' } },
        stopping: { on: { PREPARED: '#subagent.running.stopping', PREPARE_FAILED: '#subagent.settling.stopped', WORK_GONE: '#subagent.settling.stopped' } },
      },
    },
    running: {
      initial: 'active',
      states: {
        active: { on: { WORK_DONE: '#subagent.settling.done', WORK_FAILED: '#subagent.settling.failed', STOP: 'stopping' } },
        stopping: {
          on: { WORK_DONE: '#subagent.settling.stopped', WORK_FAILED: '#subagent.settling.stopped', WORK_GONE: '#subagent.settling.stopped' },
        },
      },
    },
    settling: {
      initial: 'done',
      states: {
        done: { on: { SETTLED: '#subagent.completed' } },
        failed: { on: { SETTLED: '#subagent.failed' } },
        stopped: { on: { SETTLED: '#subagent.cancelled' } },
      },
    },
    completed: { type: 'final' },
    failed: { type: 'final' },
    cancelled: { type: 'final' },
  },
});

/** The life of a job as actor logic. */
export const subagentLifecycle = compileLifecycle<StateValueFrom<typeof subagentMachine>, SubagentChartEvent>(subagentMachine);
