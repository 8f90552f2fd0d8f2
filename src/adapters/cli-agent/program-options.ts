/** Turns what the settings of a provider say besides into arguments, as the program calls them. */
import { SettingsRefused } from './dialect.ts';

const FLAG_NAME = /^[A-Za-z][A-Za-z0-9-]*$/;
const BARE_KEY = /^[A-Za-z0-9_-]+$/;
const KEY_PATH = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;
/** Options nested more deeply than this are a mistake. */
const MAX_DEPTH = 20;

/**
 * `{ 'max-turns': 5, verbose: true, 'add-dir': ['a', 'b'], settings: {...} }` becomes `--max-turns=5 --verbose
 * --add-dir=a --add-dir=b --settings={...}`. False and null leave an option out.
 * @param taken names that are ours to set
 * @throws SettingsRefused
 */
export function flagsOf(options: Readonly<Record<string, unknown>>, taken: ReadonlySet<string>): readonly string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    if (!FLAG_NAME.test(name))
      throw new SettingsRefused(
        `expected the names of options as the program calls them, without dashes in front, received ${JSON.stringify(name)}`,
      );
    if (taken.has(name))
      throw new SettingsRefused(`the option "${name}" is set by the backend itself and cannot be given`);
    return (Array.isArray(value) ? (value as unknown[]) : [value]).flatMap((one) => flag(name, one));
  });
}

/** Flags are one argument each: a value that begins with a dash stays a value. */
function flag(name: string, value: unknown): readonly string[] {
  if (value === false || value === null) return [];
  if (value === true) return [`--${name}`];
  return [`--${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`];
}

/**
 * `{ a: { b: 'c' } }` as overrides of a configuration in TOML: `a.b="c"`. A key may be a path itself: `{ 'a.b': 'c' }`.
 * Codex splits the path at its dots and knows no quotes in it: a table with other keys is given as a whole.
 * @throws SettingsRefused
 */
export function tomlOverrides(config: unknown, path: readonly string[] = []): readonly string[] {
  if (!isTable(config)) {
    if (path.length === 0) throw new SettingsRefused('expected the option "config" to be an object of settings');
    return [`${path.join('.')}=${tomlValue(config, path)}`];
  }
  if (path.length > MAX_DEPTH) throw new SettingsRefused('the option "config" is nested too deeply');
  const odd = Object.keys(config).find((key) => !KEY_PATH.test(key));
  if (odd === undefined) return Object.entries(config).flatMap(([key, value]) => tomlOverrides(value, [...path, key]));
  if (path.length > 0) return [`${path.join('.')}=${tomlValue(config, path)}`];
  throw new SettingsRefused(
    `expected the settings in the option "config" to have names as Codex has them, received ${JSON.stringify(odd)}`,
  );
}

/** @throws SettingsRefused naming the path */
export function tomlValue(value: unknown, path: readonly string[]): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return String(value);
  if (path.length > MAX_DEPTH) throw new SettingsRefused('the option "config" is nested too deeply');
  if (Array.isArray(value)) return `[${value.map((item) => tomlValue(item, [...path, ''])).join(',')}]`;
  if (isTable(value)) {
    return `{${Object.entries(value)
      .map(([key, item]) => `${keyText(key)}=${tomlValue(item, [...path, key])}`)
      .join(',')}}`;
  }
  throw new SettingsRefused(
    `the option "config" holds ${JSON.stringify(value) ?? 'nothing'} at ${path.join('.')}, which TOML cannot say`,
  );
}

function keyText(key: string): string {
  return BARE_KEY.test(key) ? key : JSON.stringify(key);
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
