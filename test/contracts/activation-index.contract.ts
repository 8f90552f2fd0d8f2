/**
 * What every index of what is due does, whatever it stands on: the published cases, run with vitest, and a property.
 * Each adapter runs them against itself.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import type { ActivationIndex } from '../../src/actors/session/activation-index.ts';
import { compareUrgency } from '../../src/machines/session/activation.ts';
import type { Activation } from '../../src/machines/session/activation.ts';
import { dueSessions } from '../../src/machines/session/due-sessions.ts';
import { activationIndexContract } from '../../src/testing/activation-index-contract.ts';
import { START_MS, idOf } from '../support/session-events.ts';

export { hint } from '../../src/testing/hints.ts';

export interface IndexUnderTest {
  readonly index: ActivationIndex;
  readonly clock: SimulatedClock;
  /** The same hints, seen from elsewhere; the same index where there is no elsewhere. */
  readonly elsewhere: ActivationIndex;
  dispose(): Promise<void>;
}

const HOUR_MS = 3_600_000;

const AGENTS = ['tester', 'a', 'writer-2_x'] as const;

/** Hints that often meet: few sessions, few causes, times around now. */
const anyHint: fc.Arbitrary<Activation> = fc
  .record({
    session: fc.integer({ min: 0, max: 5 }),
    causeId: fc.oneof(
      fc.integer({ min: 10, max: 14 }).map(idOf),
      fc.constantFrom('turn-1', 'queued_1', 'Queued.1', 'queued.1'),
    ),
    kind: fc.constantFrom('ingress', 'wake', 'retry'),
    dueAtMs: fc.integer({ min: -3 * HOUR_MS, max: 3 * HOUR_MS }).map((offset) => START_MS + offset),
    priority: fc.constantFrom('low', 'normal', 'high'),
  })
  // A session has one agent: hints of it that differ in nothing else would have no order.
  .map(({ session, ...hint }) => ({
    ...hint,
    sessionId: idOf(session),
    agentId: AGENTS[session % AGENTS.length] ?? 'a',
  }));

export function describeActivationIndex(name: string, open: () => Promise<IndexUnderTest>): void {
  describe(`${name}, as an index of what is due`, () => {
    it.each(activationIndexContract.map((each) => [each.name, each.run] as const))('%s', async (_name, run) => {
      const subject = await open();
      try {
        await run(subject);
      } finally {
        await subject.dispose();
      }
    });

    it('an index of what is due gives what it was given, like a set of hints', async () => {
      const subject = await open();
      try {
        await assertLikeSet(subject);
      } finally {
        await subject.dispose();
      }
    });
  });
}

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ act: fc.constant('add' as const), hints: fc.array(anyHint, { maxLength: 6 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constant('remove' as const), hints: fc.array(anyHint, { maxLength: 6 }) }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('due' as const), hints: fc.constant<Activation[]>([]) }) },
);

const query = fc.record({
  limit: fc.integer({ min: 1, max: 4 }),
  except: fc.subarray([0, 1, 2].map(idOf)).map((ids) => new Set(ids)),
  agentId: fc.constantFrom(undefined, 'tester', 'a'),
});

const keyOf = (activation: Activation): string =>
  JSON.stringify(Object.entries(activation).toSorted(([one], [other]) => (one < other ? -1 : 1)));

/**
 * One index takes all runs, and so does the set that it is held against: what a run leaves is the next one's beginning.
 */
async function assertLikeSet({ index, elsewhere }: IndexUnderTest): Promise<void> {
  const model = new Map<string, Activation>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 12 }),
      query,
      fc.integer({ min: -3, max: 3 }),
      async (steps, asked, hours) => {
        const nowMs = START_MS + hours * HOUR_MS;
        for (const [n, { act, hints }] of steps.entries()) {
          const at = n % 2 === 0 ? index : elsewhere;
          if (act === 'due') await at.due({ nowMs, limit: 1_000 });
          else await at[act](hints);
          for (const each of hints) {
            if (act === 'add') model.set(keyOf(each), each);
            else model.delete(keyOf(each));
          }
        }
        const meant = [...model.values()].filter(
          ({ sessionId, agentId }) =>
            !asked.except.has(sessionId) && (asked.agentId === undefined || agentId === asked.agentId),
        );
        const found = await index.due({ ...asked, nowMs });
        expect(found.due).toEqual(
          dueSessions(
            meant.filter(({ dueAtMs }) => dueAtMs <= nowMs),
            asked.limit,
          ),
        );
        for (const { activations } of found.due) expect(activations).toEqual(activations.toSorted(compareUrgency));
        const future = meant.map(({ dueAtMs }) => dueAtMs).filter((dueAtMs) => dueAtMs > nowMs);
        expect(found.nextDueAtMs).toBe(future.length === 0 ? undefined : Math.min(...future));
      },
    ),
    { numRuns: 60 },
  );
}
