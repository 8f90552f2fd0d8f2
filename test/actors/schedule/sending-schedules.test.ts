/** What is told of the schedules that send to sessions. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sendingSchedules } from '../../../src/actors/schedule/sending-schedules.ts';
import { MINUTE, openDurableStage } from './durable-stage.ts';
import type { DurableStage } from './durable-stage.ts';

let stage: DurableStage;

beforeEach(async () => {
  stage = await openDurableStage();
});
afterEach(() => stage.close());

const told = (): ReturnType<typeof sendingSchedules> => sendingSchedules(stage.registry);

it('tells since when one is due that no worker has fired, some seconds after that', async () => {
  await stage.add();
  await stage.clock.advance(MINUTE + 4_000);
  expect(await told()).toEqual([
    { id: 'nightly', sessionId: stage.sessionId, status: 'active', nextFireAt: '2026-01-01T00:01:00.000Z' },
  ]);
  await stage.clock.advance(2_000);
  expect(await told()).toMatchObject([{ dueSince: '2026-01-01T00:01:00.000Z' }]);
  await stage.registry.pause('nightly');
  const [paused] = await told();
  expect(paused).toMatchObject({ status: 'paused' });
  expect(paused?.dueSince).toBeUndefined();
});

it('leaves out those that run a command', async () => {
  await stage.add({ target: { kind: 'command', command: 'true', cwd: '/' } });
  expect(await told()).toEqual([]);
});
