/** What an agent may use and do: its tools, and what decides whether a call of them runs. */
import type { AgentDefinition } from '../agent/agent-definition.ts';
import type { SessionState } from '../session/session-state.ts';
import type { ToolDefinition } from '../turn/tool-definition.ts';
import { jsonArtifact, joined, list, table, textArtifact, yesOrNo } from './artifact.ts';
import type { Artifact } from './artifact.ts';

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

function newToolArtifacts({ tools, skipped }: AgentFacts): readonly Artifact[] {
  const shown = tools
    .map(({ name, description, family, ownership, effects = [], permissionPolicy, readOnly, destructive, interruptBehavior }) => ({ name, family: family ?? ownership, ownership, effects, permissionPolicy, readOnly, destructive, interruptBehavior, description }))
    .toSorted((one, other) => compare(one.family, other.family) || compare(one.name, other.name));
  const rows = shown.map(({ name, family, effects, permissionPolicy, readOnly, interruptBehavior, description }) => [name, family, joined(effects, 'not said'), yesOrNo(readOnly), permissionPolicy, interruptBehavior, description]);
  const left = skipped.map(({ name, reason }) => `${name}: ${reason}`);
  return [
    jsonArtifact('tools', { tools: shown, skipped }),
    textArtifact('tools', 'Tools', table(['tool', 'family', 'effects', 'only reads', 'policy', 'when stopped', 'what it does'], rows), left.length === 0 ? '' : '## Not available now', list(left)),
  ];
}

export function permissionArtifacts({ definition }: AgentFacts, { sessionRules, pendingActions, restriction }: SessionState): readonly Artifact[] {
  const { mode, allow, ask, deny } = definition.permission;
  const pending = pendingActions.map(({ requestId, kind, toolName, question, rules, expiresAt }) => ({ requestId, kind, toolName, question, rules, expiresAt }));
  const bounds = restriction === undefined ? undefined : { mode: restriction.mode, ask: restriction.ask, deny: restriction.deny, tools: restriction.tools, withoutTools: restriction.withoutTools };
  const rules = [...deny.map((rule) => ['denies', rule, 'agent and environment']), ...ask.map((rule) => ['asks', rule, 'agent and environment']), ...allow.map((rule) => ['allows', rule, 'agent']), ...sessionRules.map((rule) => ['allows', rule, 'granted for this session'])];
  const inherited = [...(bounds?.deny ?? []).map((rule) => ['denies', rule, 'whoever it works for']), ...(bounds?.ask ?? []).map((rule) => ['asks', rule, 'whoever it works for'])];
  const waiting = pending.map(({ requestId, kind, toolName, question, expiresAt }) => [requestId, kind, toolName, question ?? '', expiresAt ?? '']);
  return [
    jsonArtifact('permissions', { mode, allow, ask, deny, sessionGrants: sessionRules, restriction: bounds, pending }),
    textArtifact(
      'permissions',
      'Permissions',
      `Mode: ${mode}.${bounds === undefined || bounds.mode === mode ? '' : ` No more than ${bounds.mode} is allowed by whoever it works for.`} Rules that people keep in the policy come besides.`,
      table(['what it does', 'rule', 'from'], [...rules, ...inherited]),
      waiting.length === 0 ? 'Nothing waits for an answer.' : '## Waiting for an answer',
      table(['request', 'kind', 'tool', 'question', 'expires'], waiting),
    ),
  ];
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
