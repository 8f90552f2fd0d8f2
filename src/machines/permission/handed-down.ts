/** What binds a session whatever its own agent may do, and with it everybody who works for it: subflows and jobs alike. */
import type { Narrowing, Restriction } from '../session/event-schemas.ts';
import { formatRule } from './permission-rule.ts';
import type { PermissionRule } from './permission-rule.ts';

const STRICTNESS: Readonly<Record<Restriction['mode'], number>> = { preapproved: 0, ask: 1, deny: 2 };

/** What of an agent file binds. Its mode is the narrowed one. */
interface OwnRules {
  readonly mode: Restriction['mode'];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}

export interface BoundSession {
  readonly narrowing?: Narrowing | undefined;
  /** What holds for whoever it works for. */
  readonly restriction?: Restriction | undefined;
}

/** All but the policy: its agent, what was changed in that for this session, and whoever it works for. */
export function ownBounds({ narrowing, restriction }: BoundSession, { mode, ask, deny }: OwnRules): Restriction {
  const tools = common(restriction?.tools, narrowing?.tools);
  const withoutTools = [...new Set([...(restriction?.withoutTools ?? []), ...(narrowing?.withoutTools ?? [])])];
  return {
    ...(restriction?.environments === undefined ? {} : { environments: restriction.environments }),
    mode: restriction === undefined ? mode : stricter(mode, restriction.mode),
    ask: [...ask, ...(restriction?.ask ?? [])],
    deny: [...deny, ...(restriction?.deny ?? [])],
    ...(tools === undefined ? {} : { tools: [...tools] }),
    ...(withoutTools.length === 0 ? {} : { withoutTools }),
  };
}

/** With the environment that it works in, whose bounds hold besides those of whoever that works for. Undefined where the runtime knows of none. */
export function withEnvironment(bounds: Restriction, environmentId: string | undefined): Restriction {
  const { environments = [] } = bounds;
  return environmentId === undefined || environments.includes(environmentId) ? bounds : { ...bounds, environments: [environmentId, ...environments] };
}

/** With the rules that are kept for its agent. Where those cannot be read, everything asks. */
export function withPolicy(bounds: Restriction, policy: readonly PermissionRule[] | { readonly error: string }): Restriction {
  if ('error' in policy) return { ...bounds, mode: stricter(bounds.mode, 'ask') };
  const kept = (effect: 'ask' | 'deny'): string[] => policy.filter((rule) => rule.effect === effect).map((rule) => ruleText(rule));
  return { ...bounds, ask: [...bounds.ask, ...kept('ask')], deny: [...bounds.deny, ...kept('deny')] };
}

/** Whether a tool was taken away. @param names its own first, then those of others that can do the same */
export function isTakenAway([own = '', ...kin]: readonly string[], { tools, withoutTools = [] }: Pick<Restriction, 'tools' | 'withoutTools'>): boolean {
  return [own, ...kin].some((name) => withoutTools.includes(name)) || (tools !== undefined && !tools.includes(own));
}

/** Whether whatever `wanted` forbids is forbidden by `held` too. */
export function holdsAll(held: Restriction | undefined, wanted: Restriction): boolean {
  const { environments = [], mode, ask, deny, tools, withoutTools = [] } = held ?? { mode: 'preapproved', ask: [], deny: [] };
  if (!(wanted.environments ?? []).every((id) => environments.includes(id))) return false;
  if (STRICTNESS[mode] < STRICTNESS[wanted.mode]) return false;
  if (!wanted.deny.every((rule) => deny.includes(rule)) || !wanted.ask.every((rule) => ask.includes(rule) || deny.includes(rule))) return false;
  if (!(wanted.withoutTools ?? []).every((name) => withoutTools.includes(name))) return false;
  return wanted.tools === undefined || (tools !== undefined && tools.every((name) => wanted.tools?.includes(name)));
}

/** A rule without its effect. */
export function ruleText(rule: PermissionRule): string {
  return formatRule(rule).replace(/^(?:allow|ask|deny) /, '');
}

function stricter(one: Restriction['mode'], other: Restriction['mode']): Restriction['mode'] {
  return STRICTNESS[other] > STRICTNESS[one] ? other : one;
}

function common(one: readonly string[] | undefined, other: readonly string[] | undefined): readonly string[] | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.filter((name) => other.includes(name));
}
