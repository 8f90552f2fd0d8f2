/** `vault_list`: which secrets the session may use, what they are for and where they may go. */
import { vaultListDefinition } from '../../machines/vault/vault-list.ts';
import type { VaultListInput, VaultListOutput } from '../../machines/vault/vault-list.ts';
import type { Tool } from '../turn/tool.ts';

export function createVaultListTool(): Tool<VaultListInput> {
  return {
    definition: vaultListDefinition,
    async run(_input, { environment }) {
      const secrets = (environment?.secrets.names ?? []).map(
        ({ reference, description, hosts, isForCommands, problem }) => ({
          reference,
          ...(description === undefined ? {} : { description }),
          hosts: [...hosts],
          commands: isForCommands,
          ...(problem === undefined ? {} : { problem }),
        }),
      );
      return { secrets } satisfies VaultListOutput;
    },
  };
}
