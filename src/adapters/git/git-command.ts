/**
 * Runs git: never in the way of the event loop, never longer than a limit, in an environment that leads it nowhere
 * else.
 *
 * Paths are bytes to git and to the file system. What git prints is read as latin1, one character for each byte, so
 * that every name stays what it is; `shownPath` makes one readable.
 */
import { Buffer } from 'node:buffer';
import { GitFailure } from './worktree-errors.ts';
import { READING, gitEnvironment, settingVariables } from './git-settings.ts';
import { DEFAULT_KILL_GRACE_MS } from '../../machines/task/task-settings.ts';

/** An index of a million files prints less. */
const MAX_OUTPUT_CHARACTERS = 256 * 1024 * 1024;

export interface GitOptions {
  readonly gitPath: string;
  /** For each command, in milliseconds. */
  readonly timeoutMs: number;
}

export interface GitCall {
  readonly cwd: string;
  /** Filters that may not run; default none is named. */
  readonly filters?: readonly string[] | undefined;
  readonly runGitHooks?: boolean | undefined;
  /** Further settings, as `name=value`. */
  readonly settings?: readonly string[] | undefined;
  /** Changes something: takes the locks that it needs. */
  readonly writes?: boolean | undefined;
  /** Bytes as characters. */
  readonly input?: string | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

type Execa = typeof import('execa').execa;

let loading: Promise<Execa> | undefined;

/** Loaded with the first command: most runtimes never make a worktree. */
function loadExeca(): Promise<Execa> {
  loading ??= import('execa').then(({ execa }) => execa);
  return loading;
}

export class GitCommand {
  readonly #options: GitOptions;

  constructor(options: GitOptions) {
    this.#options = options;
  }

  /** @returns what it prints, a character for each byte. @throws GitFailure when it does not end with 0, in time */
  async run(command: readonly string[], call: GitCall): Promise<string> {
    const execa = await loadExeca();
    const { cwd, filters = [], runGitHooks, settings, writes, input, environment, signal } = call;
    const { timeoutMs, gitPath } = this.#options;
    const result = await execa(gitPath, [...command], {
      cwd,
      env: {
        ...gitEnvironment(process.env),
        ...settingVariables({ filters, runGitHooks, more: settings }),
        ...(writes === true ? {} : READING),
        ...environment,
      },
      extendEnv: false,
      ...(input === undefined ? { stdin: 'ignore' } : { input: Buffer.from(input, 'latin1') }),
      ...(signal === undefined ? {} : { cancelSignal: signal }),
      encoding: 'latin1',
      stripFinalNewline: false,
      maxBuffer: MAX_OUTPUT_CHARACTERS,
      timeout: timeoutMs,
      forceKillAfterDelay: DEFAULT_KILL_GRACE_MS,
      windowsHide: true,
      reject: false,
    });
    if (!result.failed) return result.stdout;
    throw failureOf(command, result, timeoutMs);
  }
}

interface Ended {
  readonly timedOut: boolean;
  readonly isCanceled: boolean;
  readonly isMaxBuffer: boolean;
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
  readonly code?: string | undefined;
  readonly stderr?: unknown;
}

function failureOf(command: readonly string[], ended: Ended, timeoutMs: number): GitFailure {
  const what = `git ${command.find((word) => !word.startsWith('-')) ?? ''}`;
  const stderr = typeof ended.stderr === 'string' ? shownPath(ended.stderr) : '';
  const { exitCode } = ended;
  if (ended.isCanceled) return new GitFailure(`${what} was aborted`, { kind: 'aborted', stderr });
  if (ended.timedOut)
    return new GitFailure(`${what} did not end within ${timeoutMs} ms`, { kind: 'timed_out', stderr: '' });
  if (ended.isMaxBuffer)
    return new GitFailure(`${what} printed more than ${MAX_OUTPUT_CHARACTERS} bytes`, { kind: 'too_much', stderr: '' });
  if (exitCode === undefined && ended.signal === undefined)
    return new GitFailure(`${what} could not be started (${ended.code ?? 'unknown reason'})`, {
      kind: 'missing',
      stderr,
    });
  return new GitFailure(
    `${what} ended with ${exitCode === undefined ? (ended.signal ?? '') : `exit code ${exitCode}`}`,
    { kind: 'failed', stderr, exitCode },
  );
}

/** A path of bytes, for people. */
export function shownPath(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** A path as git prints it, for comparison with what it prints. */
export function bytesOf(path: string): string {
  return Buffer.from(path, 'utf8').toString('latin1');
}
