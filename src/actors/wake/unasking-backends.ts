/**
 * What would make bounds worth nothing: a program that asks no person before it acts, for an agent whose permissions
 * bind it, and one with tools of its own, for an agent that is to be shut in.
 */
import { modelsOf } from '../../machines/agent/agent-definition.ts';
import type { AgentDefinition } from '../../machines/agent/agent-definition.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { Restriction } from '../../machines/session/event-parts.ts';
import type { PreparedAgent } from '../turn/tool.ts';
import type { WakePorts } from './wake-ports.ts';

/**
 * Checks its fallbacks too. The restriction is all that binds it: its own rules, those of the policy, and those of its
 * parents. Resolves with whether one of them has to be told that permissions bind it.
 * @throws RuntimeError BACKEND_NEVER_ASKS
 */
export async function requireAskingBackends(
  definition: AgentDefinition,
  binding: () => Promise<Restriction>,
  { runtimes, runConfig }: Pick<WakePorts, 'runtimes' | 'runConfig'>,
): Promise<boolean> {
  const asks = modelsOf(definition).map(
    ({ provider }) =>
      [provider, runtimes.resolve(provider, runConfig).asksPermission?.(provider, runConfig) ?? true] as const,
  );
  // What binds it is read for those backends only that would not ask.
  if (asks.every(([, answer]) => answer === true)) return false;
  const { mode, ask, deny, tools, withoutTools } = await binding();
  const takesToolsAway = tools !== undefined || withoutTools !== undefined;
  if (mode === 'preapproved' && ask.length === 0 && deny.length === 0 && !takesToolsAway) return false;
  const [provider] = asks.find(([, answer]) => answer === false) ?? [];
  if (provider === undefined) return true;
  const because =
    mode !== 'preapproved'
      ? `its permission mode is "${mode}"`
      : takesToolsAway
        ? 'tools were taken from it'
        : 'there are rules that ask for or deny what it does';
  throw new RuntimeError(
    'BACKEND_NEVER_ASKS',
    `expected a provider for the agent ${definition.agentId} that asks before it runs a tool, since ${because}, and "${provider}" asks no person`,
    {
      category: 'validation',
      hint: 'Name another provider; or bound the program by its own options in providers.yaml, such as its sandbox, and give the agent "permission: preapproved" without rules that ask or deny, here and in the policy.',
      details: { provider, mode, ask, deny },
    },
  );
}

/**
 * A program that runs tools of its own runs them outside the sandbox of the session. Checks fallbacks too.
 * @throws RuntimeError SANDBOX_BYPASSED
 */
export function requireConfinedBackends(
  { definition, environment }: Pick<PreparedAgent, 'definition' | 'environment'>,
  { runtimes, runConfig }: Pick<WakePorts, 'runtimes' | 'runConfig'>,
): void {
  if (environment?.definition.sandbox !== 'required') return;
  const bypassing = modelsOf(definition).find(({ provider }) => runtimes.resolve(provider, runConfig).runs === 'turn');
  if (bypassing === undefined) return;
  const { environmentId } = environment.definition;
  throw new RuntimeError(
    'SANDBOX_BYPASSED',
    `expected a provider for the agent ${definition.agentId} whose tools run in the sandbox that the environment "${environmentId}" requires, and "${bypassing.provider}" runs tools of its own outside of it`,
    {
      category: 'permission',
      hint: 'Name a provider of models, such as anthropic or openai; or let the agent work in an environment with "sandbox: off".',
      details: { provider: bypassing.provider, environmentId },
    },
  );
}
