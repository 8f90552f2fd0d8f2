/** Which environment a session works in, by name, and whether there is one of a name. */
import { HOST_ENVIRONMENT } from '../../machines/environment/environment-definition.ts';
import type { EnvironmentCatalog } from './environment-catalog.ts';
import type { SessionEnvironments } from './session-environment.ts';

export interface EnvironmentNamesOptions {
  readonly catalog: Pick<EnvironmentCatalog, 'get'>;
  /** Of sessions whose agent names none. Default `host`. */
  readonly defaultEnvironmentId?: string | undefined;
}

export function environmentNames({ catalog, defaultEnvironmentId = HOST_ENVIRONMENT.environmentId }: EnvironmentNamesOptions): Pick<SessionEnvironments, 'idFor' | 'require'> {
  return {
    idFor: (session, agent) => session.environmentId ?? agent?.environment ?? defaultEnvironmentId,
    require: async (environmentId) => void (await catalog.get(environmentId)),
  };
}
