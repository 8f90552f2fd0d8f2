/**
 * Found by the model of a wake: what came in between the decision to end and the end was folded by whoever followed the
 * log, so that the end was stored behind it as if it had been decided upon.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { closeWakes, openWakes, wakeSubject } from '../properties/charts/wake-subject.ts';
import { follow } from '../support/chart-model-subject.ts';

const WORK = 'the part does its work';
const COMES = 'a message comes';

beforeAll(openWakes);
afterAll(closeWakes);

it.each([
  ['that would rest', [COMES, WORK, WORK, WORK, 'the model says something', WORK, COMES, WORK, WORK, WORK]],
  ['that was stopped', [COMES, WORK, 'somebody stops it', WORK, COMES, WORK]],
])('a wake %s folds again when a message comes before its end is stored', async (_which, plan) => {
  await expect(follow(wakeSubject, plan)).resolves.toBeUndefined();
});
