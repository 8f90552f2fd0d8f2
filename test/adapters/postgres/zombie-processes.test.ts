/** A zombie over PostgreSQL. */
import { zombies } from '../../runtime/zombie-suite.ts';
import { postgresStore } from '../../support/postgres-store-under-test.ts';

zombies(postgresStore);
