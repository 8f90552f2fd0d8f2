/**
 * Vaults as files that people write: `<home>/vaults/<name>.yaml`, readable by their owner only. Wakechart never writes
 * them.
 */
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { vaultName } from '../../machines/environment/environment-definition.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import { MAX_SECRET_BYTES, MAX_VAULT_FILE_CHARACTERS } from '../../machines/vault/vault-definition.ts';
import type { VaultDefinition } from '../../machines/vault/vault-definition.ts';
import type { VaultCatalog, VaultListing } from '../../actors/vault/vault-catalog.ts';
import { isMissing, systemCodeOf } from '../system/error-codes.ts';
import { UnusableFile, readOwnText, requireOwnFolder } from '../system/own-files.ts';
import { parseVault } from './vault-text.ts';

const EXTENSION = '.yaml';
/** A character is four bytes at most. */
const MAX_FILE_BYTES = MAX_VAULT_FILE_CHARACTERS * 4;

export interface FileVaultCatalogOptions {
  /** It need not be there. */
  readonly directory: string;
}

export class FileVaultCatalog implements VaultCatalog {
  readonly #directory: string;

  constructor({ directory }: FileVaultCatalogOptions) {
    this.#directory = directory;
  }

  async list(): Promise<readonly VaultListing[]> {
    return Promise.all((await this.#names()).map((name) => this.#listing(name)));
  }

  async get(name: string): Promise<VaultDefinition> {
    const checked = parseOrThrow(vaultName, name, { what: 'vault name', code: 'VAULT_NOT_FOUND' });
    const path = join(this.#directory, `${checked}${EXTENSION}`);
    const text = this.#read(path);
    if (text === undefined) throw notFound(checked, await this.#names());
    return parseVault({ name: checked, text, fileName: path });
  }

  #read(path: string): string | undefined {
    let place = this.#directory;
    try {
      requireOwnFolder(place, 'writers');
      place = path;
      return readOwnText(path, { maxBytes: MAX_FILE_BYTES, keptFrom: 'readers' })?.text;
    } catch (error) {
      if (!(error instanceof UnusableFile)) throw error;
      throw new RuntimeError('VAULT_INVALID', `${place} ${error.message}`, {
        category: 'permission',
        hint: error.hint,
        details: { file: place },
      });
    }
  }

  async #names(): Promise<readonly string[]> {
    const files = await readdir(this.#directory).catch((error: unknown) => {
      if (isMissing(error)) return [];
      const code = systemCodeOf(error);
      throw new RuntimeError(
        'STORAGE_FAILED',
        `could not read ${this.#directory}${code === undefined ? '' : `: ${code}`}`,
        { category: 'storage', cause: error },
      );
    });
    const names = files.filter((file) => file.endsWith(EXTENSION)).map((file) => basename(file, EXTENSION));
    return names.filter((name) => vaultName.safeParse(name).success).toSorted();
  }

  async #listing(name: string): Promise<VaultListing> {
    try {
      return { name, definition: await this.get(name) };
    } catch (error) {
      if (RuntimeError.is(error)) return { name, error: error.toJSON() };
      throw error;
    }
  }
}

/**
 * The text of a file that a vault names. It may be a link: programs that mount secrets make them so. @throws Error in
 * words that end a sentence
 */
export async function readSecretFile(path: string): Promise<string> {
  const found = readOwnText(path, { maxBytes: MAX_SECRET_BYTES });
  if (found === undefined) throw new Error('is not there');
  return found.text;
}

function notFound(name: string, known: readonly string[]): RuntimeError {
  const there = known.length === 0 ? 'No vault is there yet.' : `There is: ${known.slice(0, 20).join(', ')}.`;
  return new RuntimeError('VAULT_NOT_FOUND', `there is no vault "${name}"`, {
    category: 'not_found',
    hint: `${there} Its file would be vaults/${name}${EXTENSION} in the home directory.`,
    details: { vault: name },
  });
}
