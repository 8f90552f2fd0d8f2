/** What a home has for running agents, for commands that check an agent file: providers that somebody serves, and accounts. */
import { join } from 'node:path';
import { messageOf } from '../../machines/errors.ts';
import type { KnownHome } from '../../machines/agent/model-warnings.ts';
import { providerAsks } from '../../machines/run/asks-permission.ts';
import { KNOWN_PROVIDERS } from '../../machines/run/provider-settings.ts';
import type { ProviderTable } from '../../machines/run/provider-settings.ts';
import { readProviderFile } from '../provider-files/provider-file.ts';
import { SCRIPT_RUNTIME_ID } from '../script/script-agent-runtime.ts';
import { withAuth } from './auth-house.ts';
import type { CommandContext } from './context.ts';
import { printable } from './text.ts';

const PROVIDERS_FILE = 'providers.yaml';

/** The backends that every home has. A provider of such a name is served by it. */
const BACKENDS: readonly string[] = [SCRIPT_RUNTIME_ID, 'embedded', 'cli-agent', 'acp'];

/** Undefined, with a note why, when the home cannot be read: that is no mistake of the agent file. */
export async function knownHome(context: CommandContext): Promise<KnownHome | undefined> {
  try {
    const own = await homeProviders(context.home);
    const profiles = await withAuth(context, (house) => house.profiles.list());
    const providers = [...new Set([...Object.keys(own), ...Object.keys(KNOWN_PROVIDERS), ...BACKENDS])];
    return { providers, profiles, unasking: providers.filter((provider) => !providerAsks(provider, own)) };
  } catch (error) {
    await context.err.line(`${context.err.styles.yellow('note:')} providers and accounts are not checked: ${printable(messageOf(error))}`);
    return undefined;
  }
}

/** The providers that somebody has set up for the home. @throws RuntimeError PROVIDERS_INVALID */
export function homeProviders(home: string): Promise<ProviderTable> {
  return readProviderFile(join(home, PROVIDERS_FILE));
}
