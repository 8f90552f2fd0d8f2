import { createFileScheduleStore } from '../../../src/adapters/schedule-files/file-schedule-store.ts';
import { describeSharedSchedule } from '../../contracts/shared-schedule.contract.ts';

describeSharedSchedule('in files', async (directory) => ({
  place: directory,
  store: createFileScheduleStore({ directory }),
  dispose: async () => undefined,
}));
