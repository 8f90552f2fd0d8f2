/** Random kills over files. */
import { filesStore } from '../support/store-under-test.ts';
import { randomKills } from './chaos-suite.ts';

randomKills(filesStore);
