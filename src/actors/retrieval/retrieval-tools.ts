/** The tool by which an agent finds what it knows. */
import { HINTS_NOTE, retrievalSearchDefinition } from '../../machines/retrieval/retrieval-tool.ts';
import type { RetrievalSearchInput, RetrievalSearchOutput } from '../../machines/retrieval/retrieval-tool.ts';
import type { EventStore } from '../session/event-store.ts';
import type { Tool, ToolContext } from '../turn/tool.ts';
import { turnStartOf } from './own-turn.ts';
import type { Retrieval } from './retrieval.ts';

export interface RetrievalToolPorts {
  readonly retrieval: Retrieval;
  readonly store: EventStore;
}

export function createRetrievalTools(ports: RetrievalToolPorts): readonly Tool[] {
  const search: Tool<RetrievalSearchInput> = {
    definition: retrievalSearchDefinition,
    run: (input, context) => searchAll(input, context, ports),
  };
  return [search] as readonly Tool[];
}

async function searchAll(
  input: RetrievalSearchInput,
  context: ToolContext,
  { retrieval, store }: RetrievalToolPorts,
): Promise<RetrievalSearchOutput> {
  const { agentId, sessionId } = context.session;
  const beforeSeq = await turnStartOf(context, store);
  const { candidates, searched, sessionsLeftOut } = await retrieval.search({ ...input, agentId, sessionId, beforeSeq });
  const leftOut =
    sessionsLeftOut === 0
      ? ''
      : ` ${sessionsLeftOut} of your oldest sessions are not searched, since there are too many; session_list shows them.`;
  return {
    candidates: [...candidates],
    searched,
    note: `${candidates.length === 0 ? 'Nothing fits. Try other words, or fewer.' : HINTS_NOTE}${leftOut}`,
  };
}
