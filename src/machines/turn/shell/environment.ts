/**
 * The environment of commands that an agent runs: an allow-list, not what the runtime itself was started with. Keys and
 * tokens of the runtime's owner reach a command only when the owner has named them.
 */
import * as z from 'zod';
import { textWithoutNul } from '../../text-schemas.ts';
import { parseOrThrow } from '../../validate.ts';

/** What programs need to find each other, their user and their language. */
const ALLOWED: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'LANG',
  'TERM',
  'TMPDIR',
  'TZ',
  'USER',
  'LOGNAME',
  'SHELL',
]);
const LOCALE = /^LC_[A-Z]+$/;

/**
 * Says who commits and where git searches for its settings: no secrets, and without them git in a tool is another git than
 * its owner's.
 */
export const GIT_NAMES: readonly string[] = [
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_NOSYSTEM',
  'GIT_CONFIG_SYSTEM',
  'GIT_AUTHOR_NAME',
  'GIT_AUTHOR_EMAIL',
  'GIT_COMMITTER_NAME',
  'GIT_COMMITTER_EMAIL',
];

/** Without any PATH each shell takes one of its own, and programs it starts take another. */
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

const variableName = z
  .string()
  .regex(
    /^[A-Za-z_][A-Za-z0-9_]*$/,
    'expected the name of one variable: letters, digits and "_", not beginning with a digit',
  );

const settings = z.strictObject({
  pass: z.array(variableName).readonly().default([]),
  set: z.record(variableName, textWithoutNul).default({}),
});

export interface CommandEnvironmentSettings {
  /**
   * Names of variables that commands inherit besides the usual ones. Exact: a pattern would pass more than its author
   * thought of.
   */
  readonly pass?: readonly string[] | undefined;
  /** Variables with their values; they win over inherited ones. */
  readonly set?: Readonly<Record<string, string>> | undefined;
}

export type HostEnvironment = Readonly<Record<string, string | undefined>>;

/** The settings, checked. @throws RuntimeError ENVIRONMENT_INVALID naming what is wrong, never a value */
export function checkedEnvironmentSettings(
  given: CommandEnvironmentSettings = {},
): Required<CommandEnvironmentSettings> {
  return parseOrThrow(settings, given, {
    what: 'the environment of commands',
    code: 'ENVIRONMENT_INVALID',
    hint: 'Pass { pass: [names], set: { name: value } }.',
  });
}

/**
 * The whole environment of a command: what may be inherited of `host`, and what was set. Its PATH has absolute entries
 * only.
 */
export function commandEnvironment(
  host: HostEnvironment,
  { pass = [], set = {} }: CommandEnvironmentSettings = {},
): Readonly<Record<string, string>> {
  const passed = new Set(pass);
  const environment: Record<string, string> = { PATH: DEFAULT_PATH };
  for (const [name, value] of Object.entries(host)) {
    if (value === undefined) continue;
    if (ALLOWED.has(name) || LOCALE.test(name) || passed.has(name)) environment[name] = value;
  }
  const { PATH = DEFAULT_PATH, ...rest } = { ...environment, ...set };
  return { ...rest, PATH: searchPath(PATH, isAbsolute) };
}

/** Both, where they name the same the second one. */
export function joinedSettings(
  first: CommandEnvironmentSettings,
  second: CommandEnvironmentSettings,
): CommandEnvironmentSettings {
  return { pass: [...(first.pass ?? []), ...(second.pass ?? [])], set: { ...first.set, ...second.set } };
}

/** What loads code into a program: into the sandbox's own too, on the host, before anything is shut in. */
const LOADS_CODE = /^(?:LD_|GLIBC_TUNABLES$|BASH_ENV$|ENV$|BASH_FUNC_|SHELLOPTS$|BASHOPTS$|PS4$)/;

/** The same for a line that begins a sandbox. */
export function sandboxedEnvironment(environment: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !LOADS_CODE.test(name)));
}

/** Names that a command must not get by a call: what they are decides which programs run, and as whose. */
const KEPT_NAMES =
  /^(?:PATH|HOME|IFS|SHELL|TMPDIR|PWD|OLDPWD|NODE_OPTIONS|PYTHONSTARTUP|PERL5OPT|RUBYOPT|GIT_(?!TOKEN$|USERNAME$|PASSWORD$).*|DYLD_.*|WAKECHART_.*)$/;

const MAX_SECRET_VARIABLES = 20;

/**
 * The environment variables that a call fills with secrets, by name; each value is the name of a secret, never the
 * secret.
 */
export const secretVariables = z
  .record(
    variableName
      .max(200)
      .refine(
        (name) => !LOADS_CODE.test(name) && !KEPT_NAMES.test(name),
        'expected a variable that decides nothing about which programs run',
      ),
    z.string().regex(/^[^/\0]{1,200}\/[^\0]{1,200}$/, 'expected the name of a secret, as vault/secret'),
  )
  .refine(
    (given) => Object.keys(given).length <= MAX_SECRET_VARIABLES,
    `expected at most ${MAX_SECRET_VARIABLES} secrets`,
  )
  .optional()
  .describe(
    'Secrets for its environment: the name of each variable, and of the secret that is put into it, such as {"GITHUB_TOKEN": "github/token"}. vault_list names them.',
  );

export interface CommandWorkspace {
  /** Its real path. */
  readonly folder: string;
  /** Whether a folder is in the workspace, or is reached through it: what lies there is the agent's to change. */
  readonly reaches: (folder: string) => boolean;
  /**
   * A user said that the agent is to work there: what lies around it, such as the repository that it is a part of, is
   * meant too. Default false.
   */
  readonly isGiven?: boolean | undefined;
}

/**
 * The same for commands in a workspace: programs in it are run only when they are named by their path, and git takes no
 * repository above a folder that is the agent's own for that of the agent.
 */
export function workspaceEnvironment(
  environment: Readonly<Record<string, string>>,
  { folder, reaches, isGiven = false }: CommandWorkspace,
): Readonly<Record<string, string>> {
  const { PATH = DEFAULT_PATH, [CEILINGS]: ceilings } = environment;
  // First of all: what follows an empty entry would not be looked up by git before it is compared.
  const ceiling = folder === '/' || isGiven ? [] : [folder.slice(0, folder.lastIndexOf('/')) || '/'];
  const all = [...ceiling, ...(ceilings === undefined || ceilings === '' ? [] : [ceilings])];
  return {
    ...environment,
    PATH: searchPath(PATH, (entry) => !reaches(entry)),
    ...(all.length === 0 ? {} : { [CEILINGS]: all.join(':') }),
  };
}

/** Folders that git does not go up into when it searches for a repository. */
const CEILINGS = 'GIT_CEILING_DIRECTORIES';

/** Without any entry a shell would search the folder it is in. */
function searchPath(path: string, isTrusted: (entry: string) => boolean): string {
  const trusted = path.split(':').filter(isTrusted);
  return trusted.length === 0 ? DEFAULT_PATH : trusted.join(':');
}

/** An empty entry means the folder that a command runs in, and so does a relative one: both are the agent's to fill. */
function isAbsolute(entry: string): boolean {
  return entry.startsWith('/');
}
