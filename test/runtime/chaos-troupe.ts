/**
 * The processes of a chaos run: each is started, killed, stopped for a while and started again; none is left when it is
 * over.
 */
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
  readonly #temporaryFolder: string;
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #atWork: Promise<void> = Promise.resolve();
  #hearers: (() => void)[] = [];
  /** How it ended when nobody had ended it: that must not happen. */
  readonly unexpected: string[] = [];
  #isMeantToEnd = false;

  /** @param temporaryFolder what a killed process leaves there is nobody's business afterwards */
  constructor(name: string, words: readonly string[], temporaryFolder: string) {
    this.name = name;
    this.#words = words;
    this.#temporaryFolder = temporaryFolder;
  }

  start(): void {
    this.lives += 1;
    this.#isMeantToEnd = false;
    const child = spawn(process.execPath, this.#words, {
      env: { ...process.env, WAKECHART_HOME: undefined, TMPDIR: this.#temporaryFolder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    child.stdout?.on('data', () => {
      for (const hear of this.#hearers.splice(0)) hear();
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      if (this.complaints.length < MAX_COMPLAINTS) this.complaints += text;
    });
    this.#atWork = new Promise((resolve) => {
      child.stdout?.on('data', () => resolve());
      child.once('close', () => resolve());
    });
    this.#ended = new Promise((resolve) => {
      child.once('close', (code, signal) => {
        if (!this.#isMeantToEnd) this.unexpected.push(`${this.name} ended by itself with ${code ?? signal}`);
        resolve();
      });
    });
  }

  /** Resolves when it has said something on standard output, or is gone. */
  atWork(): Promise<void> {
    return this.#atWork;
  }

  /** Resolves at the next thing that it says on standard output: a worker says when it wakes a session. */
  says(): Promise<void> {
    return new Promise((resolve) => this.#hearers.push(resolve));
  }

  get pid(): number | undefined {
    return this.#child?.pid;
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
  /** Whether so much was done by then that it says something; until then the trouble goes on. */
  readonly isEnough: () => Promise<boolean>;
  readonly pause: (durationMs: number) => Promise<void>;
  /** Hears of every process that was killed. */
  readonly onKilled?: ((pid: number) => Promise<void>) | undefined;
}

const LONGEST_PEACE_MS = 500;
const LONGEST_STOP_MS = 1_500;
const STOP_CHANCE = 0.25;
const LONGEST_START_MS = 2_500;
/** How often a player is hit although it may not have come to work yet. */
const EARLY_CHANCE = 0.2;

/**
 * Kills players at random and starts them again, or stops them for a while, one after the other. @returns what it did,
 * line by line
 */
export async function makeTrouble({
  players,
  random,
  durationMs,
  isEnough,
  pause,
  onKilled,
}: Troublemaker): Promise<string[]> {
  const done: string[] = [];
  const begun = performance.now();
  const elapsedMs = (): number => Math.round(performance.now() - begun);
  const stopped: Promise<void>[] = [];
  while (elapsedMs() < durationMs || !(await isEnough())) {
    const player = players[Math.floor(random() * players.length)];
    if (player === undefined) break;
    // On a machine that is busy most would die before they have done anything. One may find nothing to do, and say
    // nothing.
    if (random() >= EARLY_CHANCE) await Promise.race([player.atWork(), pause(LONGEST_START_MS)]);
    await pause(random() * LONGEST_PEACE_MS);
    if (random() < STOP_CHANCE) {
      done.push(`${elapsedMs()} ms: stop ${player.name}`);
      player.stop();
      stopped.push(pause(random() * LONGEST_STOP_MS).then(() => player.goOn()));
    } else {
      done.push(`${elapsedMs()} ms: kill ${player.name}`);
      const { pid } = player;
      await player.end('SIGKILL');
      if (pid !== undefined) await onKilled?.(pid);
      player.start();
    }
  }
  await Promise.all(stopped);
  return done;
}
