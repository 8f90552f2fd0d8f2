/**
 * Which environment a session works in, by name, what it and those above it declare together, and whether there is one
 * of a name.
 */
import { HOST_ENVIRONMENT } from '../../machines/environment/environment-definition.ts';
import type { EnvironmentDefinition } from '../../machines/environment/environment-definition.ts';
import { agentWithin, strictestEnvironment } from '../../machines/environment/strictest-environment.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { EnvironmentCatalog } from './environment-catalog.ts';
import type { SessionEnvironments } from './session-environment.ts';

export interface EnvironmentNamesOptions {
  readonly catalog: Pick<EnvironmentCatalog, 'get'>;
  /** Of sessions whose agent names none. Default `host`. */
  readonly defaultEnvironmentId?: string | undefined;
}

export function environmentNames({
  catalog,
  defaultEnvironmentId = HOST_ENVIRONMENT.environmentId,
}: EnvironmentNamesOptions): Pick<SessionEnvironments, 'idFor' | 'bind' | 'require'> {
  const idFor: SessionEnvironments['idFor'] = (session, agent) =>
    session.environmentId ?? agent?.environment ?? defaultEnvironmentId;
  return {
    idFor,
    async bind(session, agent) {
      const environmentId = idFor(session, agent);
      const { definition } = await declaredFor(session, environmentId, catalog);
      return { environmentId, agent: agentWithin(agent, definition) };
    },
    require: async (environmentId) => void (await catalog.get(environmentId)),
  };
}

export interface DeclaredEnvironment {
  /** All of them together: of each thing the strictest holds. */
  readonly definition: EnvironmentDefinition;
  /** Ids of those that hold besides its own one. */
  readonly within: readonly string[];
  /** Its own one first. */
  readonly all: readonly EnvironmentDefinition[];
}

/** @throws RuntimeError ENVIRONMENT_NOT_FOUND, ENVIRONMENT_INVALID */
export async function declaredFor(
  { restriction }: Pick<SessionState, 'restriction'>,
  environmentId: string,
  catalog: Pick<EnvironmentCatalog, 'get'>,
): Promise<DeclaredEnvironment> {
  const within = [...new Set(restriction?.environments ?? [])].filter((id) => id !== environmentId);
  const own = await catalog.get(environmentId);
  const others = await Promise.all(within.map((id) => bindingEnvironment(id, catalog)));
  return { definition: strictestEnvironment(own, others), within, all: [own, ...others] };
}

/** One of a session that this one works for. Without it it is unknown what is forbidden, so that nothing runs. */
async function bindingEnvironment(
  environmentId: string,
  catalog: Pick<EnvironmentCatalog, 'get'>,
): Promise<EnvironmentDefinition> {
  try {
    return await catalog.get(environmentId);
  } catch (error) {
    if (!RuntimeError.is(error)) throw error;
    const { code, category, details, recoverable, hint } = error;
    throw new RuntimeError(
      code,
      `the environment "${environmentId}" binds this session, since it works for one in it, and cannot be known: ${error.message}`,
      {
        category,
        hint:
          hint === undefined
            ? `Put the environment "${environmentId}" back.`
            : `Put the environment "${environmentId}" back. ${hint}`,
        details,
        recoverable,
        cause: error,
      },
    );
  }
}
