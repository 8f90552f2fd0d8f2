/** The environments of a home, with those that a config gives in code. */
import { FileEnvironmentCatalog } from '../../adapters/environment-files/file-environment-catalog.ts';
import type { CommandContext } from '../context.ts';

/** @throws RuntimeError ENVIRONMENT_INVALID for one in code */
export function environmentsOf({ home, config }: Pick<CommandContext, 'home' | 'config'>): FileEnvironmentCatalog {
  return new FileEnvironmentCatalog({ home, inCode: config?.content.environments });
}
