/**
 * The vaults that an environment names, looked up before a wake does: one that is missing keeps every wake from
 * beginning.
 */
import { RuntimeError } from '../../machines/errors.ts';
import { FileVaultCatalog } from '../../adapters/vault-files/file-vault-catalog.ts';

/** The folder of the vaults in a home. */
export const VAULTS_FOLDER = 'vaults';

/** @param directory where they lie @returns why some could not be opened now; no secret is read */
export async function vaultProblems(directory: string, names: readonly string[]): Promise<readonly RuntimeError[]> {
  const catalog = new FileVaultCatalog({ directory });
  const found = await Promise.all(
    names.map((name) =>
      catalog.get(name).then(
        () => undefined,
        (error: unknown) => error,
      ),
    ),
  );
  return found.filter((error) => RuntimeError.is(error));
}
