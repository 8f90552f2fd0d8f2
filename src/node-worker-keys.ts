/**
 * Which variables the worker of a job is given, by name: those that the models of its agent may need, and of the agents that it may call in the same
 * process. What cannot be read here names none; the worker reads it too, and says what is wrong with it.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { ChildProcessSubagentRunnerOptions, WorkerKeysRequest } from './adapters/child-process/runner-options.ts';
import { VIEW_FILE } from './adapters/files/layout.ts';
import type { HomeLayout } from './adapters/files/layout.ts';
import { modelsOf } from './machines/agent/agent-definition.ts';
import type { AgentDefinition } from './machines/agent/agent-definition.ts';
import type { AuthProfile } from './machines/run/auth-profile.ts';
import type { ProviderTable } from './machines/run/provider-settings.ts';
import { keyVariables, providerIn } from './machines/subagent/worker-provider.ts';

export interface WorkerKeysSources {
  readonly layout: HomeLayout;
  readonly agents: { get(agentId: string): Promise<AgentDefinition> };
  /** Those of the home, and those of the program. */
  readonly providers: () => Promise<ProviderTable>;
  readonly accounts: () => Promise<readonly AuthProfile[]>;
}

export function workerKeysOf({ layout, agents, providers, accounts }: WorkerKeysSources): NonNullable<ChildProcessSubagentRunnerOptions['keysFor']> {
  return async (job) => {
    const [named, asked, table, paying] = await Promise.all([
      providersOf(job.agentType, agents),
      modelOfSession(job, layout),
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

const view = z.object({ state: z.object({ narrowing: z.object({ model: z.string() }) }) });

/** The model that was asked for when the session was made, if it is there and one was. */
async function modelOfSession({ agentType, sessionId }: WorkerKeysRequest, layout: HomeLayout): Promise<string | undefined> {
  if (sessionId === undefined) return undefined;
  try {
    const text = await readFile(join(layout.session({ agentId: agentType, sessionId }), VIEW_FILE), 'utf8');
    return view.safeParse(JSON.parse(text)).data?.state.narrowing.model;
  } catch {
    return undefined;
  }
}
