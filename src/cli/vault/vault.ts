/**
 * `wakechart vault …`: which secrets agents may use, where they are, and whether they can be had. No value is ever
 * shown.
 */
import { join } from 'node:path';
import { createSystemClock } from '../../actors/clock/system-clock.ts';
import { SecretValues } from '../../actors/vault/secret-values.ts';
import type { VaultCatalog, VaultListing } from '../../actors/vault/vault-catalog.ts';
import type { ErrorRecord } from '../../machines/errors.ts';
import { sourceOf } from '../../machines/vault/vault-definition.ts';
import type { SecretDefinition, VaultDefinition } from '../../machines/vault/vault-definition.ts';
import { createKeychainCommand } from '../../adapters/auth-files/keychain-command.ts';
import { FileVaultCatalog, readSecretFile } from '../../adapters/vault-files/file-vault-catalog.ts';
import type { CommandContext } from '../context.ts';
import { textAsTyped } from '../context.ts';
import { VAULTS_FOLDER } from '../env/vaults.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { checkHome } from '../home.ts';
import { tableLines } from '../terminal/table.ts';
import { printable } from '../terminal/text.ts';

interface ShownSecret {
  readonly reference: string;
  readonly description?: string | undefined;
  readonly source: string;
  readonly hosts: readonly string[];
  readonly commands: boolean;
}

interface UnreadableVault {
  readonly vault: string;
  readonly error: ErrorRecord;
}

export async function listVaults(context: CommandContext): Promise<number> {
  const { out, json } = context;
  const listings = await (await catalogOf(context)).list();
  const vaults = listings.flatMap((listing) =>
    'error' in listing
      ? []
      : [
          {
            vault: listing.name,
            description: listing.definition.description,
            secrets: secretsIn(listing.definition).map(({ shown }) => shown),
          },
        ],
  );
  const unreadable = unreadableOf(listings);
  if (json) await out.document({ vaults, unreadable });
  else {
    await tellUnreadable(context, unreadable);
    const rows = vaults
      .flatMap(({ secrets }) => secrets)
      .map(({ reference, source, hosts, commands, description = '' }) =>
        [reference, source, placesOf(hosts, commands), description].map(printable),
      );
    if (rows.length > 0)
      for (const line of tableLines(['SECRET', 'FROM', 'MAY GO TO', 'DESCRIPTION'], rows, out)) await out.line(line);
    else if (unreadable.length === 0) await out.line(`No vaults are in ${join(context.home, VAULTS_FOLDER)}.`);
  }
  return unreadable.length === 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

export async function checkVaults(context: CommandContext, name: string | undefined): Promise<number> {
  const { out, json } = context;
  const catalog = await catalogOf(context);
  const listings: readonly VaultListing[] =
    name === undefined ? await catalog.list() : [{ name, definition: await catalog.get(name) }];
  const clock = createSystemClock();
  const values = new SecretValues({
    clock,
    sources: {
      environment: () => process.env,
      runCommand: createKeychainCommand({ clock, environment: process.env }),
      readFile: readSecretFile,
    },
  });
  const all = listings.flatMap((listing) => ('error' in listing ? [] : secretsIn(listing.definition)));
  const secrets = await Promise.all(
    all.map(async ({ shown: { reference, source }, definition }) => {
      const reading = await values.read(definition);
      return {
        reference,
        source,
        isAvailable: 'value' in reading,
        ...('problem' in reading ? { problem: reading.problem } : {}),
      };
    }),
  );
  const unreadable = unreadableOf(listings);
  if (json) await out.document({ secrets, unreadable });
  else {
    await tellUnreadable(context, unreadable);
    for (const { reference, source, isAvailable, problem } of secrets)
      await out.line(
        isAvailable
          ? `${out.styles.green('ok')}    ${reference}  from ${printable(source)}`
          : `${out.styles.red('none')}  ${reference}  ${printable(problem ?? '')}`,
      );
    if (secrets.length === 0 && unreadable.length === 0)
      await out.line(`No secrets are in ${join(context.home, VAULTS_FOLDER)}.`);
  }
  return unreadable.length === 0 && secrets.every(({ isAvailable }) => isAvailable) ? EXIT_SUCCESS : EXIT_FAILURE;
}

async function catalogOf({ home }: CommandContext): Promise<VaultCatalog> {
  await checkHome(home);
  return new FileVaultCatalog({ directory: join(home, VAULTS_FOLDER) });
}

function secretsIn({
  name,
  secrets,
}: VaultDefinition): readonly { readonly shown: ShownSecret; readonly definition: SecretDefinition }[] {
  return Object.entries(secrets).map(([secret, definition]) => {
    const { description, hosts, commands } = definition;
    return {
      definition,
      shown: {
        reference: `${name}/${secret}`,
        ...(description === undefined ? {} : { description }),
        source: sourceOf(definition),
        hosts,
        commands,
      },
    };
  });
}

function placesOf(hosts: readonly string[], commands: boolean): string {
  return [...hosts, ...(commands ? ['commands'] : [])].join(', ') || 'nowhere';
}

function unreadableOf(listings: readonly VaultListing[]): readonly UnreadableVault[] {
  return listings.flatMap((listing) => ('error' in listing ? [{ vault: listing.name, error: listing.error }] : []));
}

async function tellUnreadable(context: CommandContext, unreadable: readonly UnreadableVault[]): Promise<void> {
  const { err } = context;
  for (const { error } of unreadable) {
    await err.line(`${err.styles.red('error:')} ${printable(error.message)} ${err.styles.dim(`[${error.code}]`)}`);
    if (error.hint !== undefined) await err.line(`  hint: ${textAsTyped(context, printable(error.hint))}`);
  }
}
