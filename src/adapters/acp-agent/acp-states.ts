/** The word of ACP for each phase of a turn: why a prompt has ended. */
import type { StopReason } from '@agentclientprotocol/sdk';
import type { TurnPhase } from '../../machines/protocol/turn-phase.ts';

/** `running`: the prompt has no answer yet. `error`: it is answered with one. */
export const ACP_STOP: Readonly<Record<TurnPhase, StopReason | 'running' | 'error'>> = {
  queued: 'running',
  working: 'running',
  asking: 'running',
  completed: 'end_turn',
  budget_reached: 'max_turn_requests',
  failed: 'error',
  interrupted: 'cancelled',
  terminated: 'cancelled',
};

/** A budget of tokens has a word of its own. */
export function stopReasonOf(phase: TurnPhase, budget: string | undefined): (typeof ACP_STOP)[TurnPhase] {
  return phase === 'budget_reached' && /tokens/i.test(budget ?? '') ? 'max_tokens' : ACP_STOP[phase];
}
