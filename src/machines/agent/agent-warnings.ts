/** What is no mistake in an agent's definition and yet is probably not what was meant. */
import { modelsOf } from './agent-definition.ts';
import type { AgentDefinition } from './agent-definition.ts';
import type { FrontmatterIssue } from './frontmatter-issues.ts';
import type { McpServer } from './mcp-server.ts';
import { isToolFamily } from '../turn/tool-family.ts';
import { meant, modelWarnings } from './model-warnings.ts';
import type { KnownHome } from './model-warnings.ts';

/** Names of variables and headers that hold secrets. */
const SECRET_NAME = /key|token|secret|passw|credential|authorization|auth$|cookie|bearer|private/i;

/** How the texts begin that services hand out as keys. */
const SECRET_VALUE = /^(?:bearer |basic |sk-|pk-|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza|eyJ[\w-]+\.)/i;

export interface AgentSurroundings {
  /** Names of the tools that a runtime has without being told. */
  readonly builtinTools: readonly string[];
  /** Where the agent is to live. Absent: nothing is said about its models, accounts, environment and skills. */
  readonly home?: KnownHome | undefined;
}

export function agentWarnings(
  agent: Omit<AgentDefinition, 'agentId' | 'instructions'>,
  { builtinTools, home }: AgentSurroundings,
): FrontmatterIssue[] {
  const { tools = [], mcp = {} } = agent;
  const used = new Set(tools.flatMap((attachment) => (attachment.type === 'mcp' ? [attachment.server] : [])));
  return [
    ...(home === undefined
      ? []
      : [
          ...modelWarnings(agent, home),
          ...unaskingProviders(agent, home),
          ...unknownEnvironment(agent, home),
          ...unknownSkills(agent, home),
        ]),
    ...tools.flatMap(({ type, name }, index): FrontmatterIssue[] =>
      type === 'builtin' && !builtinTools.includes(name) && !isToolFamily(name)
        ? [
            {
              path: ['tools', index],
              message: `no tool "${name}" comes with Wakechart; unless the program brings one, the agent does without it`,
            },
          ]
        : [],
    ),
    ...Object.entries(mcp).flatMap(([name, server]) =>
      secretsOf(server).map(({ path, message }): FrontmatterIssue => ({ path: ['mcp', name, ...path], message })),
    ),
    ...Object.keys(mcp).flatMap((name): FrontmatterIssue[] =>
      used.has(name)
        ? []
        : [{ path: ['mcp', name], message: `no entry of "tools" takes tools of it; add { mcp: ${name} }` }],
    ),
  ];
}

/** A wake of such an agent is refused. */
function unaskingProviders(
  agent: Pick<AgentDefinition, 'provider' | 'model' | 'profile' | 'profiles' | 'fallbacks' | 'permission'>,
  { unasking = [] }: KnownHome,
): FrontmatterIssue[] {
  const { mode, ask, deny } = agent.permission;
  if (mode === 'preapproved' && ask.length === 0 && deny.length === 0) return [];
  return modelsOf(agent).flatMap(({ provider }, index): FrontmatterIssue[] =>
    unasking.includes(provider)
      ? [
          {
            path: index === 0 ? ['provider'] : ['fallbacks', index - 1],
            message: `"${provider}" asks no person before it acts, so these permissions would bind nothing and the agent is not run; name another provider, or bound the program by its own options and use "permission: preapproved" without rules that ask or deny`,
          },
        ]
      : [],
  );
}

/** No wake begins in one that is not there. */
function unknownEnvironment(
  { environment }: Pick<AgentDefinition, 'environment'>,
  { environments }: KnownHome,
): FrontmatterIssue[] {
  if (environment === undefined || environments === undefined || environments.includes(environment)) return [];
  return [
    {
      path: ['environment'],
      message: `there is no environment "${environment}" in this home${meant(environment, environments)}; none of its sessions will wake until there is`,
    },
  ];
}

function unknownSkills(
  { skills = [] }: Pick<AgentDefinition, 'skills'>,
  { skills: known }: KnownHome,
): FrontmatterIssue[] {
  if (known === undefined) return [];
  return skills.flatMap((name, index): FrontmatterIssue[] =>
    known.includes(name)
      ? []
      : [
          {
            path: ['skills', index],
            message: `there is no skill "${name}" for it in this home${meant(name, known)}; the agent does without it`,
          },
        ],
  );
}

/** Of a variable or a header, by its name and by how its value begins. */
export function looksLikeSecret(name: string, value: string): boolean {
  return SECRET_NAME.test(name) || SECRET_VALUE.test(value);
}

function secretsOf(server: McpServer): FrontmatterIssue[] {
  const [group, values] = 'url' in server ? (['headers', server.headers] as const) : (['env', server.env] as const);
  return Object.entries(values ?? {}).flatMap(([name, value]): FrontmatterIssue[] => {
    if (typeof value !== 'string' || value === '' || !looksLikeSecret(name, value)) return [];
    return [
      {
        path: [group, name],
        message: 'this looks like a secret in plain text; name the variable that holds it instead: { env: NAME }',
      },
    ];
  });
}
