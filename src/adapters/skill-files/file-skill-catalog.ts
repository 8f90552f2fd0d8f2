/**
 * Skills as folders: `<home>/skills/<name>/SKILL.md` for all agents, `<home>/agents/<id>/skills/<name>/SKILL.md` for
 * one.
 */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SkillCatalog, SkillListing, SkillQuery, SkillText } from '../../actors/skill/skill-catalog.ts';
import { beginningOf } from '../../machines/cut-text.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { agentId as agentIdSchema } from '../../machines/ids.ts';
import {
  MAX_SKILLS,
  MAX_SKILL_FILE_CHARACTERS,
  MAX_SKILL_RESOURCE_BYTES,
  SKILL_FILE,
  skillName,
} from '../../machines/skill/skill-definition.ts';
import type { Skill, SkillScope } from '../../machines/skill/skill-definition.ts';
import { skillResourcePath } from '../../machines/skill/skill-definitions.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import { isMissing } from '../system/error-codes.ts';
import { parseSkillFile } from './skill-file.ts';
import { listFolder, readFolderText } from './skill-folder.ts';

export interface FileSkillCatalogOptions {
  /** The folder of the skills of all agents. Absolute; it need not be there. */
  readonly directory: string;
  /** That of one agent's skills. */
  readonly agentDirectory: (agentId: string) => string;
}

/** A character takes at most four bytes. */
const MAX_SKILL_FILE_BYTES = MAX_SKILL_FILE_CHARACTERS * 4;

/** Characters of a path that an error shows. */
const MAX_SHOWN_PATH = 200;

/** Of the names that an error lists. */
const MAX_NAMES = 20;

export interface UnknownSkillEntry {
  /** Absolute. */
  readonly path: string;
  readonly because: string;
}

interface SkillPlace {
  readonly name: string;
  readonly scope: SkillScope;
  /** Absolute. */
  readonly folder: string;
}

export class FileSkillCatalog implements SkillCatalog {
  readonly #options: FileSkillCatalogOptions;

  constructor(options: FileSkillCatalogOptions) {
    this.#options = options;
  }

  /** What lies among the skills and is none, with why: the user may have meant it to be one. */
  async unknownEntries({ agentId }: Pick<SkillQuery, 'agentId'> = {}): Promise<readonly UnknownSkillEntry[]> {
    const directories = [
      ...(agentId === undefined ? [] : [this.#options.agentDirectory(checkedAgentId(agentId))]),
      this.#options.directory,
    ];
    return (await Promise.all(directories.map(strangersIn))).flat();
  }

  async list(query: SkillQuery = {}): Promise<readonly SkillListing[]> {
    const listings: SkillListing[] = [];
    // One after the other: many small files at once would only wait for each other.
    for (const place of await this.#places(query)) listings.push(...(await listingOf(place)));
    return listings;
  }

  async get(name: string, query: SkillQuery = {}): Promise<Skill> {
    return skillIn(await this.#placeOf(name, query));
  }

  async read(
    name: string,
    { file = SKILL_FILE, ...query }: SkillQuery & { readonly file?: string | undefined } = {},
  ): Promise<SkillText> {
    const path = parseOrThrow(skillResourcePath, file, {
      what: `the path ${JSON.stringify(beginningOf(file, MAX_SHOWN_PATH))}`,
      code: 'SKILL_FILE_REFUSED',
      hint: 'Name a file as the skill lists it, such as reference/forms.md.',
    });
    const place = await this.#placeOf(name, query);
    // What has no valid SKILL.md is no skill, and nothing of it is read.
    await skillIn(place);
    const read = await readFolderText(
      place,
      path,
      path === SKILL_FILE ? MAX_SKILL_FILE_BYTES : MAX_SKILL_RESOURCE_BYTES,
    );
    return { name: place.name, file: path, ...read, files: await listFolder(place.folder) };
  }

  validate(source: string, fileName: string = SKILL_FILE): Skill {
    return parseSkillFile({ source, fileName, scope: 'home' });
  }

  async #placeOf(name: string, query: SkillQuery): Promise<SkillPlace> {
    const id = parseOrThrow(skillName, name, {
      what: 'name of a skill',
      code: 'SKILL_NOT_FOUND',
      hint: 'Skills are listed by skills_list, or wakechart skills list.',
    });
    const places = await this.#places(query);
    const place = places.find((each) => each.name === id);
    if (place === undefined)
      throw notFound(
        id,
        places.map((each) => each.name),
      );
    // A folder without a SKILL.md is no skill.
    if ((await listingOf(place)).length === 0)
      throw notFound(
        id,
        places.flatMap((each) => (each === place ? [] : [each.name])),
      );
    return place;
  }

  /** By name, the agent's own before those of all. */
  async #places({ agentId, only }: SkillQuery): Promise<readonly SkillPlace[]> {
    const ofAgent =
      agentId === undefined ? [] : await placesIn(this.#options.agentDirectory(checkedAgentId(agentId)), 'agent');
    const ofAll = await placesIn(this.#options.directory, 'home');
    const own = new Set(ofAgent.map(({ name }) => name));
    return [...ofAgent, ...ofAll.filter(({ name }) => !own.has(name))]
      .filter(({ name }) => only === undefined || only.includes(name))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }
}

async function entriesOf(directory: string): Promise<readonly Dirent[]> {
  return readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw new RuntimeError('STORAGE_FAILED', `could not read ${directory}: ${messageOf(error)}`, {
      category: 'storage',
      hint: 'A folder of skills must be readable for the user who runs Wakechart: check who owns it and its permissions.',
      cause: error,
    });
  });
}

/** Hidden entries belong to other programs, such as git. */
async function strangersIn(directory: string): Promise<readonly UnknownSkillEntry[]> {
  const strangers: UnknownSkillEntry[] = [];
  for (const entry of (await entriesOf(directory))
    .filter(({ name }) => !name.startsWith('.'))
    .toSorted(byName)
    .slice(0, MAX_SKILLS)) {
    const because = await strangenessOf(directory, entry);
    if (because !== undefined) strangers.push({ path: join(directory, entry.name), because });
  }
  return strangers;
}

async function strangenessOf(directory: string, entry: Dirent): Promise<string | undefined> {
  if (!entry.isDirectory() && !entry.isSymbolicLink())
    return entry.name.endsWith('.md') && entry.name !== 'README.md'
      ? `a skill is a folder with a ${SKILL_FILE} in it, and this is a file`
      : undefined;
  if (!skillName.safeParse(entry.name).success)
    return 'the name of a skill has lower-case letters, digits, "-" and "_", at most 64 of them';
  const names = await readdir(join(directory, entry.name)).catch((error: unknown): string[] | undefined =>
    isMissing(error) ? [] : undefined,
  );
  // What cannot be read is told by the listing.
  if (names === undefined || names.includes(SKILL_FILE)) return undefined;
  const meant = names.find((name) => name.toLowerCase() === SKILL_FILE.toLowerCase());
  return `there is no ${SKILL_FILE} in it${meant === undefined ? '' : `, but ${JSON.stringify(meant)}: rename it`}`;
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : 1;
}

async function placesIn(directory: string, scope: SkillScope): Promise<readonly SkillPlace[]> {
  return (await entriesOf(directory))
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && skillName.safeParse(entry.name).success)
    .map(({ name }): SkillPlace => ({ name, scope, folder: join(directory, name) }))
    .toSorted(byName)
    .slice(0, MAX_SKILLS);
}

/** None for a folder without a SKILL.md. */
async function listingOf(place: SkillPlace): Promise<readonly SkillListing[]> {
  const { name, scope } = place;
  try {
    return [{ name, scope, skill: await skillIn(place) }];
  } catch (error) {
    if (!RuntimeError.is(error)) throw error;
    return error.code === 'SKILL_FILE_NOT_FOUND' ? [] : [{ name, scope, error: error.toJSON() }];
  }
}

async function skillIn({ name, scope, folder }: SkillPlace): Promise<Skill> {
  const { text } = await readFolderText({ name, folder }, SKILL_FILE, MAX_SKILL_FILE_BYTES);
  return parseSkillFile({ source: text, fileName: `${name}/${SKILL_FILE}`, scope, folderName: name });
}

function checkedAgentId(agentId: string): string {
  return parseOrThrow(agentIdSchema, agentId, { what: 'agent id', code: 'AGENT_INVALID' });
}

function notFound(name: string, names: readonly string[]): RuntimeError {
  const shown = names.slice(0, MAX_NAMES).join(', ');
  return new RuntimeError('SKILL_NOT_FOUND', `there is no skill "${name}"`, {
    category: 'not_found',
    hint: shown === '' ? 'There are no skills here.' : `There are: ${shown}${names.length > MAX_NAMES ? ', …' : ''}.`,
    details: { name },
  });
}
