/** What is known in a wake, as the plain facts that are laid out for its agent. */
import type { AgentFacts } from '../../machines/artifact/agent-artifacts.ts';
import type { LogTail } from '../../machines/artifact/log-tail.ts';
import type { EnvironmentFacts } from '../../machines/artifact/isolation-artifacts.ts';
import type { SessionFacts } from '../../machines/artifact/session-artifacts.ts';
import type { ShownShell } from '../../machines/artifact/shell-artifacts.ts';
import type { SessionEnvironment } from '../environment/session-environment.ts';
import type { HookedWake } from '../turn/tool.ts';

export interface FactSources {
  readonly tail: LogTail;
  readonly shells?: readonly ShownShell[] | undefined;
}

const knownAgents = new WeakMap<HookedWake['agent'], AgentFacts>();

/** The same as long as the agent is. */
function agentFacts(agent: HookedWake['agent']): AgentFacts {
  const { definition, tools, skippedTools: skipped } = agent;
  const facts = knownAgents.get(agent) ?? {
    definition,
    tools: [...tools.values()].map((tool) => tool.definition),
    skipped,
  };
  knownAgents.set(agent, facts);
  return facts;
}

export function factsOf({ agent, context, ...wake }: HookedWake, { tail, shells }: FactSources): SessionFacts {
  const { environment } = agent;
  return {
    state: wake.state(),
    agent: agentFacts(agent),
    tail,
    ...(environment === undefined ? {} : { environment: environmentFacts(environment) }),
    ...(context === undefined ? {} : { context }),
    ...(shells === undefined ? {} : { shells }),
  };
}

function environmentFacts({
  definition,
  fingerprint,
  within,
  sandbox,
  mounts,
  secrets,
}: SessionEnvironment): EnvironmentFacts {
  return { definition, fingerprint, within, sandbox: sandbox?.kind, mounts, secrets: secrets.names };
}
