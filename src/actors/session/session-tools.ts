/**
 * The tools by which an agent opens the sessions of its own, and has others work for it. Nothing of another agent's,
 * nor of another owner's, can be opened.
 */
import { HINTS_NOTE } from '../../machines/retrieval/retrieval-tool.ts';
import type {
  NoInput,
  SessionContextOutput,
  SessionDelegateInput,
  SessionDescribeOutput,
  SessionEventsInput,
  SessionListInput,
  SessionRunChildInput,
  SessionSearchInput,
  SessionSearchOutput,
  SessionSnapshotInput,
  SessionTraceInput,
} from '../../machines/session-tools/session-tool-definitions.ts';
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
import { MAX_SNAPSHOT_ITEMS } from '../../machines/session-tools/session-tool-limits.ts';
import { definedOnly, snapshotOf } from '../../machines/session-tools/snapshot.ts';
import { contextOutlook } from '../../machines/turn/context-outlook.ts';
import { contextPressure } from '../../machines/turn/context-pressure.ts';
import { describeContext } from '../../machines/turn/context-report.ts';
import { turnStartOf } from '../retrieval/own-turn.ts';
import type { Retrieval } from '../retrieval/retrieval.ts';
import type { PreparedAgent, Tool, ToolContext } from '../turn/tool.ts';
import { loadTranscript } from '../wake/session-transcript.ts';
import { maxContextTokens } from '../wake/wake-context.ts';
import type { EventStore } from './event-store.ts';
import type { DelegationPorts } from './session-tools-delegate.ts';
import { agentsToAsk, delegate, runChild } from './session-tools-delegate.ts';
import { isOfSameOwner, requireOwn } from './session-tools-relations.ts';
import type { SessionReading } from './session-tools-reading.ts';
import { listSessions, readEvents, readTrace } from './session-tools-reading.ts';

// What a session can tell of itself: what its context is spent on, and what it is.

/**
 * Where no step of the wake is known nothing is known of the context; what its conversation holds is told all the same.
 */
async function describeOwnContext(
  { session, wake }: ToolContext,
  { store, sessions }: SessionReading,
): Promise<SessionContextOutput> {
  const state = wake?.state() ?? (await sessions.get(session.sessionId));
  const definition = wake?.agent.definition;
  const transcript = await loadTranscript(
    store,
    state,
    definition === undefined ? {} : { maxTokens: maxContextTokens(definition) },
  );
  const outlook = contextOutlook(transcript.messages(), definition?.context.whenFull);
  const report = wake?.context;
  return {
    isKnown: report !== undefined,
    ...(report === undefined
      ? {}
      : {
          report: Object.fromEntries(
            Object.entries(report).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
          ),
          words: describeContext(report),
          pressure: contextPressure(report),
        }),
    next: [...outlook.next],
    protected: outlook.protected,
  };
}

async function describeSession(
  { session, wake }: ToolContext,
  { sessions }: { readonly store: EventStore } & SessionReading,
): Promise<SessionDescribeOutput> {
  const state = wake?.state() ?? (await sessions.get(session.sessionId));
  const parent = state.parent?.sessionId;
  const siblings =
    parent === undefined
      ? []
      : (await sessions.list({ agentId: state.agentId })).filter(
          (other) =>
            other.parent?.sessionId === parent && other.sessionId !== state.sessionId && isOfSameOwner(other, state),
        );
  return {
    session: snapshotOf(state),
    ...definedOnly({ agent: agentOf(wake) }),
    siblings: siblings.slice(-MAX_SNAPSHOT_ITEMS).map(({ sessionId }) => sessionId),
  };
}

function agentOf(wake: ToolContext['wake']): SessionDescribeOutput['agent'] {
  if (wake === undefined) return undefined;
  const { agentId, name, provider, model } = wake.agent.definition;
  return {
    agentId,
    name,
    provider,
    model,
    tools: [...wake.agent.tools.keys()],
    agents: agentsToAsk(wake.agent).map((each) => each.agentId),
  };
}

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
  const contextTool: Tool<NoInput> = {
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
    contextTool,
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
    await requireOwn(services, input.sessionId, session);
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
  await requireOwn(services, within, session);
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
