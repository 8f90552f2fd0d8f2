/** Found by the model of a schedule: one that failed while it was being stopped told its task that it had completed. */
import { expect, it } from 'vitest';
import { scheduleSubject } from '../properties/charts/schedule-subject.ts';
import { follow } from '../support/chart-model-subject.ts';

it('a schedule whose records cannot be read while it is being stopped has failed, in its chart and for its task', async () => {
  await expect(follow(scheduleSubject, ['stop', 'its records cannot be read'])).resolves.toBeUndefined();
});
