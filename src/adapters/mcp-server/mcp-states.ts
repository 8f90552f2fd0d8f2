/** The word of MCP's tasks for each phase of a turn. */
import type { Task } from '@modelcontextprotocol/sdk/types.js';
import type { TurnPhase } from '../../machines/protocol/turn-phase.ts';

export const MCP_STATUS: Readonly<Record<TurnPhase, Task['status']>> = {
  queued: 'working',
  working: 'working',
  asking: 'input_required',
  completed: 'completed',
  budget_reached: 'failed',
  failed: 'failed',
  interrupted: 'cancelled',
  terminated: 'cancelled',
};
