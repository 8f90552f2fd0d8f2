/** The port to commands that print a secret, such as those of keychains. */

export type SecretCommandEnd =
  | { readonly kind: 'printed'; readonly text: string }
  /** `because`: the end of a sentence that begins with "the command". Nothing that it has written is in it. */
  | { readonly kind: 'failed'; readonly because: string };

export interface SecretCommand {
  /**
   * Runs a program with its arguments, not through a shell, and resolves when it has ended, or was ended for taking too
   * long or saying too much. When `signal` aborts it is ended; what it resolves with then does not matter.
   */
  (command: readonly string[], options: { readonly signal: AbortSignal }): Promise<SecretCommandEnd>;
}
