/** The crash matrix over PostgreSQL: every statement is two operations, before it is sent and before its answer is used. */
import { crashMatrix } from '../../runtime/crash-matrix-suite.ts';
import { postgresStore } from '../../support/postgres-store-under-test.ts';

crashMatrix({
  store: postgresStore,
  atLeast: { wake: 30, send: 10, child: 30, copies: 10, answer: 30, subflow: 50, worker: 50 },
  kinds: [/^before append_1$/, /^after append_1$/, /^after acquire_lease_1$/, /^after release_leases_1$/, /^after view$/, /^after worker$/, /^effect begins$/],
});
