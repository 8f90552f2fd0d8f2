/** What is known in a wake, as the plain facts that are laid out for its agent. */
import type { LogTail } from '../../machines/artifact/log-tail.ts';
import type { EnvironmentFacts } from '../../machines/artifact/posture-artifacts.ts';
import type { SessionFacts } from '../../machines/artifact/session-artifacts.ts';
import type { ShownShell } from '../../machines/artifact/shell-artifacts.ts';
import type { SessionEnvironment } from '../environment/session-environment.ts';
import type { CompanionWake } from '../wake/wake-companion.ts';

export interface FactSources {
  readonly tail: LogTail;
  readonly shells?: readonly ShownShell[] | undefined;
}

export function factsOf({ agent, context, ...wake }: CompanionWake, { tail, shells }: FactSources): SessionFacts {
  const { definition, tools, skippedTools, environment } = agent;
  return {
    state: wake.state(),
    agent: { definition, tools: [...tools.values()].map((tool) => tool.definition), skipped: skippedTools },
    tail,
    ...(environment === undefined ? {} : { environment: environmentFacts(environment) }),
    ...(context === undefined ? {} : { context }),
    ...(shells === undefined ? {} : { shells }),
  };
}

function environmentFacts({ definition, fingerprint, within, sandbox, mounts, secrets }: SessionEnvironment): EnvironmentFacts {
  return { definition, fingerprint, within, sandbox: sandbox?.kind, mounts, secrets: secrets.names };
}
