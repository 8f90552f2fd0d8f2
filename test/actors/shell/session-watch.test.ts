/** What is seen of a session that has shells, and when. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { SimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { SessionWatch } from '../../../src/actors/shell/session-watch.ts';
import { SESSION_ID, message, newEvent } from '../../support/session-events.ts';
import { until } from '../../support/session-setup.ts';
import { followedSession } from './followed-session.ts';
import type { FollowedSession } from './followed-session.ts';

let clock: SimulatedClock;
let session: FollowedSession;
let ends: string[];
let watches: SessionWatch[];
beforeEach(async () => {
  clock = createSimulatedClock();
  session = await followedSession(clock);
  ends = [];
  watches = [];
});
afterEach(() => {
  for (const watch of watches) watch.stop();
  expect(session.held()).toBe(0);
  expect(clock.pendingTimers).toBe(0);
});

const watch = async (): Promise<SessionWatch> => {
  const started = await SessionWatch.start(session.ports, SESSION_ID, (end) => ends.push(end));
  watches.push(started);
  return started;
};
/** When it has searched for the first time, it rests. */
const rests = (): Promise<void> => until(() => clock.pendingTimers === 1);

describe('a session that is followed', () => {
  it('is over once when it is terminated, whatever comes after', async () => {
    const started = await watch();
    await rests();
    await session.terminate();
    await until(() => ends.length > 0);
    await clock.advance(600_000);
    expect(ends).toEqual(['terminated']);
    expect(started.end).toBe('terminated');
  });

  it('is over though it was terminated before anybody followed it', async () => {
    await session.terminate();
    await watch();
    await until(() => ends.length > 0);
    expect(ends).toEqual(['terminated']);
  });

  it('can be deleted after it was terminated', async () => {
    await watch();
    await session.terminate();
    await until(() => ends.length === 1);
    session.replace();
    await clock.advance(60_000);
    expect(ends).toEqual(['terminated', 'deleted']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is checked within a minute where nobody tells, and is no other one of the same id', async () => {
    await watch();
    await rests();
    session.replace();
    await clock.advance(59_000);
    expect(ends).toEqual([]);
    await clock.advance(1_000);
    expect(ends).toEqual(['deleted']);
  });

  it('is known not to be there at once when somebody asks', async () => {
    const started = await watch();
    session.replace();
    await started.confirm();
    expect(ends).toEqual(['deleted']);
    await started.confirm();
    expect(ends).toEqual(['deleted']);
  });

  it('is not taken for deleted while it cannot be checked, and its end is seen when it can', async () => {
    const started = await watch();
    await rests();
    session.hide(4);
    await session.terminate();
    await until(() => clock.pendingTimers === 1);
    await expect(started.confirm()).rejects.toThrow('the disk is gone');
    expect(ends).toEqual([]);
    await clock.advance(60_000);
    expect(ends).toEqual(['terminated']);
  });

  it('cannot be followed when it cannot be checked, and nothing is held then', async () => {
    session.hide(1);
    await expect(watch()).rejects.toThrow('the disk is gone');
    await session.store.append(SESSION_ID, [newEvent(3, message('Still here.'))]);
    expect(ends).toEqual([]);
  });

  it('tells nothing any more once it is left alone', async () => {
    const started = await watch();
    started.stop();
    started.stop();
    await session.terminate();
    session.replace();
    await started.confirm();
    await clock.advance(600_000);
    expect(ends).toEqual([]);
  });
});
