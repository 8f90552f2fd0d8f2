/**
 * `wakechart store roles`: the statements that make the roles of a database, for an administrator to read and to run.
 */
import { postgresRoles } from '../../adapters/postgres/roles.ts';
import type { PostgresRolesOptions } from '../../adapters/postgres/roles.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';

export async function printRoles({ out, json, store }: CommandContext, words: PostgresRolesOptions): Promise<number> {
  const options = { ...words, schema: words.schema ?? store?.schema };
  const statements = postgresRoles(options);
  if (json) await out.document({ statements });
  else await out.push(statements);
  return EXIT_SUCCESS;
}
