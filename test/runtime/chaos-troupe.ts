/** The processes of a chaos run: each is started, killed, stopped for a while and started again; none is left when it is over. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';

/** What a process said on standard error is kept up to here, in characters. */
const MAX_COMPLAINTS = 20_000;

export class Player {
  readonly name: string;
  /** What it has written to standard error, over all its lives. */
  complaints = '';
  /** How often it was started. */
  lives = 0;
  readonly #words: readonly string[];
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  /** How it ended when nobody had ended it: that must not happen. */
  readonly unexpected: string[] = [];
  #isMeantToEnd = false;

  constructor(name: string, words: readonly string[]) {
    this.name = name;
    this.#words = words;
  }

  start(): void {
    this.lives += 1;
    this.#isMeantToEnd = false;
    const child = spawn(process.execPath, this.#words, { env: { ...process.env, WAKECHART_HOME: undefined }, stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (this.complaints.length < MAX_COMPLAINTS) this.complaints += text;
    });
    this.#ended = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        if (!this.#isMeantToEnd) this.unexpected.push(`${this.name} ended by itself with ${code ?? signal}`);
        resolve();
      });
    });
  }

  stop(): void {
    this.#child?.kill('SIGSTOP');
  }

  goOn(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Resolves when it is gone. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.#isMeantToEnd = true;
    // One that is stopped would not hear a SIGTERM.
    this.goOn();
    this.#child?.kill(signal);
    return this.#ended;
  }
}

export interface Troublemaker {
  readonly players: readonly Player[];
  readonly random: () => number;
  readonly durationMs: number;
  readonly pause: (durationMs: number) => Promise<void>;
}

const LONGEST_PEACE_MS = 500;
const LONGEST_STOP_MS = 1_500;
const STOP_CHANCE = 0.25;

/** Kills players at random and starts them again, or stops them for a while, one after the other. @returns what it did, line by line */
export async function makeTrouble({ players, random, durationMs, pause }: Troublemaker): Promise<string[]> {
  const done: string[] = [];
  const begun = performance.now();
  const elapsedMs = (): number => Math.round(performance.now() - begun);
  const stopped: Promise<void>[] = [];
  while (elapsedMs() < durationMs) {
    await pause(random() * LONGEST_PEACE_MS);
    const player = players[Math.floor(random() * players.length)];
    if (player === undefined) break;
    if (random() < STOP_CHANCE) {
      done.push(`${elapsedMs()} ms: stop ${player.name}`);
      player.stop();
      stopped.push(pause(random() * LONGEST_STOP_MS).then(() => player.goOn()));
    } else {
      done.push(`${elapsedMs()} ms: kill ${player.name}`);
      await player.end('SIGKILL');
      player.start();
    }
  }
  await Promise.all(stopped);
  return done;
}
