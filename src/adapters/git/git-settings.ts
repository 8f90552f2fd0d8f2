/**
 * The settings under which git runs here, whatever the repository says.
 *
 * A repository can name programs in its settings, and settings under which git overlooks changes; and an agent may have
 * written them. So the ones that run something or hide something are set for every command.
 */
import { devNull } from 'node:os';

/**
 * Say who makes commits and where settings lie. Everything else named GIT_* would lead git to another repository, index
 * or program.
 */
const KEPT_VARIABLE = /^GIT_(?:CONFIG_(?:GLOBAL|NOSYSTEM|SYSTEM)|(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE))$/i;

const ALWAYS = [
  'core.fsmonitor=false',
  'core.untrackedCache=false',
  'core.trustctime=true',
  'core.checkStat=default',
  'core.ignoreStat=false',
  'core.quotePath=false',
  'core.pager=cat',
  'core.editor=false',
  'core.logAllRefUpdates=true',
  'core.askPass=',
  'core.sshCommand=false',
  'core.commitGraph=false',
  'core.useReplaceRefs=false',
  'core.warnAmbiguousRefs=false',
  'credential.helper=',
  'diff.external=',
  'gc.auto=0',
  'maintenance.auto=false',
  'protocol.allow=never',
  'safe.bareRepository=explicit',
  'submodule.recurse=false',
  'worktree.useRelativePaths=false',
  'status.showUntrackedFiles=all',
  'status.renames=false',
  'status.branch=false',
  'status.relativePaths=true',
  'advice.detachedHead=false',
];

/**
 * Of the repository's own settings, those that say how its files lie on the disk: as they were when the worktree was
 * made.
 */
export const FILE_SETTINGS = [
  'core.filemode',
  'core.symlinks',
  'core.ignorecase',
  'core.precomposeunicode',
  'core.autocrlf',
  'core.eol',
  'core.sparsecheckout',
  'core.sparsecheckoutcone',
] as const;

/** Whether `setting`, as `name=value`, is one of those. */
export function isFileSetting(setting: string): boolean {
  return FILE_SETTINGS.some((name) => setting.startsWith(`${name}=`));
}

/**
 * An object that is missing is not fetched: the repository may name a program that fetches. Older versions know only
 * the first.
 */
const NO_FETCH = { GIT_ALLOW_PROTOCOL: '', GIT_NO_LAZY_FETCH: '1' } as const;

/** The environment of git, from that of this process. */
export function gitEnvironment(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept = Object.entries(environment).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (!/^GIT_/i.test(entry[0]) || KEPT_VARIABLE.test(entry[0])),
  );
  return {
    ...Object.fromEntries(kept),
    LC_ALL: 'C',
    LANGUAGE: '',
    GIT_TERMINAL_PROMPT: '0',
    GIT_PAGER: 'cat',
    GIT_EDITOR: 'false',
    ...NO_FETCH,
  };
}

/** For commands that only read: they write nothing, not even what they learned. */
export const READING = { GIT_OPTIONAL_LOCKS: '0', GIT_NO_REPLACE_OBJECTS: '1' } as const;

export interface SettingOptions {
  /** Names of filters that may not run. */
  readonly filters: readonly string[];
  readonly runGitHooks?: boolean | undefined;
  /** Further ones, as `name=value`. */
  readonly more?: readonly string[] | undefined;
}

/** As variables, which unlike arguments can name a setting whatever is in its name. */
export function settingVariables({ filters, runGitHooks, more = [] }: SettingOptions): Record<string, string> {
  const hooks = runGitHooks === true ? [] : [`core.hooksPath=${devNull}`];
  // The last one counts.
  const settings = [...more, ...ALWAYS, ...hooks].map((setting) => pairOf(setting));
  const all = [
    ...settings,
    ...filters.flatMap((filter) => FILTER_OFF.map(([name, value]) => [`filter.${filter}.${name}`, value] as const)),
  ];
  const variables = all.flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, name],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { ...(Object.fromEntries(variables) as Record<string, string>), GIT_CONFIG_COUNT: `${all.length}` };
}

const FILTER_OFF = [
  ['clean', ''],
  ['smudge', ''],
  ['process', ''],
  ['required', 'false'],
] as const;

function pairOf(setting: string): readonly [name: string, value: string] {
  const end = setting.indexOf('=');
  return [setting.slice(0, end), setting.slice(end + 1)];
}

export interface RepositorySettings {
  /** Filters that the user's own settings name. */
  readonly userFilters: readonly string[];
  /** Those that the repository itself names, and so any writer to it. */
  readonly ownFilters: readonly string[];
  /** Settings of the repository, by their name in lower case. */
  readonly own: ReadonlyMap<string, string>;
}

/** Reads what `git config --list --show-scope -z` prints. */
export function parseSettings(output: string): RepositorySettings {
  const fields = output.split('\0');
  const userFilters = new Set<string>();
  const ownFilters = new Set<string>();
  const own = new Map<string, string>();
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const isOwn = fields[index] === 'local' || fields[index] === 'worktree';
    const entry = fields[index + 1] ?? '';
    const end = entry.indexOf('\n');
    const name = end === -1 ? entry : entry.slice(0, end);
    const filter = /^filter\.(?<filter>[\s\S]*)\.[\w-]+$/.exec(name)?.groups?.['filter'];
    if (filter !== undefined) (isOwn ? ownFilters : userFilters).add(filter);
    if (isOwn) own.set(name.toLowerCase(), end === -1 ? 'true' : entry.slice(end + 1));
  }
  return { userFilters: [...userFilters], ownFilters: [...ownFilters], own };
}
