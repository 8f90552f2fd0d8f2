/** What a program's own test does: time moves for as long as a wake or a worker takes, over a home on a disk. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createAgentRuntime, defineAgent } from '../../src/index.ts';
import { createNodeRuntime } from '../../src/node.ts';
import { createSimulatedClock } from '../../src/testing.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';

let home: TemporaryHome;
beforeEach(async () => {
  home = await temporaryHome();
});
afterEach(() => home.remove());

const clerk = defineAgent({ id: 'clerk', model: 'busy/any', instructions: 'You answer.' });

it('moves through every back-off of a wake and every turn of a worker, until they are over', async () => {
  const clock = createSimulatedClock();
  let asked = 0;
  const busy = createAgentRuntime({
    id: 'busy',
    clock,
    answer: async (_params, voice) => {
      asked += 1;
      if (asked % 2 === 1) throw Object.assign(new Error('overloaded'), { status: 529 });
      voice.say('Here.');
    },
  });
  await using runtime = await createNodeRuntime({ home: home.path, clock, agents: [clerk], backends: [busy] });
  const { sessionId } = await runtime.sessions.create({ agentId: 'clerk' });
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Are you there?' });
  expect(await clock.until(runtime.wake(sessionId))).toMatchObject({ outcome: 'sleep' });
  expect(asked).toBe(2);
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'And now?' });
  await clock.until(runtime.startWorker({ untilIdle: true }).ended);
  expect(asked).toBe(4);
});
