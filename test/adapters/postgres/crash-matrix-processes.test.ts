/**
 * The crash matrix over PostgreSQL: every change that it is asked for is two operations, before it is sent and before
 * its answer is used.
 */
import { crashMatrix } from '../../runtime/crash-matrix-suite.ts';
import { postgresStore } from '../../support/postgres-store-under-test.ts';

crashMatrix({
  store: postgresStore,
  atLeast: { wake: 40, send: 6, child: 50, copies: 12, answer: 50, subflow: 80, worker: 55 },
  // An append also takes and releases the lease and stores the view.
  kinds: [
    /^ask append_(one|events)_1$/,
    /^answer append_(one|events)_1$/,
    /^answer claim$/,
    /^answer worker$/,
    /^effect begins$/,
  ],
});
