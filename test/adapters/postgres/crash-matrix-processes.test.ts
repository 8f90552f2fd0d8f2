/**
 * The crash matrix over PostgreSQL: every change that it is asked for is two operations, before it is sent and while the
 * server is at it.
 */
import { crashMatrix } from '../../runtime/crash-matrix-suite.ts';
import { postgresStore } from '../../support/postgres-store-under-test.ts';

crashMatrix({
  store: postgresStore,
  atLeast: { wake: 35, send: 6, child: 40, copies: 12, answer: 45, subflow: 80, worker: 40 },
  // An append also takes and releases the lease and stores the view.
  kinds: [
    /^ask append_(one|events)_1$/,
    /^answer append_(one|events)_1$/,
    /^answer claim$/,
    /^answer worker$/,
    /^effect begins$/,
  ],
});
