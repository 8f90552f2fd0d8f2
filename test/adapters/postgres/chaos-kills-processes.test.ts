/** Random kills over PostgreSQL. */
import { randomKills } from '../../runtime/chaos-suite.ts';
import { postgresStore } from '../../support/postgres-store-under-test.ts';

randomKills(postgresStore);
