/** The word of A2A for each phase of a turn. */
import type { TurnPhase } from '../../machines/protocol/turn-phase.ts';

/** As JSON has them. */
export type A2aState =
  | 'TASK_STATE_SUBMITTED'
  | 'TASK_STATE_WORKING'
  | 'TASK_STATE_INPUT_REQUIRED'
  | 'TASK_STATE_COMPLETED'
  | 'TASK_STATE_FAILED'
  | 'TASK_STATE_CANCELED';

export const A2A_STATE: Readonly<Record<TurnPhase, A2aState>> = {
  queued: 'TASK_STATE_SUBMITTED',
  working: 'TASK_STATE_WORKING',
  asking: 'TASK_STATE_INPUT_REQUIRED',
  completed: 'TASK_STATE_COMPLETED',
  budget_reached: 'TASK_STATE_FAILED',
  failed: 'TASK_STATE_FAILED',
  interrupted: 'TASK_STATE_CANCELED',
  terminated: 'TASK_STATE_CANCELED',
};
