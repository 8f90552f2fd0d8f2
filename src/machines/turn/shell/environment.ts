/**
 * The environment of commands that an agent runs: an allow-list, not what the runtime itself was started with. Keys and tokens of
 * the runtime's owner reach a command only when somebody has named them.
 */
import { z } from 'zod';
import { parseOrThrow } from '../../validate.ts';

/** What programs need to find each other, their user and their language. */
const ALLOWED: ReadonlySet<string> = new Set(['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR', 'TZ', 'USER', 'LOGNAME', 'SHELL']);
const LOCALE = /^LC_[A-Z]+$/;

/** Without any PATH each shell takes one of its own, and programs it starts take another. */
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of one variable: letters, digits and "_", not beginning with a digit');
const variableValue = z.string().regex(/^[^\0]*$/, 'expected text without NUL characters');

const settings = z.strictObject({
  pass: z.array(variableName).readonly().default([]),
  set: z.record(variableName, variableValue).default({}),
});

export interface CommandEnvironmentSettings {
  /** Names of variables that commands inherit besides the usual ones. Exact: a pattern would pass more than its author thought of. */
  readonly pass?: readonly string[] | undefined;
  /** Variables with their values; they win over inherited ones. */
  readonly set?: Readonly<Record<string, string>> | undefined;
}

export type HostEnvironment = Readonly<Record<string, string | undefined>>;

/** The settings, checked. @throws RuntimeError ENVIRONMENT_INVALID naming what is wrong, never a value */
export function checkedEnvironmentSettings(given: CommandEnvironmentSettings = {}): Required<CommandEnvironmentSettings> {
  return parseOrThrow(settings, given, { what: 'the environment of commands', code: 'ENVIRONMENT_INVALID', hint: 'Pass { pass: [names], set: { name: value } }.' });
}

/** The whole environment of a command: what may be inherited of `host`, and what was set. */
export function commandEnvironment(host: HostEnvironment, { pass = [], set = {} }: CommandEnvironmentSettings = {}): Readonly<Record<string, string>> {
  const passed = new Set(pass);
  const environment: Record<string, string> = { PATH: DEFAULT_PATH };
  for (const [name, value] of Object.entries(host)) {
    if (value === undefined) continue;
    if (ALLOWED.has(name) || LOCALE.test(name) || passed.has(name)) environment[name] = value;
  }
  return { ...environment, ...set };
}
