/**
 * `wakechart.config.ts`: what a program gives a runtime in code, as a module of its own, so that every process that
 * works in the home gives the same.
 */
import { stat } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { hasCode } from '../adapters/system/error-codes.ts';
import { RuntimeError, messageOf } from '../machines/errors.ts';
import { checkConfig } from './runtime-options.ts';
import type { NodeRuntimeOptions, WakechartConfig } from './runtime-options.ts';

/** A config with its types: for `export default defineConfig({ … })` in `wakechart.config.ts`. */
export function defineConfig(config: WakechartConfig): WakechartConfig {
  return config;
}

/** A module that has been loaded is not loaded again in this process. */
const loaded = new Map<string, Promise<WakechartConfig>>();

/** The absolute path of a module that was named by a path or by a `file:` URL. @throws RuntimeError CONFIG_NOT_FOUND */
export function configPath(place: string | URL): string {
  try {
    return resolve(place instanceof URL || place.startsWith('file:') ? fileURLToPath(place) : place);
  } catch (cause) {
    throw new RuntimeError(
      'CONFIG_NOT_FOUND',
      `expected the path or the file: URL of a config, received ${String(place)} (${messageOf(cause)})`,
      { category: 'not_found', hint: HINT_OF_PLACE, cause },
    );
  }
}

const HINT_OF_PLACE = "Name a module, as in config: new URL('./wakechart.config.ts', import.meta.url).";

/** Runs the module. @throws RuntimeError CONFIG_NOT_FOUND, CONFIG_FAILED, CONFIG_INVALID naming the file */
export async function loadConfig(file: string): Promise<WakechartConfig> {
  const known = loaded.get(file) ?? readConfig(file);
  loaded.set(file, known);
  return known;
}

async function readConfig(file: string): Promise<WakechartConfig> {
  const there = await stat(file).catch(() => undefined);
  if (there?.isFile() !== true)
    throw new RuntimeError(
      'CONFIG_NOT_FOUND',
      `expected a config at ${file}; ${there === undefined ? 'there is no such file' : 'that is no file'}`,
      { category: 'not_found', hint: HINT_OF_PLACE },
    );
  const exported = await exportsOf(file);
  if (!('default' in exported))
    throw new RuntimeError(
      'CONFIG_INVALID',
      `expected ${file} to have a default export; it exports ${Object.keys(exported).join(', ') || 'nothing'}`,
      { category: 'validation', hint: 'Write: export default defineConfig({ agents: […], tools: […] })' },
    );
  return checkConfig(await exported['default'], file);
}

type Exports = Readonly<Record<string, unknown>>;

async function exportsOf(file: string): Promise<Exports> {
  try {
    return await imported(file);
  } catch (cause) {
    if (RuntimeError.is(cause) && cause.code.startsWith('CONFIG_')) throw cause;
    const place = placeIn(cause, file);
    const said = RuntimeError.is(cause) ? `${messageOf(cause)} [${cause.code}]` : messageOf(cause);
    const reason = said.replaceAll(/\s*\n\s*/g, ' ');
    throw new RuntimeError('CONFIG_FAILED', `${file}${place} could not be loaded: ${reason}`, {
      category: 'validation',
      hint:
        (RuntimeError.is(cause) ? cause.hint : undefined) ??
        (cause instanceof SyntaxError ? `See where: node --check ${file}` : 'Load it with node by itself to see why.'),
      cause,
    });
  }
}

/** By Node itself where it reads the file, as it reads TypeScript from 22.18 on; else by jiti, where that is installed. */
async function imported(file: string): Promise<Exports> {
  try {
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ pathToFileURL(file).href)) as Exports;
  } catch (error) {
    if (!isUnread(error)) throw error;
    const exported = await importedByJiti(file);
    if (exported === undefined) throw unreadable(file);
    return exported;
  }
}

/** Whether the module did not fail, but is of a kind that Node does not read. */
export function isUnread(error: unknown): boolean {
  return hasCode(error, 'ERR_UNKNOWN_FILE_EXTENSION') || hasCode(error, 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX');
}

/** Undefined where it is not installed. */
export async function importedByJiti(file: string): Promise<Exports | undefined> {
  const jiti = await loadedJiti();
  // No cache: other users may write into the folder of temporary files.
  return jiti?.createJiti(pathToFileURL(file).href, { interopDefault: false, fsCache: false }).import<Exports>(file);
}

/** In a `try` of its own: so bundlers let the package be missing. */
async function loadedJiti(): Promise<typeof import('jiti') | undefined> {
  try {
    return await import('jiti');
  } catch {
    return undefined;
  }
}

function unreadable(file: string): RuntimeError {
  const kind = extname(file).endsWith('ts') ? 'TypeScript' : 'this kind of file';
  return new RuntimeError('CONFIG_FAILED', `${file} could not be loaded: Node ${process.version} reads no ${kind}`, {
    category: 'validation',
    hint: 'Use Node 22.18 or newer, or: npm install jiti. Or write it in JavaScript, as wakechart.config.mjs.',
  });
}

/** `:12:3` of the first place in the file that the error tells of; empty where it tells none. */
function placeIn(error: unknown, file: string): string {
  const stack = typeof error === 'object' && error !== null && 'stack' in error ? String(error.stack) : '';
  const at = stack.indexOf(`${file}:`);
  return at < 0 ? '' : (/^:\d+(?::\d+)?/.exec(stack.slice(at + file.length))?.[0] ?? '');
}

/** The options with what the config gives besides: of one thing the options count, lists are put together. */
export function withConfig(options: NodeRuntimeOptions, config: WakechartConfig): NodeRuntimeOptions {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return {
    ...config,
    ...given,
    environments: { ...config.environments, ...options.environments },
    agents: together(config.agents, options.agents),
    tools: together(config.tools, options.tools),
    backends: together(config.backends, options.backends),
  };
}

/** What is in both is the same: a program imports the modules that its config imports. */
function together<Item>(one: readonly Item[] = [], other: readonly Item[] = []): readonly Item[] {
  return [...new Set([...one, ...other])];
}
