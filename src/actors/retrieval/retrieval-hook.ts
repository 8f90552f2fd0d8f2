/** Goes along with wakes: what a wake has said is found from its end on, since the next search reads what is new. */
import type { WakeHook } from '../wake/wake-hook.ts';
import type { Retrieval } from './retrieval.ts';

export function createRetrievalHook(retrieval: Retrieval): WakeHook {
  return {
    name: 'retrieval',
    ended: async (wake) => retrieval.expectNews(wake.state().agentId),
    needsRight: () => false,
  };
}
