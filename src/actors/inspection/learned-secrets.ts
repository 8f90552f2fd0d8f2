/**
 * The secrets of a runtime, before an inspector shows it: its vaults are read, so that what is shown is without
 * those that this process has not used yet.
 */

/** What a runtime knows of its secrets. */
export interface SecretsOfRuntime {
  /** @returns those that cannot be known here, by name */
  readonly learnSecrets?: (() => Promise<readonly string[]>) | undefined;
}

/** Where not even the names of vaults could be read. */
const ALL_UNKNOWN: readonly string[] = ['those of all vaults'];

/** In what people are told. */
const MAX_NAMED_SECRETS = 20;

/** Never rejects. @returns the secrets that stay unknown, by name */
export async function learnedSecrets(
  { learnSecrets }: SecretsOfRuntime,
  onProblem: (error: unknown) => void,
): Promise<readonly string[]> {
  try {
    return (await learnSecrets?.()) ?? [];
  } catch (error) {
    onProblem(error);
    return ALL_UNKNOWN;
  }
}

/** For people who check, in a sentence; none where every secret is known. */
export function notesOnSecrets(unknown: readonly string[]): readonly string[] {
  return unknown.length === 0
    ? []
    : [`Secrets that are not known here, and so are shown as they are wherever they stand: ${namedSecrets(unknown)}.`];
}

export function namedSecrets(unknown: readonly string[]): string {
  const more = unknown.length - MAX_NAMED_SECRETS;
  return `${unknown.slice(0, MAX_NAMED_SECRETS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
