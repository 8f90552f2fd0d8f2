/** Vaults in memory with everything else of them real, and environments that hold them. */
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import type { SessionEnvironment } from '../../src/actors/environment/session-environment.ts';
import { NO_SECRETS } from '../../src/actors/environment/session-secrets.ts';
import type { SessionSecrets } from '../../src/actors/environment/session-secrets.ts';
import { createVaults } from '../../src/actors/vault/open-vaults.ts';
import type { SessionVaults } from '../../src/actors/vault/open-vaults.ts';
import type { SecretSources } from '../../src/actors/vault/secret-values.ts';
import { HOST_ENVIRONMENT } from '../../src/machines/environment/environment-definition.ts';
import { RuntimeError } from '../../src/machines/errors.ts';
import { vaultFile } from '../../src/machines/vault/vault-definition.ts';

export type VaultTable = Readonly<Record<string, Readonly<Record<string, object>>>>;

export interface VaultSetupOptions extends Partial<SecretSources> {
  readonly clock?: { steadyNow(): number } | undefined;
}

/** @param table the secrets of each vault, as its file has them; read anew each time */
export function vaultsWith(
  table: VaultTable,
  { clock = createSystemClock(), ...sources }: VaultSetupOptions = {},
): SessionVaults {
  const get = async (name: string) => {
    const secrets = table[name];
    if (secrets === undefined)
      throw new RuntimeError('VAULT_NOT_FOUND', `there is no vault "${name}"`, { category: 'not_found' });
    return { name, ...vaultFile.parse({ secrets }) };
  };
  return createVaults({
    clock,
    sources: {
      environment: () => ({}),
      runCommand: async () => ({ kind: 'failed', because: 'was not to be run' }),
      readFile: () => Promise.reject(new Error('is not there')),
      ...sources,
    },
    catalog: {
      get,
      list: () => Promise.all(Object.keys(table).map(async (name) => ({ name, definition: await get(name) }))),
    },
  });
}

export function secretsWith(table: VaultTable, options?: VaultSetupOptions): Promise<SessionSecrets> {
  return vaultsWith(table, options).open({ sessionId: 's', agentId: 'a' }, Object.keys(table));
}

export interface EnvironmentParts extends Partial<Pick<SessionEnvironment, 'mounts'>> {
  readonly secrets?: SessionSecrets | undefined;
  readonly sandbox?: 'required' | 'off' | undefined;
  readonly network?: 'open' | 'disabled' | undefined;
  readonly shutIn?: SessionEnvironment['sandbox'];
}

export function environmentWith({
  secrets = NO_SECRETS,
  sandbox = 'off',
  network = 'open',
  mounts = [],
  shutIn,
}: EnvironmentParts = {}): SessionEnvironment {
  return {
    definition: { ...HOST_ENVIRONMENT, environmentId: 'tested', sandbox, network },
    fingerprint: 'f',
    within: [],
    mounts,
    secrets,
    ...(shutIn === undefined ? {} : { sandbox: shutIn }),
  };
}
