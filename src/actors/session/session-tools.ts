/**
 * The tools by which an agent opens the sessions of its own, and has others work for it. Nothing of another agent's,
 * nor of another owner's, can be opened.
 */
import type { ToolAttachment } from '../../machines/agent/tool-attachment.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { HINTS_NOTE } from '../../machines/retrieval/retrieval-tool.ts';
import type {
  NoInput,
  SessionContextOutput,
  SessionDelegateInput,
  SessionDelegateOutput,
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
import { OWN_KEYS } from '../../machines/session/session-requests.ts';
import { contextOutlook } from '../../machines/turn/context-outlook.ts';
import { contextPressure } from '../../machines/turn/context-pressure.ts';
import { describeContext } from '../../machines/turn/context-report.ts';
import { turnStartOf } from '../retrieval/own-turn.ts';
import type { Retrieval } from '../retrieval/retrieval.ts';
import type { PreparedAgent, Subflow, Tool, ToolContext } from '../turn/tool.ts';
import { loadTranscript } from '../wake/session-transcript.ts';
import { maxContextTokens } from '../wake/wake-context.ts';
import type { AgentCatalog } from './agent-catalog.ts';
import type { EventStore } from './event-store.ts';
import { keepView } from './event-store.ts';
import { accept } from './ingress.ts';
import type { LineagePorts } from './lineage.ts';
import { announceChild, requireRoom } from './lineage.ts';
import { beginSession } from './new-session.ts';
import type { BoundsPorts } from './parent-bounds.ts';
import { ParentBounds } from './parent-bounds.ts';
import { isOfSameOwner, requireOwn } from './session-tools-relations.ts';
import type { SessionReading } from './session-tools-reading.ts';
import { listSessions, readEvents, readTrace } from './session-tools-reading.ts';

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

// Gives work to other agents: those that the agent's file names, bound by whatever binds the one that asks.

interface DelegationPorts extends LineagePorts, BoundsPorts {
  readonly agents: AgentCatalog;
}

type AgentAttachment = Extract<ToolAttachment, { readonly type: 'agent' }>;

/** Agents that may be asked: the file names each as a tool, and that tool was not taken away. */
function agentsToAsk({ definition, tools }: Pick<PreparedAgent, 'definition' | 'tools'>): readonly AgentAttachment[] {
  return (definition.tools ?? []).filter(
    (attachment): attachment is AgentAttachment => attachment.type === 'agent' && tools.has(attachment.name),
  );
}

/** @throws RuntimeError AGENT_NOT_NAMED */
function runChild({ agentId, message }: SessionRunChildInput, agent: PreparedAgent | undefined): Subflow {
  const { run, isolation } = requireNamed(agentId, agent);
  return { agentId, message, ...(run === undefined ? {} : { run }), ...(isolation === undefined ? {} : { isolation }) };
}

/**
 * @throws RuntimeError AGENT_NOT_NAMED, AGENT_NOT_FOUND, AGENT_INVALID, SESSION_TOO_DEEP, CHILD_LIMIT,
 * SESSION_TERMINATED
 */
async function delegate(
  { agentId, message, title }: SessionDelegateInput,
  context: ToolContext,
  ports: DelegationPorts,
): Promise<SessionDelegateOutput> {
  const { wake } = context;
  requireNamed(agentId, wake?.agent);
  await ports.agents.get(agentId);
  const parent = wake?.state() ?? (await ports.journals.open(context.session.sessionId)).state;
  const identity = { sessionId: ports.ids.next(), agentId };
  const bounds = (await ParentBounds.of(parent, ports, wake?.agent)).bounds(parent, { kind: 'session' });
  requireRoom(parent, identity);
  const journal = await beginSession({ ...identity, title }, { kind: 'child', bounds }, ports);
  try {
    await announceChild(journal.state, ports);
    // No process wakes it before it has its message: until then there is nothing to do for it.
    const { seq } = await accept(
      journal,
      { type: 'user.message', text: message },
      { idempotencyKey: `${OWN_KEYS}delegate:${context.callId}` },
    );
    await keepView(ports.store, journal.state);
    return {
      childSessionId: identity.sessionId,
      agentId,
      seq,
      note: 'A worker runs it. When it rests, this session is told; session_get_snapshot shows how far it is.',
    };
  } catch (error) {
    // A child that its parent does not know of, or that has nothing to do, is not left behind.
    await ports.store.delete(identity.sessionId, { epoch: 0, isOpen: false }).catch(() => undefined);
    ports.journals.forget(identity.sessionId);
    throw error;
  }
}

function requireNamed(agentId: string, agent: PreparedAgent | undefined): AgentAttachment {
  const named = agent === undefined ? [] : agentsToAsk(agent);
  const attachment = named.find((each) => each.agentId === agentId);
  if (attachment !== undefined) return attachment;
  const others = named.length === 0 ? 'it names none' : `it names ${named.map((each) => each.agentId).join(', ')}`;
  throw new RuntimeError(
    'AGENT_NOT_NAMED',
    `the agent file does not name ${agentId} as one that may be asked; ${others}`,
    { category: 'permission', hint: `A person may add "- agent: ${agentId}" to the tools of the agent file.` },
  );
}

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
