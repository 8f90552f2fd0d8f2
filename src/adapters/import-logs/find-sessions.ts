/**
 * Finds the sessions of another runtime, wherever the caller points: at its home, at an agent, at a session or at one
 * log.
 */
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../../machines/errors.ts';
import { MAX_IMPORT_SESSIONS } from '../../machines/import/import-limits.ts';
import type { SourceRuntime } from '../../machines/import/source-fact.ts';
import type { SourceTree } from './source-tree.ts';

/** Where a session lies. */
export interface SourceSession {
  /** Absolute; a file that need not be there when there is a folder. */
  readonly log: string;
  /** The folder with what belongs to it, absolute. */
  readonly folder?: string | undefined;
  /** What its folder or file is called. */
  readonly name: string;
  /** The agent in whose folder it lies. */
  readonly agentName?: string | undefined;
}

/** Something on the way that is not examined. */
export interface PassedOver {
  readonly path: string;
  readonly because: string;
  /** Sessions may be missing because of it. */
  readonly isTrouble: boolean;
}

export interface FoundSessions {
  readonly sessions: readonly SourceSession[];
  readonly passedOver: readonly PassedOver[];
}

export const SOURCE_LOG = 'events.jsonl';
export const SOURCE_STATE = 'session.json';
/** More than these do not help. */
const MAX_PASSED_OVER = 1_000;
const AGENTS = 'agents';
const SESSIONS = 'sessions';
const RUNS = 'runs';
const LOG_ENDING = '.jsonl';
const HOME_FOLDERS: Readonly<Record<SourceRuntime, string>> = { openboa: '.openboa', rowboat: '.rowboat' };

export async function findSessions(tree: SourceTree, from: SourceRuntime): Promise<FoundSessions> {
  const finder = new Finder(tree, from);
  if (tree.isFile) return { sessions: [ofFile(tree.root, from)], passedOver: [] };
  await finder.check(tree.root, undefined);
  return {
    sessions: finder.sessions.slice(0, MAX_IMPORT_SESSIONS),
    passedOver: [...finder.passedOver.values(), ...finder.tooMany()],
  };
}

/** The log of a session is found with what lies beside it. */
function ofFile(path: string, from: SourceRuntime): SourceSession {
  const folder = dirname(path);
  if (from === 'openboa' && basename(path) === SOURCE_LOG) return ofFolder(folder, agentAbove(folder));
  return { log: path, name: withoutEnding(basename(path)) };
}

function ofFolder(folder: string, agentName: string | undefined): SourceSession {
  return {
    log: join(folder, SOURCE_LOG),
    folder,
    name: basename(folder),
    ...(agentName === undefined ? {} : { agentName }),
  };
}

function agentAbove(sessionFolder: string): string | undefined {
  const sessions = dirname(sessionFolder);
  return basename(sessions) === SESSIONS ? basename(dirname(sessions)) : undefined;
}

function withoutEnding(name: string): string {
  return name.endsWith(LOG_ENDING) ? name.slice(0, -LOG_ENDING.length) : name;
}

class Finder {
  readonly sessions: SourceSession[] = [];
  /** By path. */
  readonly passedOver = new Map<string, PassedOver>();
  readonly #tree: SourceTree;
  readonly #from: SourceRuntime;

  constructor(tree: SourceTree, from: SourceRuntime) {
    this.#tree = tree;
    this.#from = from;
  }

  tooMany(): PassedOver[] {
    const count = this.sessions.length - MAX_IMPORT_SESSIONS;
    return count <= 0
      ? []
      : [
          {
            path: this.#tree.shown(this.#tree.root),
            because: `${count} sessions more than the ${MAX_IMPORT_SESSIONS} of one import; name its agents one by one`,
            isTrouble: true,
          },
        ];
  }

  async check(folder: string, agentName: string | undefined): Promise<void> {
    const kinds = await this.#kindsIn(folder);
    const below = kinds.get(HOME_FOLDERS[this.#from]);
    if (this.#from === 'rowboat') {
      if (kinds.get(RUNS) === 'folder') return this.#runs(join(folder, RUNS));
      if (below === 'folder') return this.check(join(folder, HOME_FOLDERS.rowboat), undefined);
      return this.#runs(folder);
    }
    if (kinds.has(SOURCE_LOG) || kinds.has(SOURCE_STATE))
      this.sessions.push(ofFolder(folder, agentName ?? agentAbove(folder)));
    else if (kinds.get(SESSIONS) === 'folder') await this.#sessions(join(folder, SESSIONS), basename(folder));
    else if (kinds.get(AGENTS) === 'folder') await this.#agents(join(folder, AGENTS));
    else if (below === 'folder') await this.check(join(folder, HOME_FOLDERS.openboa), undefined);
    else if (basename(folder) === AGENTS) await this.#agents(folder);
    else await this.#sessions(folder, basename(folder) === SESSIONS ? basename(dirname(folder)) : undefined);
  }

  async #agents(folder: string): Promise<void> {
    for (const [name, kind] of await this.#kindsIn(folder)) {
      if (kind !== 'folder') continue;
      const agent = join(folder, name);
      if ((await this.#kindsIn(agent)).get(SESSIONS) === 'folder') await this.#sessions(join(agent, SESSIONS), name);
    }
  }

  async #sessions(folder: string, agentName: string | undefined): Promise<void> {
    for (const [name, kind] of await this.#kindsIn(folder)) {
      if (kind !== 'folder') continue;
      const kinds = await this.#kindsIn(join(folder, name));
      if (kinds.has(SOURCE_LOG) || kinds.has(SOURCE_STATE)) this.sessions.push(ofFolder(join(folder, name), agentName));
    }
  }

  async #runs(folder: string): Promise<void> {
    for (const [name, kind] of await this.#kindsIn(folder)) {
      if (!name.endsWith(LOG_ENDING)) continue;
      if (kind === 'file') this.sessions.push({ log: join(folder, name), name: withoutEnding(name) });
      else if (kind === 'folder')
        this.#passOver(join(folder, name), {
          because: 'a folder, where the log of a run was expected',
          isTrouble: true,
        });
    }
  }

  async #kindsIn(folder: string): Promise<ReadonlyMap<string, string>> {
    try {
      const entries = await this.#tree.list(folder);
      for (const { name, kind } of entries) {
        if (kind === 'link')
          this.#passOver(join(folder, name), { because: 'a symbolic link, which is not followed', isTrouble: false });
        else if (kind === 'other')
          this.#passOver(join(folder, name), {
            because: 'a pipe, a socket or a device, which is not opened',
            isTrouble: false,
          });
      }
      return new Map(entries.map(({ name, kind }) => [name, kind]));
    } catch (error) {
      this.#passOver(folder, { because: messageOf(error), isTrouble: true });
      return new Map();
    }
  }

  #passOver(path: string, why: Omit<PassedOver, 'path'>): void {
    const shown = this.#tree.shown(path);
    if (this.passedOver.size < MAX_PASSED_OVER) this.passedOver.set(shown, { path: shown, ...why });
  }
}
