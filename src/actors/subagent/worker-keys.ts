/**
 * Which variables the worker of a job is given, by name: those that the models of its agent may need, and of the agents
 * that it may call in the same process. What cannot be read here names none; the worker reads it too, and says what is
 * wrong with it.
 */
import { modelsOf } from '../../machines/agent/agent-definition.ts';
import type { AuthProfile } from '../../machines/run/auth-profile.ts';
import type { ProviderTable } from '../../machines/run/provider-settings.ts';
import { keyVariables, providerIn } from '../../machines/subagent/worker-provider.ts';
import type { AgentCatalog } from '../session/agent-catalog.ts';

export interface WorkerKeysRequest {
  readonly agentType: string;
  /** That the job works in, which may be there already. */
  readonly sessionId: string | undefined;
}

export interface WorkerKeysSources {
  readonly agents: Pick<AgentCatalog, 'get'>;
  /** Those of the home, and those of the program. */
  readonly providers: () => Promise<ProviderTable>;
  readonly accounts: () => Promise<readonly AuthProfile[]>;
  /** The model that was asked for when the session was made, if it is there and one was. */
  readonly modelOf: (agentId: string, sessionId: string) => Promise<string | undefined>;
}

export function workerKeysOf({
  agents,
  providers,
  accounts,
  modelOf,
}: WorkerKeysSources): (job: WorkerKeysRequest) => Promise<readonly string[]> {
  return async ({ agentType, sessionId }) => {
    const [named, asked, table, paying] = await Promise.all([
      providersOf(agentType, agents),
      sessionId === undefined ? undefined : modelOf(agentType, sessionId).catch(() => undefined),
      providers().catch(() => ({})),
      accounts().catch(() => []),
    ]);
    return keyVariables([...named, ...providerIn(asked)], table, paying);
  };
}

/** Those of the agent, and of all that it may come to call. */
async function providersOf(agentId: string, agents: WorkerKeysSources['agents']): Promise<readonly string[]> {
  const seen = new Set([agentId]);
  const found = new Set<string>();
  // What is added while it goes on is come to as well.
  for (const each of seen) {
    const definition = await agents.get(each).catch(() => undefined);
    if (definition === undefined) continue;
    for (const { provider } of modelsOf(definition)) found.add(provider);
    for (const tool of definition.tools ?? []) if (tool.type === 'agent') seen.add(tool.agentId);
  }
  return [...found];
}
