/**
 * What binds a session whatever its own agent may do, and with it every session that works for it: subflows and jobs
 * alike.
 */
import type { Narrowing, Restriction } from '../session/event-parts.ts';
import { formatRule } from './permission-rule.ts';
import type { PermissionRule } from './permission-rule.ts';

declare const MADE_HERE: unique symbol;

/**
 * What a session may not do because its parent may not. Every event that makes such a session demands it, and only this
 * module makes one: `handDown` from all that binds the parent, `handedDown` from what the parent's log has promised
 * already.
 */
export type HandedDown = Restriction & { readonly [MADE_HERE]: true };

const STRICTNESS: Readonly<Record<Restriction['mode'], number>> = { preapproved: 0, ask: 1, deny: 2 };

/** What of an agent file binds. Its mode is the narrowed one. */
interface OwnRules {
  readonly mode: Restriction['mode'];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}

export interface BoundSession {
  readonly narrowing?: Pick<Narrowing, 'tools' | 'withoutTools' | 'humans'> | undefined;
  /** What holds for its parent. */
  readonly restriction?: Restriction | undefined;
}

/** All that binds a session. Nothing may be left out: where there is none of something, that is said. */
export interface Binding {
  readonly session: BoundSession;
  /** Of its agent, as it was narrowed for the session and as its environment binds it. */
  readonly permission: OwnRules;
  /**
   * Ids of the environments that it works in, besides those that bind it from above. None where the runtime knows of
   * none.
   */
  readonly environments: readonly string[];
  /** The rules that are kept for its agent. Where those cannot be read, everything asks. */
  readonly policy: readonly PermissionRule[] | { readonly error: string };
}

/** What binds the sessions that work for it. */
export function handDown({ session, permission, environments, policy }: Binding): HandedDown {
  return withPolicy(withEnvironments(ownBounds(session, permission), environments), policy) as HandedDown;
}

/** What an event in the parent's log has promised to a child that is made now. */
export function handedDown(promised: Restriction): HandedDown {
  return promised as HandedDown;
}

/** All but the policy: its agent, what was changed in that for this session, and its parent. */
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
    ...(humansOf({ narrowing, restriction }) === 'none' ? { humans: 'none' } : {}),
  };
}

/** What either of them forbids. */
export function bothOf(one: Restriction, other: Restriction): Restriction {
  return withEnvironments(ownBounds({ restriction: one, narrowing: other }, other), other.environments ?? []);
}

/**
 * Whether a person can be asked for a session, as far as it was narrowed or works for one for which no person can.
 * Undefined: as the runtime says.
 */
export function humansOf({ narrowing, restriction }: BoundSession): 'none' | undefined {
  return narrowing?.humans ?? restriction?.humans;
}

function withEnvironments(bounds: Restriction, ids: readonly string[]): Restriction {
  const all = [...new Set([...ids, ...(bounds.environments ?? [])])];
  return all.length === 0 ? bounds : { ...bounds, environments: all };
}

function withPolicy(bounds: Restriction, policy: readonly PermissionRule[] | { readonly error: string }): Restriction {
  if ('error' in policy) return { ...bounds, mode: stricter(bounds.mode, 'ask') };
  const kept = (effect: 'ask' | 'deny'): string[] =>
    policy.filter((rule) => rule.effect === effect).map((rule) => ruleText(rule));
  return { ...bounds, ask: [...bounds.ask, ...kept('ask')], deny: [...bounds.deny, ...kept('deny')] };
}

/** Whether a tool was taken away. @param names its own first, then those of others that can do the same */
export function isTakenAway(
  [own = '', ...kin]: readonly string[],
  { tools, withoutTools = [] }: Pick<Restriction, 'tools' | 'withoutTools'>,
): boolean {
  return [own, ...kin].some((name) => withoutTools.includes(name)) || (tools !== undefined && !tools.includes(own));
}

/** Whether whatever `wanted` forbids is forbidden by `held` too. */
export function holdsAll(held: Restriction | undefined, wanted: Restriction): boolean {
  const {
    environments = [],
    mode,
    ask,
    deny,
    tools,
    withoutTools = [],
    humans,
  } = held ?? { mode: 'preapproved', ask: [], deny: [] };
  if (!(wanted.environments ?? []).every((id) => environments.includes(id))) return false;
  if (STRICTNESS[mode] < STRICTNESS[wanted.mode] || (wanted.humans === 'none' && humans !== 'none')) return false;
  if (
    !wanted.deny.every((rule) => deny.includes(rule)) ||
    !wanted.ask.every((rule) => ask.includes(rule) || deny.includes(rule))
  )
    return false;
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

function common(
  one: readonly string[] | undefined,
  other: readonly string[] | undefined,
): readonly string[] | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.filter((name) => other.includes(name));
}
