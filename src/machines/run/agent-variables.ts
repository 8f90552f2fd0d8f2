/**
 * The variables of a program that is an agent: what it may not have of ours, what of them is secret, and where it is
 * searched for.
 */
import { decoded } from '../vault/secret-parts.ts';

/** Ours: what they hold is none of an agent's business. */
const OUR_VARIABLES = /^WAKECHART_/;
const NAME_OF_A_SECRET = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH/i;
const LOGIN_IN_ADDRESS = /:\/\/(?<login>[^\s/?#]{1,2000})@/g;
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

type Variables = Readonly<Record<string, string>>;

export function withoutOurVariables(variables: Variables): Variables {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !OUR_VARIABLES.test(name)));
}

/** Of what is passed on by name, what is taken for a secret: names and values. */
export function secretsAmong(passed: readonly string[], variables: Variables): readonly (readonly [string, string])[] {
  return passed.flatMap((name) => (NAME_OF_A_SECRET.test(name) ? entryOf(name, variables) : loginsIn(name, variables)));
}

/** Of an address such as that of a proxy: `user:password`, and the password alone, as written and as meant. */
function loginsIn(name: string, variables: Variables): readonly (readonly [string, string])[] {
  const logins = [...(variables[name] ?? '').matchAll(LOGIN_IN_ADDRESS)].flatMap(
    ({ groups }) => groups?.['login'] ?? [],
  );
  const values = logins.flatMap((login) => [login, login.slice(login.indexOf(':') + 1)]);
  // One value each: the names are told in its place.
  return [...new Set(values.flatMap((value) => [value, decoded(value)]))].map(
    (value, index) => [index === 0 ? `login of ${name}` : `login ${index + 1} of ${name}`, value] as const,
  );
}

/** A variable with its value, if it is there. */
export function entryOf(name: string, variables: Variables): readonly (readonly [string, string])[] {
  const value = variables[name];
  return value === undefined ? [] : [[name, value]];
}

export interface SearchOptions {
  readonly path: string;
  readonly workspaceDir: string;
  /** Follows links; answers with what it was given where that is not there. */
  readonly realPathOf: (path: string) => string;
}

/**
 * The same path without entries in the workspace, into which the agent may write: no program is found there by its mere
 * name. Relative entries would start there, and an empty path would mean it.
 */
export function pathOutside({ path, workspaceDir, realPathOf }: SearchOptions): string {
  const workspace = `${realPathOf(workspaceDir)}/`;
  const entries = path
    .split(':')
    .filter((entry) => entry.startsWith('/') && !`${realPathOf(entry)}/`.startsWith(workspace));
  return entries.length === 0 ? DEFAULT_PATH : entries.join(':');
}
