/** A zombie over files. */
import { filesStore } from '../support/store-under-test.ts';
import { zombies } from './zombie-suite.ts';

zombies(filesStore);
