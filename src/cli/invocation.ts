/**
 * How this program can be called again from where it was called: a command that is shown must work when it is pasted.
 */
import { existsSync, realpathSync } from 'node:fs';
import { basename, delimiter, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shellQuoted } from './terminal/text.ts';

const NAME = 'wakechart';

/** Put on the PATH by what runs a script or a program of a package, for as long as that takes. */
const PASSING_FOLDER = join('node_modules', '.bin');
/** What npm, pnpm and yarn tell what they run. */
const RUNNER_VARIABLES = ['npm_lifecycle_event', 'npm_config_user_agent'];

/** What npx was asked for, and not a program that calls us. */
const OURS = /^["']?wakechart\b/;

let words: readonly string[] | undefined;

/** What follows the name of the program where a command is meant; in a sentence it is another word. */
export const COMMANDS: readonly string[] = [
  ...['demo', 'init', 'agent', 'session', 'env', 'outcome', 'learnings', 'memory', 'resources', 'retrieval', 'skills'],
  ...['permission', 'vault', 'auth', 'chat', 'wake', 'worker', 'serve', 'task', 'schedule', 'worktree', 'tools'],
  ...['import', 'audit', 'inspect', 'store', 'fleet', 'doctor', 'explain', 'completion'],
];

const NAMED = new RegExp(
  String.raw`(?<![\w./-])wakechart (?=(?:${COMMANDS.join('|')})\b)(?![^\n]* --(?:home|store)\b)`,
  'g',
);

/**
 * `wakechart`, or the link that was called, where that name leads here; `npx wakechart` where it was called so; else
 * `node` with the path of this program.
 */
export function invocation(): readonly string[] {
  words ??= findInvocation();
  return words;
}

/**
 * What comes from below, and what is written down, says `wakechart session list`: here it has to work when it is
 * pasted. @param typed the program as it was called, with what was typed of home and store
 */
export function asTyped(text: string, typed: readonly string[] = invocation()): string {
  return text
    .replaceAll(NAMED, () => `${shellQuoted(typed)} `)
    .replaceAll('beside wakechart: npm install ', `beside wakechart: ${installing()} `);
}

/** What installs a package where this program finds it. */
export function installing(program = fileURLToPath(import.meta.url)): string {
  const at = program.indexOf(`${sep}node_modules${sep}`);
  // That of a project has a package.json beside its packages.
  return at === -1 || existsSync(join(program.slice(0, at), 'package.json')) ? 'npm install' : 'npm install -g';
}

function findInvocation(): readonly string[] {
  const program = fileURLToPath(new URL('main.js', import.meta.url));
  const called = process.argv[1] ?? '';
  const name = basename(called);
  if (name !== basename(program) && leadsTo(name, program)) return [name];
  if (leadsTo(NAME, program)) return [NAME];
  if (process.env['npm_lifecycle_event'] === 'npx' && OURS.test(process.env['npm_lifecycle_script'] ?? ''))
    return ['npx', NAME];
  return [leadsTo('node', process.execPath) ? 'node' : process.execPath, program];
}

/** Whether the shell finds exactly this file under that name. */
function leadsTo(name: string, program: string): boolean {
  const isPassing = RUNNER_VARIABLES.some((variable) => process.env[variable] !== undefined);
  const folders = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '' && !(isPassing && folder.endsWith(`${sep}${PASSING_FOLDER}`)));
  const found = folders.map((folder) => realPathOf(join(folder, name))).find((path) => path !== undefined);
  return found !== undefined && found === realPathOf(program);
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
