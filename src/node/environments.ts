/**
 * What the sessions of a home work in: environments, the sandbox that shuts their commands in, and the vaults with
 * their secrets.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../actors/clock/clock.ts';
import type { EnvironmentCatalog } from '../actors/environment/environment-catalog.ts';
import { createSessionEnvironments } from '../actors/environment/session-environments.ts';
import type { SessionEnvironments } from '../actors/environment/session-environment.ts';
import type { LogRedaction } from '../actors/session/session-journal.ts';
import type { OnListenerError } from '../actors/streams/listener-errors.ts';
import { createLogRedaction } from '../actors/vault/log-redaction.ts';
import { createVaults } from '../actors/vault/open-vaults.ts';
import type { SessionVaults } from '../actors/vault/open-vaults.ts';
import type { VaultCatalog } from '../actors/vault/vault-catalog.ts';
import { createKeychainCommand } from '../adapters/auth-files/keychain-command.ts';
import { createBubblewrap } from '../adapters/bubblewrap/bubblewrap.ts';
import { FileEnvironmentCatalog } from '../adapters/environment-files/file-environment-catalog.ts';
import { createFileMountPlaces } from '../adapters/environment-files/file-mount-places.ts';
import { placesOfKeys } from '../adapters/environment-files/kept-from-mounts.ts';
import type { HomeLayout } from '../adapters/files/layout.ts';
import { secretsOfUrl } from '../adapters/postgres/postgres-url.ts';
import { FileVaultCatalog, readSecretFile } from '../adapters/vault-files/file-vault-catalog.ts';
import type { EnvironmentFile } from '../machines/environment/environment-definition.ts';
import type { RuntimePorts } from '../runtime.ts';

/** Folder of a home with the vaults. */
const VAULTS_FOLDER = 'vaults';

export interface EnvironmentsOptions {
  readonly layout: HomeLayout;
  readonly clock: Clock;
  /** Of sessions whose agent names none. */
  readonly defaultEnvironmentId: string | undefined;
  readonly inCode: Readonly<Record<string, EnvironmentFile>> | undefined;
  /** Of the database in which sessions lie: its password opens all of them. */
  readonly storeUrl: string | undefined;
  readonly onTrouble: OnListenerError;
}

export interface NodeEnvironments {
  readonly catalog: EnvironmentCatalog;
  readonly vaults: VaultCatalog;
  /** The secrets of sessions that work in this process. */
  readonly secrets: SessionVaults;
  readonly environments: SessionEnvironments;
  /** Take secrets out of logs, and of what inspectors see. */
  readonly redactions: { readonly redaction: LogRedaction } & Required<
    Pick<RuntimePorts, 'redactText' | 'learnSecrets'>
  >;
}

export function nodeEnvironments({
  layout,
  clock,
  defaultEnvironmentId,
  inCode,
  storeUrl,
  onTrouble,
}: EnvironmentsOptions): NodeEnvironments {
  const catalog = new FileEnvironmentCatalog({ home: layout.home, inCode });
  const vaults = vaultsOfHome(layout.home);
  const secrets = createVaults({
    catalog: vaults,
    clock,
    ours: secretsOfStore(storeUrl),
    sources: {
      environment: () => process.env,
      runCommand: createKeychainCommand({ clock, environment: process.env }),
      readFile: readSecretFile,
    },
  });
  const environments = createSessionEnvironments({
    catalog,
    places: createFileMountPlaces({ layout }),
    sandboxes: createBubblewrap({ hidden: [layout.home, ...placesOfKeys(homedir())] }),
    vaults: secrets,
    onTrouble,
    ...(defaultEnvironmentId === undefined ? {} : { defaultEnvironmentId }),
  });
  const redactions = {
    redaction: createLogRedaction({ catalog, vaults: secrets }),
    redactText: secrets.redactText,
    learnSecrets: () => secrets.learn(),
  };
  return { catalog, vaults, secrets, environments, redactions };
}

/** Without a password in the URL the driver takes the one in the environment. */
function secretsOfStore(url: string | undefined): ReadonlyMap<string, readonly string[]> {
  if (url === undefined) return new Map();
  const { PGPASSWORD = '' } = process.env;
  return new Map([['password of the store', secretsOfUrl(url, [PGPASSWORD])]]);
}

/** The vaults of a home. */
function vaultsOfHome(home: string): VaultCatalog {
  return new FileVaultCatalog({ directory: join(home, VAULTS_FOLDER) });
}
