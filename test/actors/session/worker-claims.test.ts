import { expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { WorkerClaims } from '../../../src/actors/session/worker-claims.ts';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import { START_MS } from '../../support/session-events.ts';
import { due } from '../../support/worker-setup.ts';

const SESSIONS = 10_001;

it.each([
  ['left to others', 'elsewhere', 1],
  ['failing', 'failed', 0],
] as const)('sessions, however many, that are %s keep a worker from new ones or not', async (_name, failure, more) => {
  const clock = createSimulatedClock({ now: START_MS });
  const tasks = new BackgroundTaskManager({ runners: {}, clock });
  const claims = new WorkerClaims({
    clock,
    supervisor: tasks.supervisor,
    workerId: 'worker',
    maxWaiting: SESSIONS,
    wakeRightFreed: () => new Promise(() => undefined),
    onAgain: () => undefined,
  });
  const found = Array.from({ length: SESSIONS }, (_, index) => {
    const hint = due(index + 1);
    return { sessionId: hint.sessionId, agentId: hint.agentId, activations: [hint] as const };
  });
  for (const claim of claims.confirm(found, SESSIONS)) {
    claims.begin(claim, 0);
    claims.setAside(claim, failure);
  }
  expect(Math.sign(claims.wanted)).toBe(more);
  await clock.advance(1_000);
  expect([claims.setAsideSessions(), Math.sign(claims.wanted)]).toEqual([[], 1]);
  claims.dropAll();
  await tasks.shutdown();
});
