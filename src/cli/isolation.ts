/**
 * What the next wake of a session will be shut in by, as the files say now: for statuses, which never leave out that
 * nothing is.
 */
import type { EnvironmentCatalog } from '../actors/environment/environment-catalog.ts';
import { environmentNames } from '../actors/environment/environment-names.ts';
import type { AgentCatalog } from '../actors/session/agent-catalog.ts';
import type { EnvironmentDefinition } from '../machines/environment/environment-definition.ts';
import { strictestEnvironment } from '../machines/environment/strictest-environment.ts';
import { messageOf } from '../machines/errors.ts';
import type { SessionState } from '../machines/session/session-state.ts';
import type { CommandContext } from './context.ts';
import { environmentsOf } from './open/environments.ts';
import { environmentText, isolationText } from './env/text.ts';
import { oneLine } from './terminal/text.ts';

export type Isolation =
  | {
      readonly environmentId: string;
      readonly sandbox: EnvironmentDefinition['sandbox'];
      readonly network: EnvironmentDefinition['network'];
    }
  /** It cannot be read, so that no wake begins. */
  | { readonly environmentId: string; readonly sandbox: 'unknown'; readonly problem: string };

type Placed = Pick<SessionState, 'agentId' | 'environmentId' | 'restriction'>;

export interface Isolations {
  ofSession(session: Placed): Promise<Isolation>;
  ofAgent(agent: { readonly environment?: string | undefined }): Promise<Isolation>;
}

/** Each file is read once. */
export function isolationsOf(
  context: Pick<CommandContext, 'home' | 'config'>,
  agents: Pick<AgentCatalog, 'get'>,
): Isolations {
  const catalog = environmentsOf(context);
  const { idFor } = environmentNames({ catalog });
  const definitions = new Map<string, ReturnType<EnvironmentCatalog['get']>>();
  const get = (id: string): ReturnType<EnvironmentCatalog['get']> => {
    const known = definitions.get(id) ?? catalog.get(id);
    definitions.set(id, known);
    return known;
  };
  const chosen = new Map<string, Promise<{ readonly environment?: string | undefined } | undefined>>();
  const agentOf = (agentId: string): Promise<{ readonly environment?: string | undefined } | undefined> => {
    const known = chosen.get(agentId) ?? agents.get(agentId).catch(() => undefined);
    chosen.set(agentId, known);
    return known;
  };
  const isolation = async (environmentId: string, within: readonly string[]): Promise<Isolation> => {
    try {
      const { sandbox, network } = strictestEnvironment(
        await get(environmentId),
        await Promise.all(within.filter((id) => id !== environmentId).map(get)),
      );
      return { environmentId, sandbox, network };
    } catch (error) {
      return { environmentId, sandbox: 'unknown', problem: messageOf(error) };
    }
  };
  return {
    ofAgent: (agent) => isolation(idFor({}, agent), []),
    ofSession: async (session) =>
      isolation(idFor(session, await agentOf(session.agentId)), session.restriction?.environments ?? []),
  };
}

/** For people; with the environment of the last wake where that was another one. */
export function textOfIsolation(isolation: Isolation, last?: SessionState['environment']): string {
  const now =
    isolation.sandbox === 'unknown'
      ? `${oneLine(isolation.environmentId)} (no wake can begin: ${oneLine(isolation.problem)})`
      : isolationText(isolation);
  if (last === undefined) return now;
  const isSame =
    last.environmentId === isolation.environmentId &&
    (last.sandbox === 'off') === (isolation.sandbox === 'off') &&
    (isolation.sandbox === 'unknown' || last.network === isolation.network);
  return isSame ? now : `${now}; the last wake was in ${environmentText(last)}`;
}

/** For a column of a table: what stands beside the name is what a person should know. */
export function shortTextOfIsolation({ environmentId, sandbox }: Isolation): string {
  const beside = { required: '', off: ', no sandbox', unknown: ', cannot be read' } as const satisfies Record<
    Isolation['sandbox'],
    string
  >;
  return `${oneLine(environmentId)}${beside[sandbox]}`;
}
