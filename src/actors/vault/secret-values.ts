/**
 * Finds out what secrets are. A variable and a file are read each time; a command is run once for all who ask at the
 * same time, and what it has printed is used for five minutes at most. Nothing that is said about a failure holds a
 * value, or anything that a command has written.
 */
import { messageOf } from '../../machines/errors.ts';
import type { SecretDefinition } from '../../machines/vault/vault-definition.ts';
import { sourceOf, valueProblem } from '../../machines/vault/vault-definition.ts';
import type { Clock } from '../clock/clock.ts';
import type { SecretCommand } from '../run/secret-reader.ts';

/** The port to the places where secrets are kept. */
export interface SecretSources {
  /** Looked up each time anew. */
  readonly environment: () => Readonly<Record<string, string | undefined>>;
  /** Runs what prints a secret, such as the program of a keychain. */
  readonly runCommand: SecretCommand;
  /**
   * The text of a file. @throws Error in words that end a sentence beginning with "the file …", and hold nothing of it
   */
  readonly readFile: (path: string) => Promise<string>;
}

/** How long what a command has printed is good, in milliseconds. */
export const PRINTED_KEPT_MS = 5 * 60_000;

export type SecretReading = { readonly value: string } | { readonly problem: string };

interface KeptReading {
  readonly reading: Promise<SecretReading>;
  /** On the steady clock; undefined while the command runs. */
  readAtMs: number | undefined;
}

export interface SecretValuesOptions {
  readonly sources: SecretSources;
  readonly clock: Pick<Clock, 'steadyNow'>;
}

export class SecretValues {
  readonly #options: SecretValuesOptions;
  /** By the words of the command. */
  readonly #printed = new Map<string, KeptReading>();

  constructor(options: SecretValuesOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async read(secret: SecretDefinition): Promise<SecretReading> {
    const reading = await this.#read(secret);
    const problem = 'value' in reading ? valueProblem(reading.value) : undefined;
    return problem === undefined ? reading : { problem: `${sourceOf(secret)} cannot be used: ${problem}` };
  }

  async #read({ env, file, command, value = '' }: SecretDefinition): Promise<SecretReading> {
    if (env !== undefined) return this.#variable(env);
    if (file !== undefined) return this.#file(file);
    return command === undefined ? { value } : this.#command(command);
  }

  #variable(name: string): SecretReading {
    const environment = this.#options.sources.environment();
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    return value === undefined
      ? { problem: `the variable ${name} is not set in the process that runs sessions` }
      : { value };
  }

  async #file(path: string): Promise<SecretReading> {
    try {
      return { value: withoutLineEnd(await this.#options.sources.readFile(path)) };
    } catch (error) {
      return { problem: `the file ${path} ${messageOf(error)}` };
    }
  }

  #command(words: readonly string[]): Promise<SecretReading> {
    const key = JSON.stringify(words);
    const nowMs = this.#options.clock.steadyNow();
    for (const [known, { readAtMs }] of this.#printed)
      if (readAtMs !== undefined && nowMs - readAtMs >= PRINTED_KEPT_MS) this.#printed.delete(known);
    const kept = this.#printed.get(key) ?? this.#run(key, words);
    return kept.reading;
  }

  #run(key: string, words: readonly string[]): KeptReading {
    const kept: KeptReading = { reading: this.#print(words), readAtMs: undefined };
    this.#printed.set(key, kept);
    void kept.reading.then((reading) => {
      // What has failed is tried again by the next caller.
      if ('problem' in reading) this.#printed.delete(key);
      else kept.readAtMs = this.#options.clock.steadyNow();
    });
    return kept;
  }

  async #print(words: readonly string[]): Promise<SecretReading> {
    const program = JSON.stringify(words[0]);
    try {
      const end = await this.#options.sources.runCommand(words, { signal: new AbortController().signal });
      return end.kind === 'failed'
        ? { problem: `the command ${program} ${end.because}` }
        : { value: withoutLineEnd(end.text) };
    } catch {
      return { problem: `the command ${program} could not be run` };
    }
  }
}

/** Only the end of the line: a space may belong to the secret. */
function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}
