import { filesStore } from '../support/store-under-test.ts';
import { wordsBetweenProcesses } from './words-suite.ts';

wordsBetweenProcesses(filesStore);
