/** The life of a schedule, with the real one. */
import { describeModel } from '../../support/chart-model-suite.ts';
import { scheduleSubject } from './schedule-subject.ts';

describeModel('a schedule', scheduleSubject, { runs: 25 });
