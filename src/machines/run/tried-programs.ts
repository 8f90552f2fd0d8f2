/** The agent programs of others that this version was tried with, and in which versions of theirs. */
import { beginningOf } from '../cut-text.ts';
import type { ProviderSettings } from './provider-settings.ts';

interface TriedProgram {
  /** For people. */
  readonly title: string;
  /** In the npm registry. */
  readonly package: string;
  /** The oldest and the newest version that `npm run test:programs` was green with. */
  readonly oldest: string;
  readonly newest: string;
}

/** By the names of their commands. `test/programs/versions.json` pins the newest, and the docs have a table of them. */
export const TRIED_PROGRAMS = {
  claude: { title: 'Claude Code', package: '@anthropic-ai/claude-code', oldest: '2.1.332', newest: '2.1.332' },
  codex: { title: 'Codex', package: '@openai/codex', oldest: '0.171.0', newest: '0.171.0' },
  opencode: { title: 'OpenCode', package: 'opencode-ai', oldest: '1.18.33', newest: '1.18.33' },
  gemini: { title: 'Gemini CLI', package: '@google/gemini-cli', oldest: '0.61.0', newest: '0.61.0' },
  'claude-agent-acp': {
    title: 'Claude Agent',
    package: '@agentclientprotocol/claude-agent-acp',
    oldest: '0.101.0',
    newest: '0.101.0',
  },
} as const satisfies Readonly<Record<string, TriedProgram>>;

export type TriedProgramName = keyof typeof TRIED_PROGRAMS;

/** What came of asking a program for its version. */
export type AskedVersion =
  | { readonly kind: 'told'; readonly version: string }
  | { readonly kind: 'missing' }
  /** As half a sentence. */
  | { readonly kind: 'unreadable'; readonly because: string };

/** Of what a program printed, in a message. */
const SAMPLE_CHARACTERS = 200;

/** Which of them a provider runs; undefined for one over HTTP, and for a program that stands in for another. */
export function triedProgramOf({ backend, dialect, program }: ProviderSettings): TriedProgramName | undefined {
  if (program === undefined) return undefined;
  const { command, args = [] } = program;
  // What is started with arguments first may be an interpreter.
  if (backend === 'cli-agent') return args.length === 0 ? dialect : undefined;
  const name = command.slice(command.lastIndexOf('/') + 1);
  return backend === 'acp' && isTried(name) ? name : undefined;
}

/** The version in what a program says of itself. */
export function versionIn(text: string): string | undefined {
  return /\d+\.\d+\.\d+/.exec(text)?.[0];
}

/** A program that does not say its version. @param ending how it ended, as half a sentence */
export function unreadableVersion(printed: string, ending: string): AskedVersion {
  const words = printed.replace(/\s+/g, ' ').trim();
  const sample = words === '' ? 'nothing' : `"${beginningOf(words, SAMPLE_CHARACTERS)}"`;
  return { kind: 'unreadable', because: `it printed ${sample}, and ${ending}` };
}

/** As half a sentence. @param name undefined for a program that was not tried */
export function howToInstall(name: TriedProgramName | undefined): string {
  if (name === undefined) return 'install it';
  const { title, package: packageName } = TRIED_PROGRAMS[name];
  return `install ${title} (npm install -g ${packageName})`;
}

/** What may help where a program was not understood, as one sentence. */
export function triedVersionAdvice(name: TriedProgramName | undefined): string {
  if (name === undefined)
    return 'Check that it is the program that the settings of its provider mean, in a version that speaks what they say.';
  const { title, package: packageName, newest } = TRIED_PROGRAMS[name];
  return `Use a version of ${title} that was tried: ${triedVersions(name)} (npm install -g ${packageName}@${newest}).`;
}

export interface AskedProgram {
  /** Undefined for one that was not tried. */
  readonly name: TriedProgramName | undefined;
  /** As the settings name it. */
  readonly command: string;
  readonly provider: string;
}

/** What a person should know of it, as a sentence without its end; undefined for a version that was tried. */
export function aboutVersion({ name, command, provider }: AskedProgram, asked: AskedVersion): string | undefined {
  switch (asked.kind) {
    case 'missing':
      return `there is no program "${command}" here: ${howToInstall(name)}, or set program.command of the provider "${provider}" to where it is`;
    case 'unreadable':
      return name === undefined
        ? undefined
        : `the version of ${TRIED_PROGRAMS[name].title} cannot be read (${command} --version): ${asked.because}`;
    case 'told':
      return name === undefined ? undefined : untriedVersion(name, asked.version);
  }
}

/** That a version is none of those that were tried, as a sentence without its end; undefined for one of them. */
export function untriedVersion(name: TriedProgramName, version: string): string | undefined {
  const { title, oldest, newest } = TRIED_PROGRAMS[name];
  if (compared(version, oldest) < 0) return `${title} ${version} is older than ${oldest}, the oldest that was tried`;
  if (compared(version, newest) > 0) return `${title} ${version} is newer than ${newest}, the newest that was tried`;
  return undefined;
}

/** `2.1.332`, or `2.1.300 to 2.1.332`. */
export function triedVersions(name: TriedProgramName): string {
  const { oldest, newest }: TriedProgram = TRIED_PROGRAMS[name];
  return oldest === newest ? newest : `${oldest} to ${newest}`;
}

function isTried(name: string): name is TriedProgramName {
  return Object.hasOwn(TRIED_PROGRAMS, name);
}

function compared(one: string, other: string): number {
  const [ours, theirs] = [numbersOf(one), numbersOf(other)];
  const place = ours.findIndex((number, index) => number !== theirs[index]);
  return place === -1 ? 0 : (ours[place] ?? 0) - (theirs[place] ?? 0);
}

const numbersOf = (version: string): readonly number[] => version.split('.').map(Number);
