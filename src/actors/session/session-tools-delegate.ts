/** Gives work to other agents: those that the agent's file names, bound by whatever binds the one that asks. */
import type { ToolAttachment } from '../../machines/agent/tool-attachment.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type {
  SessionDelegateInput,
  SessionDelegateOutput,
  SessionRunChildInput,
} from '../../machines/session-tools/session-tool-definitions.ts';
import { OWN_KEYS } from '../../machines/session/session-requests.ts';
import type { Subflow, ToolContext, PreparedAgent } from '../turn/tool.ts';
import type { AgentCatalog } from './agent-catalog.ts';
import { keepView } from './event-store.ts';
import { accept } from './ingress.ts';
import { announceChild, requireRoom } from './lineage.ts';
import type { LineagePorts } from './lineage.ts';
import { beginSession } from './new-session.ts';
import { ParentBounds } from './parent-bounds.ts';
import type { BoundsPorts } from './parent-bounds.ts';

export interface DelegationPorts extends LineagePorts, BoundsPorts {
  readonly agents: AgentCatalog;
}

type AgentAttachment = Extract<ToolAttachment, { readonly type: 'agent' }>;

/** Agents that may be asked: the file names each as a tool, and that tool was not taken away. */
export function agentsToAsk({
  definition,
  tools,
}: Pick<PreparedAgent, 'definition' | 'tools'>): readonly AgentAttachment[] {
  return (definition.tools ?? []).filter(
    (attachment): attachment is AgentAttachment => attachment.type === 'agent' && tools.has(attachment.name),
  );
}

/** @throws RuntimeError AGENT_NOT_NAMED */
export function runChild({ agentId, message }: SessionRunChildInput, agent: PreparedAgent | undefined): Subflow {
  const { run, isolation } = requireNamed(agentId, agent);
  return { agentId, message, ...(run === undefined ? {} : { run }), ...(isolation === undefined ? {} : { isolation }) };
}

/**
 * @throws RuntimeError AGENT_NOT_NAMED, AGENT_NOT_FOUND, AGENT_INVALID, SESSION_TOO_DEEP, CHILD_LIMIT,
 * SESSION_TERMINATED
 */
export async function delegate(
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
