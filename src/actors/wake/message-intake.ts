/** How a message reaches a run of a backend while it is active. */
import type { AgentRunConfig, AgentRuntime, MessageIntake } from '../run/agent-runtime.ts';

export function intakeOf(runtime: AgentRuntime, provider: string, config: AgentRunConfig): MessageIntake {
  const { messageIntake } = runtime;
  if (messageIntake !== undefined)
    return typeof messageIntake === 'function' ? messageIntake(provider, config) : messageIntake;
  if (runtime.runs !== 'turn') return 'next_step';
  return runtime.queueMessage === undefined ? 'next_turn' : 'running';
}
