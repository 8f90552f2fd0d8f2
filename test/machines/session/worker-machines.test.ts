import { createActor } from 'xstate';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { activationLifecycle, activationMachine } from '../../../src/machines/session/activation-machine.ts';
import { HINT_GRACE_MS, backOffMs, spentHints } from '../../../src/machines/session/worker-rules.ts';
import { workerLifecycle, workerMachine } from '../../../src/machines/session/worker-machine.ts';
import { pathsOverEveryTransition } from '../../support/graph-paths.ts';
import { START_MS, eventAt, idOf, message, queued, wakeEnded } from '../../support/session-events.ts';
import { due } from '../../support/worker-setup.ts';

describe.each([
  ['worker', workerMachine, workerLifecycle, 'stopped'],
  ['activation', activationMachine, activationLifecycle, 'settled'],
] as const)('the chart of the %s', (_name, machine, lifecycle, end) => {
  it('is followed by the compiled logic on every transition', () => {
    for (const { events } of pathsOverEveryTransition(machine, lifecycle.events)) {
      const interpreted = createActor(machine).start();
      const compiled = createActor(lifecycle).start();
      for (const type of events) {
        // Every event belongs to the chart it came from.
        interpreted.send({ type } as never);
        compiled.send({ type } as never);
        expect(compiled.getSnapshot().value).toEqual(interpreted.getSnapshot().value);
      }
    }
  });

  it('can end from wherever it stands', () => {
    const ends = (value: unknown, seen = new Set<unknown>()): boolean => {
      const snapshot = lifecycle.snapshots.find((each) => each.value === value);
      if (snapshot === undefined || seen.has(value)) return false;
      seen.add(value);
      if (snapshot.status === 'done') return true;
      return lifecycle.events.some((type) => ends(lifecycle.next(snapshot as never, type)?.value, seen));
    };
    expect(lifecycle.snapshots.map(({ value }) => value)).toContain(end);
    for (const { value } of lifecycle.snapshots) expect(ends(value)).toBe(true);
  });
});

describe('the time before another try', () => {
  it('doubles up to its limit, and never shrinks', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('early', 'contended', 'elsewhere', 'backed_off', 'parked'),
        fc.integer({ min: 1, max: 10_000 }),
        (phase, attempts) => {
          const [delay, next] = [backOffMs(phase, attempts), backOffMs(phase, attempts + 1)];
          return delay > 0 && next >= delay && next <= 2 * delay && next <= 300_000;
        },
      ),
    );
    expect([1, 2, 3, 9, 10].map((attempts) => backOffMs('backed_off', attempts))).toEqual([
      1_000, 2_000, 4_000, 256_000, 300_000,
    ]);
  });
});

describe('a hint that led to nothing', () => {
  const own = (causeId: string, dueAtMs = START_MS): ReturnType<typeof due> => due(0, { causeId, dueAtMs });
  const spent = (hint: ReturnType<typeof due>, change: Partial<Parameters<typeof spentHints>[0]> = {}): boolean =>
    spentHints({ hints: [hint], activations: [], events: [], nowMs: START_MS, ...change }).length === 1;

  it.each([
    ['message', idOf(3), eventAt(3, message('read'))],
    ['queued wake', 'queued_1', eventAt(3, queued('queued_1'))],
    ['wake that broke', 'wake_1', eventAt(3, wakeEnded('wake_1', 'failed'))],
  ])('is spent when the log knows its %s', (_what, causeId, event) => {
    expect(spent(own(causeId), { events: [event] })).toBe(true);
    expect(spent(own('another'), { events: [event] })).toBe(false);
  });

  it('is not spent while the log makes exactly it due', () => {
    const events = [eventAt(3, message('unread'))];
    expect(spent(own(idOf(3)), { events, activations: [own(idOf(3))] })).toBe(false);
    expect(spent(own(idOf(3)), { events, activations: [own(idOf(3), START_MS + 1)] })).toBe(true);
    expect(spent(own(idOf(3)), { events, activations: [own(idOf(3))], nowMs: START_MS + HINT_GRACE_MS })).toBe(false);
  });

  it('is spent when its time of grace is over', () => {
    expect(spent(own('unknown'), { nowMs: START_MS + HINT_GRACE_MS - 1 })).toBe(false);
    expect(spent(own('unknown'), { nowMs: START_MS + HINT_GRACE_MS })).toBe(true);
  });
});
