/**
 * The tools by which an agent opens the sessions of its own, and has others work for it. Nothing of another agent's can
 * be opened.
 */
import {
  sessionDelegateDefinition,
  sessionDescribeContextDefinition,
  sessionDescribeDefinition,
  sessionGetEventsDefinition,
  sessionGetSnapshotDefinition,
  sessionGetTraceDefinition,
  sessionListDefinition,
  sessionRunChildDefinition,
  sessionSearchContextDefinition,
} from '../../machines/session-tools/session-tool-definitions.ts';
import type {
  NoInput,
  SessionDelegateInput,
  SessionEventsInput,
  SessionListInput,
  SessionRunChildInput,
  SessionSearchInput,
  SessionSearchOutput,
  SessionSnapshotInput,
  SessionTraceInput,
} from '../../machines/session-tools/session-tool-definitions.ts';
import { HINTS_NOTE } from '../../machines/retrieval/retrieval-tool.ts';
import { snapshotOf } from '../../machines/session-tools/snapshot.ts';
import { turnStartOf } from '../retrieval/own-turn.ts';
import type { Retrieval } from '../retrieval/retrieval.ts';
import type { Tool, ToolContext, PreparedAgent } from '../turn/tool.ts';
import { describeOwnContext, describeSession } from './session-tools-context.ts';
import { delegate, runChild } from './session-tools-delegate.ts';
import type { DelegationPorts } from './session-tools-delegate.ts';
import { requireOwn } from './session-tools-kin.ts';
import { listSessions, readEvents, readTrace } from './session-tools-reading.ts';
import type { SessionReading } from './session-tools-reading.ts';

/** What the runtime offers to what goes along with its wakes. */
export interface SessionToolServices extends SessionReading, DelegationPorts {}

export interface SessionToolOptions {
  readonly retrieval: Retrieval;
}

export function createSessionTools(services: SessionToolServices, { retrieval }: SessionToolOptions): readonly Tool[] {
  const list: Tool<SessionListInput> = {
    definition: sessionListDefinition,
    run: (input, { session }) => listSessions(services, session, input),
  };
  const describe: Tool<NoInput> = {
    definition: sessionDescribeDefinition,
    run: (_input, context) => describeSession(context, services),
  };
  const describeContext: Tool<NoInput> = {
    definition: sessionDescribeContextDefinition,
    run: (_input, context) => describeOwnContext(context, services),
  };
  const search: Tool<SessionSearchInput> = {
    definition: sessionSearchContextDefinition,
    run: (input, context) => searchSession(input, context, { services, retrieval }),
  };
  const delegating: Tool<SessionDelegateInput> = {
    definition: sessionDelegateDefinition,
    run: (input, context) => delegate(input, context, services),
  };
  return [
    list,
    ...openingTools(services),
    search,
    describeContext,
    describe,
    delegating,
    runChildTool(),
  ] as readonly Tool[];
}

function openingTools(services: SessionReading): readonly Tool[] {
  const opened = async <Input extends { readonly sessionId: string }, Result>(
    input: Input,
    { session }: ToolContext,
    open: (services: SessionReading, input: Input) => Promise<Result>,
  ): Promise<Result> => {
    await requireOwn(services.store, input.sessionId, session.agentId);
    return open(services, input);
  };
  const snapshot: Tool<SessionSnapshotInput> = {
    definition: sessionGetSnapshotDefinition,
    run: (input, context) =>
      opened(input, context, async () => snapshotOf(await services.sessions.get(input.sessionId))),
  };
  const events: Tool<SessionEventsInput> = {
    definition: sessionGetEventsDefinition,
    run: (input, context) => opened(input, context, readEvents),
  };
  const trace: Tool<SessionTraceInput> = {
    definition: sessionGetTraceDefinition,
    run: (input, context) => opened(input, context, readTrace),
  };
  return [snapshot, events, trace] as readonly Tool[];
}

/** @param agent of the session that calls: without it it is unknown which agents it may ask, and it may ask none. */
function runChildTool(): Tool<SessionRunChildInput> {
  return {
    definition: sessionRunChildDefinition,
    subflow: (input: SessionRunChildInput, agent?: PreparedAgent) => runChild(input, agent),
  };
}

async function searchSession(
  { query, sessionId, limit }: SessionSearchInput,
  context: ToolContext,
  { services, retrieval }: { readonly services: SessionReading; readonly retrieval: Retrieval },
): Promise<SessionSearchOutput> {
  const { session } = context;
  const within = sessionId ?? session.sessionId;
  await requireOwn(services.store, within, session.agentId);
  const beforeSeq = await turnStartOf(context, services.store);
  const { candidates } = await retrieval.search({
    agentId: session.agentId,
    sessionId: session.sessionId,
    query,
    within,
    beforeSeq,
    limit,
  });
  return { sessionId: within, candidates: [...candidates], note: HINTS_NOTE };
}
