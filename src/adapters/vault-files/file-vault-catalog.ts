/**
 * Vaults as files that people write: `<home>/vaults/<name>.yaml`, readable by their owner only. Wakechart never writes
 * them.
 */
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Document } from 'yaml';
import { isAlias, isNode, LineCounter, parseDocument, visit } from 'yaml';
import type * as z from 'zod';
import type { VaultCatalog, VaultListing } from '../../actors/vault/vault-catalog.ts';
import { vaultName } from '../../machines/environment/environment-definition.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { looksLikeKey } from '../../machines/run/auth-profile-check.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import type { VaultDefinition } from '../../machines/vault/vault-definition.ts';
import { MAX_SECRET_BYTES, MAX_VAULT_FILE_CHARACTERS, vaultFile } from '../../machines/vault/vault-definition.ts';
import { isMissing, systemCodeOf } from '../system/error-codes.ts';
import { readOwnText, requireOwnFolder, UnusableFile } from '../system/own-files.ts';

// A vault as YAML. What is wrong is named with its line; nothing that stands in the file is ever repeated but names.

/** More do not help. */
const MAX_COMPLAINTS = 5;

interface VaultText {
  readonly name: string;
  readonly text: string;
  /** What errors call it. */
  readonly fileName: string;
}

/** @throws RuntimeError VAULT_INVALID */
function parseVault({ name, text, fileName }: VaultText): VaultDefinition {
  if (text.length > MAX_VAULT_FILE_CHARACTERS)
    throw invalid(fileName, [`expected at most ${MAX_VAULT_FILE_CHARACTERS} characters, received ${text.length}`]);
  const lines = new LineCounter();
  // The pretty form of an error quotes the line.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const broken = document.errors.map(({ code, pos }) => `line ${lines.linePos(pos[0]).line}: no YAML (${code})`);
  if (broken.length > 0) throw invalid(fileName, broken);
  let hasAlias = false;
  visit(document, (_key, node) => {
    hasAlias ||= isAlias(node);
  });
  if (hasAlias) throw invalid(fileName, ['expected no aliases']);
  const parsed = vaultFile.safeParse(document.toJS() ?? {});
  if (parsed.success) return { name, ...parsed.data };
  throw invalid(
    fileName,
    parsed.error.issues.map((issue) => `${placeOf(document, lines, issue.path)}${wordsOf(issue)}`),
  );
}

function placeOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): string {
  const shown = path.map((key) => `${shownKey(String(key))}: `).join('');
  for (let length = path.length; length >= 0; length -= 1) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    const range = isNode(node) ? node.range : undefined;
    if (range) return `line ${lines.linePos(range[0]).line}: ${shown}`;
  }
  return shown;
}

/** What was written where a name belongs may be the secret. */
function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `unknown keys: ${issue.keys.map(shownKey).join(', ')}`;
  if (issue.code === 'invalid_key')
    return issue.issues.map(({ message }) => message).join('; ') || 'expected another name';
  return issue.message.replace(/^Invalid (input|string|option): /, '');
}

function shownKey(key: string): string {
  return key.length > 64 || looksLikeKey(key) ? '[a name that looks like a key]' : key;
}

function invalid(fileName: string, complaints: readonly string[]): RuntimeError {
  const shown = complaints.slice(0, MAX_COMPLAINTS);
  const more = complaints.length - shown.length;
  return new RuntimeError(
    'VAULT_INVALID',
    `the vault ${fileName} is not valid: ${[...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')}`,
    {
      category: 'validation',
      hint: 'A vault reads like: secrets: { token: { env: GITHUB_TOKEN, hosts: [api.github.com] } }',
      details: { file: fileName, issues: shown },
    },
  );
}

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
