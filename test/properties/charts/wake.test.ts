/** The life of a wake, with the real one. */
import { afterAll, beforeAll } from 'vitest';
import { describeModel } from '../../support/chart-model-suite.ts';
import { closeWakes, openWakes, wakeSubject } from './wake-subject.ts';

beforeAll(openWakes);
afterAll(closeWakes);

describeModel('a wake', wakeSubject, { runs: 12, maxCommands: 40 });
