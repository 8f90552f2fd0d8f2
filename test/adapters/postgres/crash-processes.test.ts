/** Crashes in the middle of a wake over PostgreSQL. */
import { crashes } from '../../runtime/crash-suite.ts';
import { postgresStore } from '../../support/postgres-store-under-test.ts';

crashes(postgresStore);
