/** What is no mistake in an agent's definition and yet is probably not what was meant. */
import { modelsOf } from './agent-definition.ts';
import type { AgentDefinition } from './agent-definition.ts';
import type { FrontmatterIssue } from './frontmatter-issues.ts';
import type { McpServer } from './mcp-server.ts';
import { isToolFamily } from '../turn/tool-family.ts';
import { modelWarnings } from './model-warnings.ts';
import type { KnownHome } from './model-warnings.ts';

/** Names of variables and headers that hold what nobody else may know. */
const SECRET_NAME = /key|token|secret|passw|credential|authorization|auth$|cookie|bearer|private/i;

/** How the texts begin that services hand out as keys. */
const SECRET_VALUE = /^(?:bearer |basic |sk-|pk-|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza|eyJ[\w-]+\.)/i;

export interface AgentSurroundings {
  /** Names of the tools that a runtime has without being told. */
  readonly builtinTools: readonly string[];
  /** Where the agent is to live. Absent: nothing is said about its models and accounts. */
  readonly home?: KnownHome | undefined;
}

export function agentWarnings(agent: Omit<AgentDefinition, 'agentId' | 'instructions'>, { builtinTools, home }: AgentSurroundings): FrontmatterIssue[] {
  const { tools = [], mcp = {} } = agent;
  const used = new Set(tools.flatMap((attachment) => (attachment.type === 'mcp' ? [attachment.server] : [])));
  return [
    ...(home === undefined ? [] : [...modelWarnings(agent, home), ...unaskingProviders(agent, home)]),
    ...tools.flatMap(({ type, name }, index): FrontmatterIssue[] =>
      type === 'builtin' && !builtinTools.includes(name) && !isToolFamily(name) ? [{ path: ['tools', index], message: `no tool "${name}" comes with Wakechart; unless the program brings one, the agent does without it` }] : [],
    ),
    ...Object.entries(mcp).flatMap(([name, server]) => secretsOf(server).map(({ path, message }): FrontmatterIssue => ({ path: ['mcp', name, ...path], message }))),
    ...Object.keys(mcp).flatMap((name): FrontmatterIssue[] => (used.has(name) ? [] : [{ path: ['mcp', name], message: `no entry of "tools" takes tools of it; add { mcp: ${name} }` }])),
  ];
}

/** A wake of such an agent is refused. */
function unaskingProviders(agent: Pick<AgentDefinition, 'provider' | 'model' | 'profile' | 'profiles' | 'fallbacks' | 'permission'>, { unasking = [] }: KnownHome): FrontmatterIssue[] {
  const { mode, ask, deny } = agent.permission;
  if (mode === 'preapproved' && ask.length === 0 && deny.length === 0) return [];
  return modelsOf(agent).flatMap(({ provider }, index): FrontmatterIssue[] =>
    unasking.includes(provider) ? [{ path: index === 0 ? ['provider'] : ['fallbacks', index - 1], message: `"${provider}" asks nobody before it acts, so these permissions would bind nothing and the agent is not run; name another provider, or bound the program by its own options and use "permission: preapproved" without rules that ask or deny` }] : [],
  );
}

function secretsOf(server: McpServer): FrontmatterIssue[] {
  const [group, values] = 'url' in server ? (['headers', server.headers] as const) : (['env', server.env] as const);
  return Object.entries(values ?? {}).flatMap(([name, value]): FrontmatterIssue[] => {
    if (typeof value !== 'string' || value === '' || !(SECRET_NAME.test(name) || SECRET_VALUE.test(value))) return [];
    return [{ path: [group, name], message: 'this looks like a secret in plain text; name the variable that holds it instead: { env: NAME }' }];
  });
}
