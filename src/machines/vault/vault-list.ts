/** The tool `vault_list`, as a model sees it: which secrets there are. No value is ever told. */
import * as z from 'zod';
import { readsOnly } from '../turn/tool-definition.ts';
import type { ToolDefinition } from '../turn/tool-definition.ts';

const vaultListInput = z.strictObject({});

const output = z.strictObject({
  secrets: z.array(
    z.strictObject({
      reference: z.string(),
      description: z.string().optional(),
      hosts: z.array(z.string()),
      commands: z.boolean(),
      problem: z.string().optional(),
    }),
  ),
});

export type VaultListInput = z.output<typeof vaultListInput>;

export type VaultListOutput = z.output<typeof output>;

export const vaultListDefinition: ToolDefinition<VaultListInput> = {
  name: 'vault_list',
  description:
    'Lists the secrets that you may use, as vault/name: what each is for, the hosts it may be sent to, whether commands may have it, and why one cannot be used now. Values are never shown: give the reference where a tool takes one.',
  inputSchema: vaultListInput,
  outputSchema: output,
  ...readsOnly,
  family: 'vaults',
  effects: [],
};
