/** Hints of what is due for the cases of contracts. */
import type { Activation } from '../machines/session/activation.ts';
import { AGENT_ID, SESSION_ID, START_MS, idOf } from './session-fixtures.ts';

/** A hint that is due at START_MS, and whatever else it is to be. */
export function hint(change: Partial<Activation> = {}): Activation {
  return {
    sessionId: SESSION_ID,
    agentId: AGENT_ID,
    causeId: idOf(1),
    kind: 'ingress',
    dueAtMs: START_MS,
    priority: 'normal',
    ...change,
  };
}
