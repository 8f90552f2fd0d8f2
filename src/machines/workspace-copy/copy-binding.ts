/** Why the workspace of a session can be on one machine only. */
import type { EnvironmentDefinition } from '../environment/environment-definition.ts';

export interface BoundParts {
  readonly environment: Pick<EnvironmentDefinition, 'environmentId' | 'hostBound' | 'mounts'>;
  /** Of those that it works for and whose bounds hold besides. */
  readonly others?: readonly Pick<EnvironmentDefinition, 'environmentId' | 'hostBound'>[] | undefined;
  /** The folder that it was given instead of one of its own. */
  readonly workspace?: string | undefined;
}

/**
 * As its environment says; where that says nothing, a folder that was given to it and one that it may write by a mount
 * keep it where they are. Undefined: it goes wherever a copy of it can be laid out.
 */
export function boundBecause({ environment, others = [], workspace }: BoundParts): string | undefined {
  const saysSo = [environment, ...others].find(({ hostBound }) => hostBound === true);
  if (saysSo !== undefined)
    return `its environment "${saysSo.environmentId}" is bound to the machine it began on (hostBound)`;
  if (environment.hostBound === false) return undefined;
  if (workspace !== undefined) return `it works in ${workspace}, a folder of that machine`;
  const mount = environment.mounts.find(({ access }) => access === 'rw');
  return mount === undefined
    ? undefined
    : `its environment "${environment.environmentId}" lets it write ${mount.source}, a folder of that machine`;
}
