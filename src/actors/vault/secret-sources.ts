/** The port to the places where secrets are kept. */
import type { SecretCommand } from '../run/secret-command.ts';

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
