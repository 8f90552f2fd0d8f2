import { wordsBetweenProcesses } from '../../runtime/words-suite.ts';
import { postgresStore } from '../../support/postgres-store-under-test.ts';

wordsBetweenProcesses(postgresStore);
