/** What an agent may use and do: its tools, and what decides whether a call of them runs. */
import type { AgentDefinition } from '../agent/agent-definition.ts';
import type { SessionState } from '../session/session-state.ts';
import type { ToolDefinition } from '../turn/tool-definition.ts';
import { jsonArtifact, joined, list, table, textArtifact } from './artifact.ts';
import type { Artifact } from './artifact.ts';
import { budgetTable } from './budget-facts.ts';
import type { BudgetFact } from './budget-facts.ts';
import type { EnvironmentFacts } from './isolation-artifacts.ts';

export interface AgentFacts {
  readonly definition: AgentDefinition;
  readonly tools: readonly ToolDefinition[];
  /** Tools that it names and cannot have now. */
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
}

/** An agent stays as it is for a whole wake. */
const laidOutTools = new WeakMap<AgentFacts, readonly Artifact[]>();

export function toolArtifacts(agent: AgentFacts): readonly Artifact[] {
  const artifacts = laidOutTools.get(agent) ?? newToolArtifacts(agent);
  laidOutTools.set(agent, artifacts);
  return artifacts;
}

/** What a model is told of each tool anyway is not said again. */
function newToolArtifacts({ tools, skipped }: AgentFacts): readonly Artifact[] {
  const shown = tools
    .map(({ name, family, ownership, effects = [], permissionPolicy, readOnly, destructive }) => ({
      name,
      family: family ?? ownership,
      effects,
      policy: permissionPolicy,
      ...(readOnly ? { readOnly } : {}),
      ...(destructive ? { destructive } : {}),
    }))
    .toSorted((one, other) => compare(one.family, other.family) || compare(one.name, other.name));
  const rows = shown.map(({ name, family, effects, policy }) => [name, family, joined(effects), policy]);
  const left = skipped.map(({ name, reason }) => `${name}: ${reason}`);
  return [
    { name: 'tools.json', text: `{\n"tools": ${lines(shown)},\n"skipped": ${lines(skipped)}\n}\n` },
    textArtifact(
      'tools',
      'Tools',
      table(['tool', 'family', 'effects', 'policy'], rows),
      left.length === 0 ? '' : '## Not available now',
      list(left),
    ),
  ];
}

/** As JSON, each on a line of its own. */
function lines(values: readonly unknown[]): string {
  return values.length === 0 ? '[]' : `[\n${values.map((value) => JSON.stringify(value)).join(',\n')}\n]`;
}

export interface PermissionFacts {
  readonly state: SessionState;
  readonly environment?: EnvironmentFacts | undefined;
  readonly budgets: readonly BudgetFact[];
}

export function permissionArtifacts(
  { definition }: AgentFacts,
  { state, environment, budgets }: PermissionFacts,
): readonly Artifact[] {
  const { sessionRules, pendingActions, restriction } = state;
  const { mode, allow, ask, deny } = definition.permission;
  const pending = pendingActions.map(({ requestId, kind, toolName, question, rules, expiresAt }) => ({
    requestId,
    kind,
    toolName,
    question,
    rules,
    expiresAt,
  }));
  const bounds =
    restriction === undefined
      ? undefined
      : {
          mode: restriction.mode,
          ask: restriction.ask,
          deny: restriction.deny,
          tools: restriction.tools,
          withoutTools: restriction.withoutTools,
        };
  const rules = ruleFacts(definition.permission, { state, environment });
  const waiting = pending.map(({ requestId, kind, toolName, question, expiresAt }) => [
    requestId,
    kind,
    toolName,
    question ?? '',
    expiresAt ?? '',
  ]);
  return [
    jsonArtifact('permissions', {
      mode,
      environmentMode: environment?.definition.permission.mode,
      allow,
      ask,
      deny,
      rules,
      sessionGrants: sessionRules,
      restriction: bounds,
      budgets,
      pending,
    }),
    textArtifact(
      'permissions',
      'Permissions',
      `Mode: ${mode}. ${modeWords(environment)}${bounds === undefined || bounds.mode === mode ? '' : ` No more than ${bounds.mode} is allowed by its parent.`} Rules that people keep in the policy come besides.`,
      table(
        ['what it does', 'rule', 'from'],
        rules.map(({ does, rule, from }) => [does, rule, from]),
      ),
      '## Budgets',
      budgetTable(budgets),
      waiting.length === 0 ? 'Nothing waits for an answer.' : '## Waiting for an answer',
      table(['request', 'kind', 'tool', 'question', 'expires'], waiting),
    ),
  ];
}

interface RuleFact {
  readonly does: 'denies' | 'asks' | 'allows';
  readonly rule: string;
  readonly from: string;
}

/**
 * A rule that the agent and its environment both have is the environment's: it holds whatever becomes of the agent's
 * file.
 */
function ruleFacts(
  { allow, ask, deny }: AgentDefinition['permission'],
  { state: { sessionRules, restriction }, environment }: Pick<PermissionFacts, 'state' | 'environment'>,
): readonly RuleFact[] {
  const bounds = environment?.definition.permission;
  const from = (rule: string, rules: readonly string[] | undefined): string =>
    rules?.includes(rule) === true ? `environment ${environment?.definition.environmentId ?? ''}` : 'agent';
  const of = (
    does: RuleFact['does'],
    rules: readonly string[] | undefined,
    source: (rule: string) => string,
  ): RuleFact[] => (rules ?? []).map((rule) => ({ does, rule, from: source(rule) }));
  return [
    ...of('denies', deny, (rule) => from(rule, bounds?.deny)),
    ...of('asks', ask, (rule) => from(rule, bounds?.ask)),
    ...of('allows', allow, () => 'agent'),
    ...of('allows', sessionRules, () => 'granted for this session'),
    ...of('denies', restriction?.deny, () => 'its parent'),
    ...of('asks', restriction?.ask, () => 'its parent'),
  ];
}

function modeWords(environment: EnvironmentFacts | undefined): string {
  if (environment === undefined) return 'The agent says so.';
  const { environmentId, permission } = environment.definition;
  return permission.mode === 'preapproved'
    ? 'The agent says so; its environment does not narrow it.'
    : `The environment ${environmentId} says ${permission.mode} at least.`;
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
