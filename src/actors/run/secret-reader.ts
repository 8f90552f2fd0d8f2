/**
 * Reads the secrets that auth profiles refer to. A variable is read each time; a command is run by one for all who ask
 * at the same time, and its value is given out for five minutes at most. No error holds a value, or anything that a
 * command has written.
 */
import { RuntimeError } from '../../machines/errors.ts';
import type { AuthProfile } from '../../machines/run/auth-profile.ts';
import type { Clock } from '../clock/clock.ts';
import type { RunCredential } from './agent-runtime.ts';

/** How long the value of a command is good, in milliseconds. */
export const SECRET_KEPT_MS = 5 * 60_000;

export type SecretCommandEnd =
  | { readonly kind: 'printed'; readonly text: string }
  /** `because`: the end of a sentence that begins with "the command". Nothing that it has written is in it. */
  | { readonly kind: 'failed'; readonly because: string };

/** The port to commands that print a secret, such as those of keychains. */
export interface SecretCommand {
  /**
   * Runs a program with its arguments, not through a shell, and resolves when it has ended, or was ended for taking too
   * long or saying too much. When `signal` aborts it is ended; what it resolves with then does not matter.
   */
  (command: readonly string[], options: { readonly signal: AbortSignal }): Promise<SecretCommandEnd>;
}

export interface SecretReaderOptions {
  readonly clock: Pick<Clock, 'steadyNow'>;
  /** Where variables are looked up, each time anew. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly runCommand: SecretCommand;
}

/** One run of a command, for all who asked while it ran. */
interface SharedRun {
  readonly command: string;
  readonly value: Promise<string>;
  readonly controller: AbortController;
  askers: number;
}

interface KeptValue {
  readonly command: string;
  readonly value: string;
  readonly readAtMs: number;
}

export class SecretReader {
  readonly #options: SecretReaderOptions;
  /** By profile. */
  readonly #running = new Map<string, SharedRun>();
  readonly #kept = new Map<string, KeptValue>();

  constructor(options: SecretReaderOptions) {
    this.#options = options;
  }

  /** @throws RuntimeError AUTH_VALUE_MISSING, or the reason of `signal` */
  async credential(profile: AuthProfile, signal?: AbortSignal): Promise<RunCredential> {
    signal?.throwIfAborted();
    const { id, secret, environment } = profile;
    const value =
      secret === undefined
        ? undefined
        : 'env' in secret
          ? this.#variable(id, secret.env)
          : await this.#printed(id, secret.command, signal);
    return {
      profileId: id,
      ...(value === undefined ? {} : { secret: value }),
      ...(environment === undefined ? {} : { environment }),
    };
  }

  /** The value was refused, or the profile is another now: it is read anew when a caller asks again. */
  forget(profileId: string): void {
    this.#kept.delete(profileId);
    // Those who wait for it get it; no other joins them.
    this.#running.delete(profileId);
  }

  #variable(profileId: string, name: string): string {
    const { environment } = this.#options;
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (value === undefined || value === '') {
      throw missing(
        profileId,
        `the variable ${name} is ${value === undefined ? 'not set' : 'empty'}`,
        `Set ${name} in the environment of the process that runs sessions, such as that of the worker.`,
      );
    }
    return oneLineOf(profileId, value, `the variable ${name}`);
  }

  async #printed(profileId: string, words: readonly string[], signal: AbortSignal | undefined): Promise<string> {
    this.#dropOld();
    const command = JSON.stringify(words);
    const kept = this.#kept.get(profileId);
    if (kept?.command === command) return kept.value;
    const known = this.#running.get(profileId);
    const run = known?.command === command ? known : this.#start(profileId, words, command);
    return this.#join(profileId, run, signal);
  }

  #start(profileId: string, words: readonly string[], command: string): SharedRun {
    const controller = new AbortController();
    const run: SharedRun = { command, controller, askers: 0, value: this.#run(profileId, words, controller.signal) };
    this.#running.set(profileId, run);
    void this.#keepFrom(profileId, run);
    return run;
  }

  /** Waits before any other caller does, so that it has been kept by the time they are told. */
  async #keepFrom(profileId: string, run: SharedRun): Promise<void> {
    try {
      const value = await run.value;
      // A caller may have said meanwhile that it is to be forgotten.
      if (this.#running.get(profileId) === run)
        this.#kept.set(profileId, { command: run.command, value, readAtMs: this.#options.clock.steadyNow() });
    } catch {
      // Those who asked are told.
    } finally {
      if (this.#running.get(profileId) === run) this.#running.delete(profileId);
    }
  }

  async #run(profileId: string, words: readonly string[], signal: AbortSignal): Promise<string> {
    const end = await this.#options.runCommand(words, { signal });
    const [program = ''] = words;
    if (end.kind === 'failed')
      throw missing(
        profileId,
        `the command ${JSON.stringify(program)} ${end.because}`,
        'Run the command in a shell and see what it says; it must print the secret and nothing else.',
      );
    // Only the end of the line: a space may belong to the secret.
    const value = end.text.replace(/\r?\n$/, '');
    if (value === '')
      throw missing(
        profileId,
        `the command ${JSON.stringify(program)} has printed nothing`,
        'Run the command in a shell; it must print the secret and nothing else.',
      );
    return oneLineOf(profileId, value, `what the command ${JSON.stringify(program)} has printed`);
  }

  /** A caller that does not want to wait any more leaves alone; with the last one the command is ended. */
  async #join(profileId: string, run: SharedRun, signal: AbortSignal | undefined): Promise<string> {
    run.askers += 1;
    let leave = (): void => undefined;
    const left = new Promise<never>((_, reject) => {
      leave = () => reject(signal?.reason as Error);
    });
    signal?.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([run.value, left]);
    } finally {
      signal?.removeEventListener('abort', leave);
      run.askers -= 1;
      if (run.askers === 0) {
        if (this.#running.get(profileId) === run) this.#running.delete(profileId);
        run.controller.abort();
      }
    }
  }

  #dropOld(): void {
    const nowMs = this.#options.clock.steadyNow();
    for (const [profileId, { readAtMs }] of this.#kept)
      if (nowMs - readAtMs >= SECRET_KEPT_MS) this.#kept.delete(profileId);
  }
}

/** A key is sent in a header: one with a line end in it would be refused there in words that quote it. */
function oneLineOf(profileId: string, value: string, what: string): string {
  if (/[\r\n\0]/.test(value))
    throw missing(profileId, `${what} is more than one line`, 'It must be the secret and nothing else.');
  return value;
}

function missing(profileId: string, problem: string, hint: string): RuntimeError {
  return new RuntimeError('AUTH_VALUE_MISSING', `auth profile "${profileId}" has no value: ${problem}`, {
    category: 'not_found',
    hint,
    details: { profileId },
  });
}
