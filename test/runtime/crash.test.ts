/** Crashes in the middle of a wake over files. */
import { filesStore } from '../support/store-under-test.ts';
import { crashes } from './crash-suite.ts';

crashes(filesStore);
