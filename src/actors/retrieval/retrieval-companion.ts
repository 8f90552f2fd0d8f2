/** Goes along with wakes: what a wake has said is found from its end on, since the next search reads what is new. */
import type { WakeCompanion } from '../wake/wake-companion.ts';
import type { Retrieval } from './retrieval.ts';

export function createRetrievalCompanion(retrieval: Retrieval): WakeCompanion {
  return {
    name: 'retrieval',
    ended: async (wake) => retrieval.expectNews(wake.state().agentId),
    needsRight: () => false,
  };
}
