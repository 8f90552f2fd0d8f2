/**
 * Where tenants are shut apart: which of them a role works for. One that works for none sees an empty store, which is
 * not the same as there being nothing.
 */
import { RuntimeError } from '../../machines/errors.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { shownUrl } from './postgres-url.ts';

type Bound = Pick<PostgresDatabase, 'schema' | 'run'>;

/**
 * `open`: no row is kept from this user. `tenant`: he sees the rows of that one alone. `none`: he works for none, so
 * there is no row that he sees. `watched`: a policy of his own shows him rows, as it does to a user who monitors.
 */
export type Tenancy = { readonly is: 'open' | 'none' | 'watched' } | { readonly is: 'tenant'; readonly tenant: string };

interface TenancyRow {
  readonly is_shut: boolean;
  readonly has_policy: boolean;
  readonly has_tenants: boolean;
}

/** @throws RuntimeError STORAGE_FAILED */
export async function tenancyOf(database: Bound): Promise<Tenancy> {
  const { schema } = database;
  const [tenancy] = await database.run<TenancyRow>(
    `SELECT row_security_active(c.oid) AS is_shut, to_regprocedure($2) IS NOT NULL AS has_tenants,
       EXISTS (SELECT FROM pg_policy p JOIN pg_roles r ON r.oid = ANY (p.polroles) WHERE p.polrelid = c.oid AND r.rolname = current_user) AS has_policy
     FROM pg_class c WHERE c.oid = to_regclass($1)`,
    [`${schema}.session`, `${schema}.own_tenant()`],
  );
  if (tenancy === undefined || !tenancy.is_shut || !tenancy.has_tenants) return { is: 'open' };
  if (tenancy.has_policy) return { is: 'watched' };
  const [row] = await database.run<{ readonly tenant: string | null }>(`SELECT ${schema}.own_tenant() AS tenant`);
  return typeof row?.tenant === 'string' ? { is: 'tenant', tenant: row.tenant } : { is: 'none' };
}

/**
 * Whether a user who does not see all rows could take another tenant. The owner of the tables may, and nothing is kept
 * from him.
 */
export async function mayChooseTenant(database: Bound): Promise<boolean> {
  const [row] = await database.run<{ readonly may: boolean }>(
    `SELECT row_security_active(s.oid) AND (has_table_privilege(t.oid, 'INSERT, UPDATE, DELETE, TRUNCATE') OR has_any_column_privilege(t.oid, 'INSERT, UPDATE')) AS may
     FROM pg_class s, pg_class t WHERE s.oid = to_regclass($1) AND t.oid = to_regclass($2)`,
    [`${database.schema}.session`, `${database.schema}.tenant_role`],
  );
  return row?.may === true;
}

/** @throws RuntimeError STORE_TENANT_MISSING, STORAGE_FAILED */
export async function assertTenant(database: Bound, url: string): Promise<void> {
  if ((await tenancyOf(database)).is !== 'none') return;
  throw new RuntimeError(
    'STORE_TENANT_MISSING',
    `expected a user who works for a tenant: ${shownUrl(url)} shuts tenants apart, and this user is in none and would see nothing`,
    {
      category: 'validation',
      hint: 'Connect as the user of a tenant; to give this one a tenant, an administrator runs what `wakechart store roles --runtime ROLE --tenant NAME` prints. The owner of the schema sees every tenant.',
    },
  );
}
