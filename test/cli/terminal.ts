/** Runs the command line on a terminal of its own, and types into it when it asks. */
import { spawn, spawnSync } from 'node:child_process';
import { program } from './command-line.ts';

/**
 * Gives a command a terminal of this many columns and passes what is typed; `script` is not everywhere, nor with these
 * options.
 */
const onTerminal = (command: string): [terminal: string, words: readonly string[]] => [
  'script',
  ['-qefc', command, '/dev/null'],
];

export const hasTerminals = spawnSync(...onTerminal('true'), { stdio: 'ignore' }).status === 0;

export interface Typed {
  /** Typed once this is shown, and a line end after it. */
  readonly at: RegExp;
  readonly text: string;
}

export interface TerminalOptions {
  readonly columns: number;
  readonly typed?: readonly Typed[];
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface Shown {
  readonly code: number | null;
  /** Without colors, with the line ends of a text. */
  readonly text: string;
  readonly raw: string;
}

/** Colors, and the words that move the cursor and erase a line. */
const COLORS = new RegExp(`${String.fromCharCode(0x1b)}\\[[\\d;]*m`, 'g');
const ERASE_LINE = '\r\u001B[K';
const LINE_UP = '\u001B[1A';
const MOVES = new RegExp(`(\r?\n|${[ERASE_LINE, LINE_UP].map((word) => word.replaceAll('[', '\\[')).join('|')})`);

/** Each answer is typed after what was shown since the one before. */
export async function runOnTerminal(
  words: readonly string[],
  { columns, typed = [], env }: TerminalOptions,
): Promise<Shown> {
  const quoted = [process.execPath, program, ...words].map((word) => `'${word}'`).join(' ');
  const child = spawn(...onTerminal(`stty cols ${columns}; exec ${quoted}`), {
    env: { ...process.env, NO_COLOR: undefined, TERM: 'xterm', WAKECHART_HOME: undefined, ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let raw = '';
  let seen = 0;
  const left = [...typed];
  child.stdin.on('error', () => undefined);
  child.stdout.on('data', (chunk: Buffer) => {
    raw += chunk.toString();
    const [next] = left;
    if (next === undefined || !next.at.test(plain(raw.slice(seen)))) return;
    seen = raw.length;
    left.shift();
    child.stdin.write(`${next.text}\n`);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, raw, text: plain(raw) };
}

/** What stands on the terminal in the end. Lines are taken back from the last one up, as `Progress` does it. */
function plain(raw: string): string {
  const lines = [''];
  for (const part of raw.replaceAll(COLORS, '').split(MOVES)) {
    if (part === ERASE_LINE) lines[lines.length - 1] = '';
    else if (part === LINE_UP) lines.pop();
    else if (/^\r?\n$/.test(part)) lines.push('');
    else lines[lines.length - 1] += part;
  }
  return lines.join('\n');
}
