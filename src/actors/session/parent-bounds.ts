/**
 * The one door through which a session comes to work for another one. Calls, delegations, jobs and children that people
 * make: whatever binds the parent binds all of them, and what this module gives is what the making of a child demands.
 */
import type { AgentDefinition } from '../../machines/agent/agent-definition.ts';
import { narrowedAgent } from '../../machines/agent/narrowed-agent.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { handDown, handedDown } from '../../machines/permission/handed-down.ts';
import type { Binding, HandedDown } from '../../machines/permission/handed-down.ts';
import type { Allowance, Restriction } from '../../machines/session/event-parts.ts';
import { MAX_OPEN_SUBFLOWS, MAX_SESSION_DEPTH } from '../../machines/session/limits.ts';
import { delegatedCalls } from '../../machines/session/session-activations.ts';
import { depthOf } from '../../machines/session/session-state.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { heldBySubflows, sumOf } from '../../machines/wake/held-budget.ts';
import type { SessionEnvironments } from '../environment/session-environment.ts';
import type { PolicyStore } from '../permission/permission-ports.ts';
import type { PreparedAgent } from '../turn/tool.ts';
import { remainingOf, wakeLimits } from '../wake/wake-budget.ts';
import type { AgentCatalog } from './agent-catalog.ts';
import type { LineagePorts } from './lineage.ts';

/** None may be left out: where there is none of something, that is said. */
export interface BoundsPorts {
  readonly agents: Pick<AgentCatalog, 'get'>;
  /** Undefined: the runtime knows of no environments. */
  readonly environments: Pick<SessionEnvironments, 'bind'> | undefined;
  /** Undefined: no rules are kept. */
  readonly policy: Pick<PolicyStore, 'rules'> | undefined;
}

/** What a session that works for another one is made with. Only this module makes one. */
export interface ChildBounds {
  readonly parent: { readonly sessionId: string; readonly depth: number };
  readonly owner?: string;
  readonly restriction: HandedDown;
  readonly allowance?: Allowance;
}

/** What of the parent's budgets the child gets. `planned`: promised to others that are not in the log yet. */
export type Share =
  | { readonly kind: 'call'; readonly planned: readonly Allowance[] }
  | { readonly kind: 'job' }
  | { readonly kind: 'session' };

export class ParentBounds {
  readonly #definition: AgentDefinition;
  readonly #environments: readonly string[];
  readonly #policy: Binding['policy'];

  private constructor(definition: AgentDefinition, environments: readonly string[], policy: Binding['policy']) {
    this.#definition = definition;
    this.#environments = environments;
    this.#policy = policy;
  }

  /**
   * @param awake the agent as the parent's wake has it. Without it, as files say now, and in a wake of another process
   * in its environment besides
   * @throws RuntimeError AGENT_NOT_FOUND, AGENT_INVALID, ENVIRONMENT_NOT_FOUND, ENVIRONMENT_INVALID when it is unknown
   * what binds the parent
   */
  static async of(parent: SessionState, ports: BoundsPorts, awake?: PreparedAgent): Promise<ParentBounds> {
    const { definition, environments } = awake === undefined ? await asFilesSay(parent, ports) : asEntered(awake);
    return new ParentBounds(definition, environments, await policyOf(parent, ports));
  }

  /** What binds the session itself, and with it the sessions that work for it. */
  binding(session: SessionState): HandedDown {
    return handDown({
      session,
      permission: this.#definition.permission,
      environments: this.#environments,
      policy: this.#policy,
    });
  }

  /** @throws RuntimeError SESSION_TOO_DEEP */
  bounds(parent: SessionState, share: Share): ChildBounds {
    return {
      ...heritageOf(parent),
      restriction: this.binding(parent),
      ...this.#allowance(parent, share),
    };
  }

  /** Nothing is said where nothing bounds the parent. */
  #allowance(parent: SessionState, share: Share): { readonly allowance?: Allowance } {
    const left = remainingOf(wakeLimits(this.#definition, parent), parent);
    const held = sumOf([...(share.kind === 'call' ? share.planned : []), heldBySubflows(parent)]);
    const divisor = divisorOf(parent, share);
    const free = (name: keyof Allowance): number | undefined =>
      left[name] === undefined ? undefined : Math.max(0, left[name] - held[name]) / divisor;
    const [tokens, cost] = [free('tokens'), free('cost')];
    if (tokens === undefined && cost === undefined) return {};
    return {
      allowance: {
        ...(tokens === undefined ? {} : { tokens: Math.floor(tokens) }),
        ...(cost === undefined ? {} : { cost }),
      },
    };
  }
}

/**
 * What the parent's log has promised to a child. Logs of earlier versions may have promised nothing: then what binds
 * the parent now.
 */
export async function promisedBounds(
  parent: SessionState,
  promised: { readonly restriction?: Restriction | undefined; readonly allowance?: Allowance | undefined } | undefined,
  ports: BoundsPorts,
): Promise<ChildBounds> {
  if (promised?.restriction === undefined)
    return (await ParentBounds.of(parent, ports)).bounds(parent, { kind: 'job' });
  const { restriction, allowance } = promised;
  return {
    ...heritageOf(parent),
    restriction: handedDown(restriction),
    ...(allowance === undefined ? {} : { allowance }),
  };
}

/**
 * The session with the environments that bind it from above. Delegated children of earlier versions lack them in their
 * logs: those that bind the parent now hold for them. What came from elsewhere has what was made of it when it came.
 * @throws RuntimeError SESSION_NOT_FOUND when the parent is gone, so that they are unknown
 */
export async function withEnvironmentsAbove(
  session: SessionState,
  ports: BoundsPorts & Pick<LineagePorts, 'journals'>,
): Promise<SessionState> {
  const { parent, restriction, importedThroughSeq } = session;
  if (
    parent === undefined ||
    restriction?.environments !== undefined ||
    importedThroughSeq !== undefined ||
    ports.environments === undefined
  )
    return session;
  const above = await withEnvironmentsAbove((await ports.journals.open(parent.sessionId)).state, ports);
  const bounds = (await ParentBounds.of(above, ports)).binding(above);
  return {
    ...session,
    restriction:
      restriction === undefined
        ? bounds
        : { ...restriction, ...(bounds.environments === undefined ? {} : { environments: bounds.environments }) },
  };
}

/** Where it stands, and whose it is. */
function heritageOf(parent: SessionState): Pick<ChildBounds, 'parent' | 'owner'> {
  return { parent: placeBelow(parent), ...(parent.owner === undefined ? {} : { owner: parent.owner }) };
}

function placeBelow(parent: SessionState): ChildBounds['parent'] {
  const depth = depthOf(parent) + 1;
  if (depth <= MAX_SESSION_DEPTH) return { sessionId: parent.sessionId, depth };
  throw new RuntimeError(
    'SESSION_TOO_DEEP',
    `expected at most ${MAX_SESSION_DEPTH} generations of sessions that work for each other, this one would be the ${depth}th`,
    {
      category: 'capacity',
      hint: 'Let an ancestor create it.',
    },
  );
}

/**
 * Calls share what is left with those that may still come, and as much as the last job gets is left to the parent. Of
 * sessions of their own the first gets half, the next half of that: however many there are, all together get no more
 * than is left.
 */
function divisorOf(parent: SessionState, share: Share): number {
  const { jobs, children } = parent;
  const calls = delegatedCalls(parent).length;
  switch (share.kind) {
    case 'call':
      return Math.max(1, MAX_OPEN_SUBFLOWS - calls - share.planned.length);
    case 'job':
      return Math.max(2, MAX_OPEN_SUBFLOWS - jobs.length - calls);
    case 'session':
      return 2 ** (1 + children.length);
  }
}

interface BoundAgent {
  readonly definition: AgentDefinition;
  readonly environments: readonly string[];
}

function asEntered({ definition, environment }: PreparedAgent): BoundAgent {
  return {
    definition,
    environments: environment === undefined ? [] : [environment.definition.environmentId, ...environment.within],
  };
}

async function asFilesSay(parent: SessionState, { agents, environments }: BoundsPorts): Promise<BoundAgent> {
  const { sessionId, agentId, narrowing, openWake, environment: entered } = parent;
  try {
    const definition = narrowedAgent(await agents.get(agentId), narrowing);
    if (environments === undefined) return { definition, environments: [] };
    const bound = await environments.bind(parent, definition);
    // What its wake works in binds it until that has ended, whatever the files say by now.
    return {
      definition: bound.agent,
      environments: [
        bound.environmentId,
        ...(openWake === undefined || entered === undefined ? [] : [entered.environmentId]),
      ],
    };
  } catch (error) {
    if (!RuntimeError.is(error)) throw error;
    const { code, category, details, recoverable, hint } = error;
    throw new RuntimeError(
      code,
      `nothing can work for session ${sessionId}, since it is unknown what binds that: ${error.message}`,
      { category, details, recoverable, cause: error, ...(hint === undefined ? {} : { hint }) },
    );
  }
}

async function policyOf({ agentId }: SessionState, { policy }: BoundsPorts): Promise<Binding['policy']> {
  if (policy === undefined) return [];
  return policy.rules(agentId).then(
    (kept) => kept.map(({ rule }) => rule),
    (error: unknown) => ({ error: messageOf(error) }),
  );
}
