/**
 * Checks vaults: files that cannot be read, or that others than their owner may read. What is in them is not looked at
 * any further.
 */
import type { VaultCatalog } from '../../actors/vault/vault-catalog.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { problem, remedyOf } from './finding.ts';
import type { RepairableFinding } from './finding.ts';

/** @param directory where they lie */
export async function checkVaults(
  catalog: Pick<VaultCatalog, 'list'>,
  directory: string,
): Promise<RepairableFinding[]> {
  try {
    return (await catalog.list()).flatMap((listing) =>
      'error' in listing
        ? [
            problem({
              area: 'vaults',
              where: listing.name,
              what: listing.error.message,
              remedy: remedyOf(listing.error),
            }),
          ]
        : [],
    );
  } catch (error) {
    return [
      problem({
        area: 'vaults',
        where: directory,
        what: messageOf(error),
        remedy: (RuntimeError.is(error) ? error.hint : undefined) ?? 'Check who owns it and its permissions.',
      }),
    ];
  }
}
