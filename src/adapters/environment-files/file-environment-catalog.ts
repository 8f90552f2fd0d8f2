/**
 * Environments as files: `<home>/environments/<id>.yaml`, and what wakes ran in:
 * `<home>/environments/.known/<fingerprint>.json`.
 */
import { lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { EnvironmentCatalog, EnvironmentListing } from '../../actors/environment/environment-catalog.ts';
import { canonicalJson } from '../../machines/canonical-json.ts';
import type { EnvironmentDefinition, EnvironmentFile } from '../../machines/environment/environment-definition.ts';
import {
  BUILT_IN_ENVIRONMENTS,
  MAX_ENVIRONMENT_FILE_CHARACTERS,
  rememberedEnvironment,
} from '../../machines/environment/environment-definition.ts';
import { messageOf, RuntimeError } from '../../machines/errors.ts';
import { environmentId as environmentIdSchema } from '../../machines/ids.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import { hasCode } from '../system/error-codes.ts';
import { readOwnText, requireOwnFolder, UnusableFile } from '../system/own-files.ts';
import { createFile, makeFolder, replaceFile as replaceWhole } from '../system/whole-files.ts';
import {
  environmentDefinedTwice,
  environmentExists,
  environmentExposed,
  environmentNotFound,
  unreadable,
  unwritable,
} from './environment-errors.ts';
import { environmentInCode, parseEnvironment } from './environment-file.ts';

// Reads and writes environment files: whole or not at all, and none that another user may have put there.

const OWN_IT = 'Make it a real file in a real folder that only you can write (chmod go-w).';

/**
 * The content of the file; undefined when it is not there. Every wake asks, and most files are not there. @throws
 * RuntimeError ENVIRONMENT_INVALID, STORAGE_FAILED
 */
function readOwnFile(path: string, maxBytes: number): string | undefined {
  try {
    requireOwnFolder(dirname(path), 'writers');
    return readOwnText(path, { maxBytes, keptFrom: 'writers' })?.text;
  } catch (error) {
    throw unreliable(path, error);
  }
}

/** Makes a folder for its owner only. @throws RuntimeError ENVIRONMENT_INVALID, STORAGE_FAILED */
async function makeOwnFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
    requireOwnFolder(folder, 'writers');
  } catch (error) {
    throw error instanceof UnusableFile ? unreliable(folder, error) : unwritable(folder, error);
  }
}

/** @returns false when there is one already. @throws RuntimeError STORAGE_FAILED */
function writeNewFile(path: string, content: string): Promise<boolean> {
  return writing(path, () => createFile(path, content));
}

/** Puts the content in the place of the file. @throws RuntimeError STORAGE_FAILED */
function replaceFile(path: string, content: string): Promise<void> {
  return writing(path, () => replaceWhole(path, content));
}

async function writing<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  return work().catch((error: unknown) => {
    throw unwritable(path, error);
  });
}

function unreliable(path: string, error: unknown): unknown {
  if (!(error instanceof UnusableFile)) return unreadable(path, error);
  if (error.trouble === 'unreadable') return unreadable(path, error.cause);
  return environmentExposed(
    path,
    `it ${error.message}`,
    error.trouble === 'damaged' ? 'Shorten it, and save it as UTF-8.' : OWN_IT,
  );
}

const ENVIRONMENTS_FOLDER = 'environments';
const KNOWN_FOLDER = '.known';
const SUFFIX = '.yaml';

/** A character takes at most four bytes. */
const MAX_FILE_BYTES = MAX_ENVIRONMENT_FILE_CHARACTERS * 4;
/** Several environments may have been merged into a remembered one. */
const MAX_KNOWN_BYTES = 16 * MAX_FILE_BYTES;

/** Records whose state is kept in memory. */
const MAX_REMEMBERED = 1_000;

/** What `fingerprintOf` makes. */
const FINGERPRINT = /^[0-9a-f]{64}$/;

export interface FileEnvironmentCatalogOptions {
  /** The home directory. The folder of environments is made with the first one that is written. */
  readonly home: string;
  /** Environments that a program gives, by name: each must have no file. */
  readonly inCode?: Readonly<Record<string, EnvironmentFile>> | undefined;
}

export class FileEnvironmentCatalog implements EnvironmentCatalog {
  readonly #home: string;
  readonly #directory: string;
  /** How the records were that were read and are right, by fingerprint: every wake asks for its own to be there. */
  readonly #remembered = new Map<string, string>();

  readonly #inCode: ReadonlyMap<string, EnvironmentDefinition>;

  /** @throws RuntimeError ENVIRONMENT_INVALID for one in code */
  constructor({ home, inCode = {} }: FileEnvironmentCatalogOptions) {
    this.#home = resolve(home);
    this.#directory = join(this.#home, ENVIRONMENTS_FOLDER);
    this.#inCode = new Map(
      Object.entries(inCode).map(([id, given]) => [checkedId(id), environmentInCode(id, given, this.#home)]),
    );
  }

  async list(): Promise<readonly EnvironmentListing[]> {
    const names = await this.#fileNames();
    const found = await Promise.all(names.map((name) => this.#listingOf(name)));
    const own = [...this.#inCode.values()].map((definition) => ({
      environmentId: definition.environmentId,
      definition,
      isBuiltIn: false,
    }));
    const taken = new Set([...found, ...own].map(({ environmentId }) => environmentId));
    const builtIn = BUILT_IN_ENVIRONMENTS.filter(({ environmentId }) => !taken.has(environmentId)).map(
      (definition) => ({ environmentId: definition.environmentId, definition, isBuiltIn: true }),
    );
    const others = own.filter(({ environmentId }) => !found.some((each) => each.environmentId === environmentId));
    return [...found, ...others, ...builtIn].toSorted((one, other) =>
      one.environmentId < other.environmentId ? -1 : 1,
    );
  }

  async get(environmentId: string): Promise<EnvironmentDefinition> {
    const id = checkedId(environmentId);
    const source = readOwnFile(this.#pathOf(id), MAX_FILE_BYTES);
    const inCode = this.#inCode.get(id);
    if (source !== undefined && inCode !== undefined) throw environmentDefinedTwice(id);
    if (inCode !== undefined) return inCode;
    if (source !== undefined) return this.validate(id, source);
    const builtIn = BUILT_IN_ENVIRONMENTS.find((definition) => definition.environmentId === id);
    if (builtIn !== undefined) return builtIn;
    throw environmentNotFound(
      id,
      (await this.list()).map((listing) => listing.environmentId),
    );
  }

  validate(environmentId: string, source: string, fileName = `${environmentId}${SUFFIX}`): EnvironmentDefinition {
    return parseEnvironment({ environmentId: checkedId(environmentId), source, fileName, home: this.#home });
  }

  async create(environmentId: string, source: string): Promise<EnvironmentDefinition> {
    const definition = this.validate(environmentId, source);
    if (this.#inCode.has(environmentId)) throw environmentDefinedTwice(environmentId);
    await makeOwnFolder(this.#directory);
    if (!(await writeNewFile(this.#pathOf(definition.environmentId), source)))
      throw environmentExists(definition.environmentId);
    return definition;
  }

  async remember(fingerprint: string, definition: EnvironmentDefinition): Promise<void> {
    const path = this.#knownPath(fingerprint);
    const seen = this.#remembered.get(fingerprint);
    if (seen !== undefined && seen === stateOf(path)) return;
    const content = `${canonicalJson(definition)}\n`;
    const before = stateOf(path);
    // One that was damaged is written anew.
    const known = before === undefined ? undefined : readableAt(path);
    if (known === content && before !== undefined) {
      if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear();
      this.#remembered.set(fingerprint, before);
      return;
    }
    await makeOwnFolder(this.#directory);
    await makeOwnFolder(join(this.#directory, KNOWN_FOLDER));
    await replaceFile(path, content);
  }

  async recall(fingerprint: string): Promise<EnvironmentDefinition | undefined> {
    const path = this.#knownPath(fingerprint);
    const content = readOwnFile(path, MAX_KNOWN_BYTES);
    if (content === undefined) return undefined;
    return parseOrThrow(rememberedEnvironment, plainJson(content, path), {
      what: `the record ${path}`,
      code: 'ENVIRONMENT_INVALID',
      hint: 'Remove it: the next wake in that environment writes it anew.',
    });
  }

  async #fileNames(): Promise<readonly string[]> {
    try {
      return (await readdir(this.#directory)).filter((name) => /\.ya?ml$/i.test(name) && !name.startsWith('.'));
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return [];
      throw unreadable(this.#directory, error);
    }
  }

  async #listingOf(name: string): Promise<EnvironmentListing> {
    const id = name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : name;
    try {
      if (!name.endsWith(SUFFIX) || !environmentIdSchema.safeParse(id).success) throw misnamed(name);
      return { environmentId: id, definition: await this.get(id), isBuiltIn: false };
    } catch (error) {
      const known = RuntimeError.is(error) ? error : unreadable(join(this.#directory, name), messageOf(error));
      return { environmentId: id, error: known.toJSON() };
    }
  }

  #pathOf(environmentId: string): string {
    return join(this.#directory, `${environmentId}${SUFFIX}`);
  }

  #knownPath(fingerprint: string): string {
    if (FINGERPRINT.test(fingerprint)) return join(this.#directory, KNOWN_FOLDER, `${fingerprint}.json`);
    throw new RuntimeError(
      'ENVIRONMENT_INVALID',
      `expected the fingerprint of an environment, received ${JSON.stringify(fingerprint.slice(0, 100))}`,
      { category: 'validation', hint: 'A fingerprint has 64 hexadecimal digits.' },
    );
  }
}

function checkedId(environmentId: unknown): string {
  return parseOrThrow(environmentIdSchema, environmentId, { what: 'environment name', code: 'ENVIRONMENT_INVALID' });
}

function misnamed(name: string): RuntimeError {
  return new RuntimeError('ENVIRONMENT_INVALID', `the environment in ${name} has no valid name`, {
    category: 'validation',
    hint: `Call the file NAME${SUFFIX}, with a name of lower-case letters, digits, "-" and "_".`,
  });
}

function plainJson(content: string, path: string): unknown {
  try {
    return JSON.parse(content) as unknown;
  } catch {
    throw environmentExposed(path, 'it is no JSON', 'Remove it: the next wake in that environment writes it anew.');
  }
}

/** What changes with every change to a file; undefined when none is there. */
function stateOf(path: string): string | undefined {
  try {
    const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return found?.isFile() === true
      ? `${found.dev} ${found.ino} ${found.size} ${found.mode} ${found.mtimeNs} ${found.ctimeNs}`
      : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined too for what cannot be read: it is written anew. */
function readableAt(path: string): string | undefined {
  try {
    return readOwnFile(path, MAX_KNOWN_BYTES);
  } catch {
    return undefined;
  }
}
