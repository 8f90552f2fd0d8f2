/**
 * A terminal for tests as people have it: tmux, whose screen is read back as text. Where it is missing tests are skipped
 * and counted, with a word about it; in CI that is a failure.
 */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { program } from '../cli/command-line.ts';
import { isAlive } from '../cli/processes.ts';

/** For `describe.skipIf(!hasTmux)`. */
export const hasTmux = spawnSync('tmux', ['-V'], { stdio: 'ignore' }).status === 0;

if (!hasTmux) {
  const word = 'tmux: it is missing; what people see in a chat is not tested. Install it with apt-get install tmux.';
  if (process.env['CI'] === 'true') throw new Error(word);
  process.stderr.write(`${word}\n`);
}

const BASH = 'bash --norc --noprofile';

const execute = promisify(execFile);

export interface TerminalSize {
  readonly columns?: number;
  readonly rows?: number;
}

export interface TmuxOptions extends TerminalSize {
  readonly env?: Readonly<Record<string, string>>;
  /** Default: bash, without settings of a user. */
  readonly shell?: string;
}

/** What differs from run to run. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, 'SESSION'],
  [/\d+(?:\.\d)? s\b/g, 'TIME'],
  [/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/gu, '*'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'DATE'],
];

export class Tmux {
  readonly #folder = mkdtempSync(join(tmpdir(), 'tmux-'));

  /** A shell in a terminal of this size. */
  static async open({ columns = 80, rows = 24, env = {}, shell = BASH }: TmuxOptions = {}): Promise<Tmux> {
    const tmux = new Tmux();
    const variables = {
      TERM: 'screen',
      PS1: '$ ',
      TMPDIR: tmpdir(),
      LANG: 'C.UTF-8',
      TZ: 'UTC',
      WAKECHART_HOME: '',
      NO_COLOR: '',
      ...env,
    };
    const words = Object.entries(variables).map(([name, value]) => `${name}='${value}'`);
    const size = ['-x', String(columns), '-y', String(rows)];
    await tmux.#do('-f', '/dev/null', 'new-session', '-d', '-s', 't', ...size, `exec env ${words.join(' ')} ${shell}`);
    await tmux.shows(/[$%>#]/);
    return tmux;
  }

  /** Types a command of ours and the key that ends a line. */
  async run(...words: readonly string[]): Promise<void> {
    const line = [process.execPath, program, ...words].map((word) => `'${word}'`).join(' ');
    await this.line(`clear; ${line}`);
  }

  /** Keys by their names, as tmux calls them: `C-c`, `Enter`, `y`. */
  async keys(...names: readonly string[]): Promise<void> {
    await this.#do('send-keys', '-t', 't', ...names);
  }

  /** A text, key by key. */
  async text(text: string): Promise<void> {
    await this.#do('send-keys', '-t', 't', '-l', text);
  }

  async line(text: string): Promise<void> {
    await this.text(text);
    await this.keys('Enter');
  }

  /** As a terminal does it that marks what is pasted. */
  async paste(text: string): Promise<void> {
    await this.#do('set-buffer', text);
    await this.#do('paste-buffer', '-p', '-t', 't');
  }

  async resize({ columns = 80, rows = 24 }: TerminalSize): Promise<void> {
    await this.#do('resize-window', '-t', 't', '-x', String(columns), '-y', String(rows));
  }

  /** Its lines, without empty ones at the end. @param history what has scrolled away too */
  async screen({ history = false } = {}): Promise<string> {
    const all = await this.#do('capture-pane', '-p', '-t', 't', ...(history ? ['-S', '-'] : []));
    return VARYING.reduce((text, [pattern, word]) => text.replaceAll(pattern, word), all)
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n')
      .trim();
  }

  /** Waits until the screen shows it. */
  async shows(expected: RegExp | string): Promise<void> {
    const pattern = typeof expected === 'string' ? literal(expected) : expected;
    await expect.poll(() => this.screen(), { timeout: 25_000 }).toMatch(pattern);
  }

  /** The processes in it, but for the shell. */
  async processIds(): Promise<number[]> {
    const shell = (await this.#do('list-panes', '-t', 't', '-F', '#{pane_pid}')).trim();
    const { stdout } = await execute('ps', ['-o', 'pid=', '--ppid', shell]);
    return stdout.split('\n').filter(Boolean).map(Number);
  }

  /** Ends what runs in it, and waits for that: a program that is hung up still writes to its home. */
  async close(): Promise<void> {
    const programs = await this.processIds().catch(() => []);
    await this.#do('kill-server').catch(() => undefined);
    await expect.poll(() => programs.filter(isAlive), { timeout: 25_000 }).toEqual([]);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #do(...words: readonly string[]): Promise<string> {
    const { stdout } = await execute('tmux', ['-S', join(this.#folder, 'socket'), ...words]);
    return stdout;
  }
}

function literal(text: string): RegExp {
  return new RegExp(text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
}
