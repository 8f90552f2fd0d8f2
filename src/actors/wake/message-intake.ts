/** How a message reaches a run of a backend while it is active. */
import type { AgentRuntime, MessageIntake } from '../run/agent-runtime.ts';

export function intakeOf({ runs, messageIntake, queueMessage }: AgentRuntime): MessageIntake {
  if (messageIntake !== undefined) return messageIntake;
  if (runs !== 'turn') return 'next_step';
  return queueMessage === undefined ? 'next_turn' : 'running';
}
