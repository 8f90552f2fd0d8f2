/** Runs the command line as users do: as a process of its own, from what is built. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const checkout = fileURLToPath(new URL('../../', import.meta.url));

export const program = join(checkout, 'dist/cli/main.js');

export interface CommandLineOptions {
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** What is piped in, and then closed. Default: nothing is piped in. */
  readonly input?: string | Uint8Array | undefined;
  /** More could be written to it. Default false. */
  readonly keepsInput?: boolean;
  readonly uid?: number | undefined;
  /** Where standard output goes instead of to us: an open file. */
  readonly outputFile?: number | undefined;
}

export interface Ended {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly process: ChildProcess;
  /** What it has written so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly ended: Promise<Ended>;
}

/** What a process that is killed leaves in its temporary folder goes with its home. */
function temporaryFolderFor(words: readonly string[]): { readonly TMPDIR?: string } {
  const home = words[words.indexOf('--home') + 1];
  return words.includes('--home') && home !== undefined && existsSync(home) ? { TMPDIR: home } : {};
}

export function start(
  words: readonly string[],
  { cwd, env, input, keepsInput = false, uid, outputFile }: CommandLineOptions = {},
): RunningCommand {
  const child = spawn(process.execPath, [program, ...words], {
    cwd,
    env: {
      ...process.env,
      WAKECHART_HOME: undefined,
      WAKECHART_STORE: undefined,
      WAKECHART_STORE_FILE: undefined,
      WAKECHART_CONFIG: undefined,
      ...temporaryFolderFor(words),
      ...env,
    },
    stdio: [input === undefined ? 'ignore' : 'pipe', outputFile ?? 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const text = (source: 'stdout' | 'stderr'): string => Buffer.concat(chunks[source]).toString();
  child.stdout?.on('data', (chunk: Buffer) => chunks.stdout.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => chunks.stderr.push(chunk));
  if (child.stdin !== null) {
    // It may end without having read everything.
    child.stdin.on('error', () => undefined);
    if (keepsInput) child.stdin.write(input ?? '');
    else child.stdin.end(input);
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout: text('stdout'), stderr: text('stderr') }));
  });
  return { process: child, stdout: () => text('stdout'), stderr: () => text('stderr'), ended };
}

export function run(words: readonly string[], options: CommandLineOptions = {}): Promise<Ended> {
  return start(words, options).ended;
}

const INTERRUPT_EVERY_MS = 50;

/** Presses Ctrl-C until the command has ended: signals that come too close together count as one. */
export async function interruptedAgainAndAgain({ process: child, ended }: RunningCommand): Promise<Ended> {
  child.kill('SIGINT');
  const timer = setInterval(() => child.kill('SIGINT'), INTERRUPT_EVERY_MS);
  return ended.finally(() => clearInterval(timer));
}

const CHECK_EVERY_MS = 10;
// Below the limits of tests, which are higher for long runs.
const PATIENCE_MS = process.env['CRASH_MATRIX'] === undefined ? 20_000 : 50_000;

/**
 * Waits until `check` gives something, and answers with it. @param patienceMs a limit for what hangs, below that of the
 * test
 */
export async function until<Found>(
  what: string,
  check: () => Found | undefined | false | Promise<Found | undefined | false>,
  patienceMs = PATIENCE_MS,
): Promise<Found> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const found = await check();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await delay(CHECK_EVERY_MS);
  }
}

/** Every line of newline-delimited JSON. */
export function records(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);
}
