/** Goes along with wakes: what a wake has said is found from its end on. */
import type { WakeCompanion } from '../wake/wake-companion.ts';
import type { Retrieval } from './retrieval.ts';

export function createRetrievalCompanion(retrieval: Retrieval): WakeCompanion {
  return {
    name: 'retrieval',
    async ended(wake) {
      const { agentId, sessionId } = wake.state();
      await retrieval.refreshSession(agentId, sessionId);
    },
  };
}
