/** Gives work to other agents: those that the agent's file names, bound by whatever binds the one that asks. */
import type { ToolAttachment } from '../../machines/agent/tool-attachment.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { ownBounds, withPolicy } from '../../machines/permission/handed-down.ts';
import type { SessionDelegateInput, SessionDelegateOutput, SessionRunChildInput } from '../../machines/session-tools/session-tool-definitions.ts';
import type { Allowance, Restriction } from '../../machines/session/event-schemas.ts';
import { OWN_KEYS } from '../../machines/session/session-requests.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { PolicyStore } from '../permission/policy-store.ts';
import type { Subflow, ToolContext } from '../turn/tool.ts';
import { remainingOf, wakeLimits } from '../wake/wake-budget.ts';
import type { PreparedAgent } from '../wake/wake-context.ts';
import type { AgentCatalog } from './agent-catalog.ts';
import { keepView } from './event-store.ts';
import { accept } from './ingress.ts';
import { announceChild, placeOfChild } from './lineage.ts';
import type { LineagePorts } from './lineage.ts';
import { SessionJournal } from './session-journal.ts';

export interface DelegationPorts extends LineagePorts {
  readonly agents: AgentCatalog;
  /** What is kept of rules binds children too. */
  readonly policy?: PolicyStore | undefined;
}

type AgentAttachment = Extract<ToolAttachment, { readonly type: 'agent' }>;

/** Agents that may be asked: the file names each as a tool, and that tool was not taken away. */
export function agentsToAsk({ definition, tools }: Pick<PreparedAgent, 'definition' | 'tools'>): readonly AgentAttachment[] {
  return (definition.tools ?? []).filter((attachment): attachment is AgentAttachment => attachment.type === 'agent' && tools.has(attachment.name));
}

/** @throws RuntimeError AGENT_NOT_NAMED */
export function runChild({ agentId, message }: SessionRunChildInput, agent: PreparedAgent | undefined): Subflow {
  const { run, isolation } = requireNamed(agentId, agent);
  return { agentId, message, ...(run === undefined ? {} : { run }), ...(isolation === undefined ? {} : { isolation }) };
}

/** @throws RuntimeError AGENT_NOT_NAMED, AGENT_NOT_FOUND, AGENT_INVALID, SESSION_TOO_DEEP, CHILD_LIMIT, SESSION_TERMINATED */
export async function delegate({ agentId, message, title }: SessionDelegateInput, context: ToolContext, ports: DelegationPorts): Promise<SessionDelegateOutput> {
  const { wake } = context;
  requireNamed(agentId, wake?.agent);
  await ports.agents.get(agentId);
  const parent = wake?.state() ?? (await ports.journals.open(context.session.sessionId)).state;
  const identity = { sessionId: ports.ids.next(), agentId };
  const journal = new SessionJournal(identity, ports);
  const restriction = await restrictionOf(parent, wake?.agent, ports);
  const allowance = allowanceOf(parent, wake?.agent);
  const data = { agentId, parent: placeOfChild(parent, identity), restriction, ...(title === undefined ? {} : { title }), ...(allowance === undefined ? {} : { allowance }) };
  await ports.store.create(identity, journal.envelopes([{ type: 'session.created', data }]));
  await journal.refresh();
  try {
    await announceChild(journal.state, ports);
    // Nobody wakes it before it has its message: until then there is nothing to do for it.
    const { seq } = await accept(journal, { type: 'user.message', text: message }, { idempotencyKey: `${OWN_KEYS}delegate:${context.callId}` });
    await keepView(ports.store, journal.state);
    return { childSessionId: identity.sessionId, agentId, seq, note: 'A worker runs it. When it rests, this session is told; session_get_snapshot shows how far it is.' };
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
  throw new RuntimeError('AGENT_NOT_NAMED', `the agent file does not name ${agentId} as one that may be asked; ${others}`, { category: 'permission', hint: `Somebody may add "- agent: ${agentId}" to the tools of the agent file.` });
}

/** The same as for an agent that it calls. */
async function restrictionOf(state: SessionState, agent: PreparedAgent | undefined, { policy }: DelegationPorts): Promise<Restriction> {
  const own = ownBounds(state, agent?.definition.permission ?? { mode: 'ask', ask: [], deny: [] });
  if (policy === undefined) return own;
  const kept = await policy.rules(state.agentId).then((rules) => rules.map(({ rule }) => rule), (error: unknown) => ({ error: messageOf(error) }));
  return withPolicy(own, kept);
}

/**
 * Half of what is left to the first child, half of that to the next: however many there are, all together get no more than is left now.
 * Nothing is said where nothing bounds the parent.
 */
function allowanceOf(state: SessionState, agent: PreparedAgent | undefined): Allowance | undefined {
  const { tokens, cost } = remainingOf(wakeLimits(agent?.definition, state), state);
  const share = 0.5 ** (1 + state.children.length);
  const allowance = { ...(tokens === undefined ? {} : { tokens: Math.floor(tokens * share) }), ...(cost === undefined ? {} : { cost: cost * share }) };
  return Object.keys(allowance).length === 0 ? undefined : allowance;
}
