/**
 * What a home has for running agents, for commands that check an agent file: providers that a runtime serves, accounts,
 * environments and skills.
 */
import { environmentsOf } from './environments.ts';
import { join } from 'node:path';
import { messageOf } from '../../machines/errors.ts';
import type { KnownHome } from '../../machines/agent/model-warnings.ts';
import { providerAsks } from '../../machines/run/asks-permission.ts';
import { KNOWN_PROVIDERS } from '../../machines/run/provider-settings.ts';
import type { ProviderTable } from '../../machines/run/provider-settings.ts';
import { HomeLayout } from '../../adapters/files/layout.ts';
import { readProviderFile } from '../../adapters/provider-files/provider-file.ts';
import { SCRIPT_RUNTIME_ID } from '../../adapters/script/script-agent-runtime.ts';
import { FileSkillCatalog } from '../../adapters/skill-files/file-skill-catalog.ts';
import { withAuth } from '../auth/accounts.ts';
import type { CommandContext } from '../context.ts';
import { printable } from '../terminal/text.ts';

const PROVIDERS_FILE = 'providers.yaml';
/** Of a home, and of an agent's folder. */
export const SKILLS_FOLDER = 'skills';

/** The backends that every home has. A provider of such a name is served by it. */
const BACKENDS: readonly string[] = [SCRIPT_RUNTIME_ID, 'embedded', 'cli-agent', 'acp'];

/**
 * What cannot be read of it is left out, with a note why: that is no mistake of the agent file. @param agentId whose
 * own skills count too
 */
export async function knownHome(context: CommandContext, agentId?: string): Promise<KnownHome | undefined> {
  const served = await unless(context, 'providers and accounts', () => servedIn(context));
  if (served === undefined) return undefined;
  const environments = await unless(context, 'environments', async () =>
    (await environmentsOf(context).list()).map(({ environmentId }) => environmentId),
  );
  const skills = await unless(context, 'skills', async () =>
    (await skillCatalogOf(context).list({ agentId })).map(({ name }) => name),
  );
  return { ...served, environments, skills };
}

/** The skills of the home, and of its agents. */
export function skillCatalogOf({ home }: Pick<CommandContext, 'home'>): FileSkillCatalog {
  const layout = new HomeLayout(home);
  return new FileSkillCatalog({
    directory: join(layout.home, SKILLS_FOLDER),
    agentDirectory: (agentId) => join(layout.agentDirectory(agentId), SKILLS_FOLDER),
  });
}

async function servedIn(context: CommandContext): Promise<Pick<KnownHome, 'providers' | 'profiles' | 'unasking'>> {
  const own = await homeProviders(context.home);
  const profiles = await withAuth({ ...context, store: undefined }, (accounts) => accounts.profiles.list());
  const providers = [...new Set([...Object.keys(own), ...Object.keys(KNOWN_PROVIDERS), ...BACKENDS])];
  return { providers, profiles, unasking: providers.filter((provider) => !providerAsks(provider, own)) };
}

async function unless<Known>(
  { err }: CommandContext,
  what: string,
  read: () => Promise<Known>,
): Promise<Known | undefined> {
  try {
    return await read();
  } catch (error) {
    await err.line(`${err.styles.yellow('note:')} ${what} are not checked: ${printable(messageOf(error))}`);
    return undefined;
  }
}

/** The providers that the user has set up for the home. @throws RuntimeError PROVIDERS_INVALID */
export function homeProviders(home: string): Promise<ProviderTable> {
  return readProviderFile(join(home, PROVIDERS_FILE));
}
