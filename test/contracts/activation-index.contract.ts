/** What every index of what is due does, whatever it stands on. Each adapter runs this suite against itself. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import type { ActivationIndex, DueQuery } from '../../src/actors/session/activation-index.ts';
import { MAX_DUE_AT_MS } from '../../src/machines/session/activation-check.ts';
import { compareUrgency } from '../../src/machines/session/activation.ts';
import type { Activation } from '../../src/machines/session/activation.ts';
import { dueSessions } from '../../src/machines/session/due-sessions.ts';
import { START_MS, idOf } from '../support/session-events.ts';
import { codeOf } from './event-store.contract.ts';

export interface IndexUnderTest {
  readonly index: ActivationIndex;
  readonly clock: SimulatedClock;
  /** The same hints, seen from elsewhere; the same index where there is no elsewhere. */
  readonly elsewhere: ActivationIndex;
  dispose(): Promise<void>;
}

export function hint(change: Partial<Activation> = {}): Activation {
  return { sessionId: idOf(0), agentId: 'tester', causeId: idOf(1), kind: 'ingress', dueAtMs: START_MS, priority: 'normal', ...change };
}

const HOUR_MS = 3_600_000;
const all: DueQuery = { nowMs: START_MS, limit: 1_000 };

/** Hints that often meet: few sessions, few causes, times around now. */
export const anyHint: fc.Arbitrary<Activation> = fc.record({
  sessionId: fc.integer({ min: 0, max: 5 }).map(idOf),
  agentId: fc.constantFrom('tester', 'a', 'writer-2_x'),
  causeId: fc.oneof(fc.integer({ min: 10, max: 14 }).map(idOf), fc.constantFrom('turn-1', 'queued_1', 'Queued.1', 'queued.1')),
  kind: fc.constantFrom('ingress', 'wake', 'retry'),
  dueAtMs: fc.integer({ min: -3 * HOUR_MS, max: 3 * HOUR_MS }).map((offset) => START_MS + offset),
  priority: fc.constantFrom('low', 'normal', 'high'),
});

export function describeActivationIndex(name: string, open: () => Promise<IndexUnderTest>): void {
  describe(`${name}, as an index of what is due,`, () => {
    let index: ActivationIndex;
    let elsewhere: ActivationIndex;
    let clock: SimulatedClock;
    let dispose: () => Promise<void>;

    beforeEach(async () => {
      ({ index, elsewhere, clock, dispose } = await open());
    });
    afterEach(() => dispose());

    const causes = async (query: Partial<DueQuery> = {}): Promise<string[]> =>
      (await index.due({ ...all, ...query })).due.flatMap(({ activations }) => activations.map(({ causeId }) => causeId));

    it('has nothing before the first hint', async () => {
      expect(await index.due(all)).toEqual({ due: [], nextDueAtMs: undefined });
      await index.remove([hint()]);
      await index.add([]);
      expect(await index.due(all)).toEqual({ due: [], nextDueAtMs: undefined });
    });

    it('finds a hint when its time has come, and not before', async () => {
      const one = hint({ dueAtMs: START_MS + 1 });
      await index.add([one]);
      expect(await index.due(all)).toEqual({ due: [], nextDueAtMs: START_MS + 1 });
      expect(await index.due({ ...all, nowMs: START_MS + 1 })).toEqual({ due: [{ sessionId: one.sessionId, agentId: 'tester', activations: [one] }], nextDueAtMs: undefined });
    });

    it('keeps one hint once, however often it is made', async () => {
      await index.add([hint(), hint()]);
      await Promise.all(Array.from({ length: 10 }, () => elsewhere.add([hint()])));
      expect(await causes()).toEqual([idOf(1)]);
      await index.remove([hint()]);
      expect(await causes()).toEqual([]);
    });

    it('removes what it is told and nothing else, also twice, also from elsewhere', async () => {
      const later = hint({ dueAtMs: START_MS + 1 });
      await index.add([hint(), later, hint({ causeId: 'other' })]);
      await elsewhere.remove([hint(), hint({ causeId: 'never made' })]);
      await index.remove([hint()]);
      expect(await causes({ nowMs: START_MS + 1 })).toEqual(['other', later.causeId]);
    });

    it('puts sessions in the order of priority, then what somebody waits for, then time; and the hints of each too', async () => {
      const hints = [
        hint({ sessionId: idOf(1), priority: 'low', dueAtMs: START_MS - HOUR_MS }),
        hint({ sessionId: idOf(2), kind: 'wake', dueAtMs: START_MS - HOUR_MS }),
        hint({ sessionId: idOf(3), dueAtMs: START_MS }),
        hint({ sessionId: idOf(4), dueAtMs: START_MS - 1 }),
        hint({ sessionId: idOf(5), priority: 'high', kind: 'retry' }),
        hint({ sessionId: idOf(1), kind: 'retry', causeId: 'second' }),
      ];
      await index.add(hints);
      const { due } = await index.due(all);
      expect(due.map(({ sessionId }) => sessionId)).toEqual([5, 4, 3, 2, 1].map(idOf));
      expect(due.at(-1)?.activations.map(({ causeId }) => causeId)).toEqual(['second', idOf(1)]);
      expect((await index.due({ ...all, limit: 2 })).due.map(({ sessionId }) => sessionId)).toEqual([5, 4].map(idOf));
      expect((await index.due({ ...all, limit: 0 })).due).toEqual([]);
    });

    it('leaves out sessions and other agents as it is asked to', async () => {
      await index.add([hint({ causeId: 'mine' }), hint({ sessionId: idOf(1), agentId: 'other', causeId: 'theirs' }), hint({ sessionId: idOf(1), agentId: 'other', dueAtMs: START_MS + HOUR_MS })]);
      expect(await causes({ agentId: 'other' })).toEqual(['theirs']);
      expect(await causes({ except: new Set([idOf(1)]) })).toEqual(['mine']);
      expect((await index.due({ ...all, agentId: 'tester' })).nextDueAtMs).toBeUndefined();
      expect((await index.due({ ...all, except: new Set([idOf(1)]) })).nextDueAtMs).toBeUndefined();
    });

    it('says when to ask again, and who does so finds everything at its time', async () => {
      const times = [1, 2, 599_999, 600_000, 3 * HOUR_MS, 500 * 24 * HOUR_MS].map((offset) => START_MS + offset);
      await index.add(times.map((dueAtMs, n) => hint({ causeId: `n${n}`, dueAtMs })));
      const found: number[] = [];
      let nowMs = START_MS;
      for (let looks = 0; looks < 100; looks += 1) {
        const { due, nextDueAtMs } = await index.due({ ...all, nowMs });
        const hints = due.flatMap(({ activations }) => activations);
        found.push(...hints.map(({ dueAtMs }) => dueAtMs));
        for (const { dueAtMs } of hints) expect(dueAtMs).toBe(nowMs);
        await index.remove(hints);
        if (nextDueAtMs === undefined) break;
        expect(nextDueAtMs).toBeGreaterThan(nowMs);
        nowMs = nextDueAtMs;
      }
      expect(found).toEqual(times);
    });

    it.each<[string, Partial<Activation>]>([
      ['session', { sessionId: '../../etc' }],
      ['agent', { agentId: 'A/..' }],
      ['cause', { causeId: '' }],
      ['cause', { causeId: '../x' }],
      ['cause', { causeId: 'x'.repeat(101) }],
      ['time', { dueAtMs: Number.NaN }],
      ['time', { dueAtMs: -1 }],
      ['time', { dueAtMs: 0.5 }],
      ['time', { dueAtMs: MAX_DUE_AT_MS + 1 }],
      ['kind', { kind: 'other' as 'wake' }],
      ['priority', { priority: 'urgent' as 'high' }],
    ])('refuses a hint whose %s cannot be one, and those beside it', async (_what, change) => {
      expect(await codeOf(index.add([hint(), hint(change)]))).toBe('ACTIVATION_INVALID');
      expect(await causes()).toEqual([]);
      // Nobody can have made it, so there is nothing to remove.
      expect(await codeOf(index.remove([hint(change)]))).toBe('it succeeded');
    });

    it('keeps a hint as far away as can be said', async () => {
      await index.add([hint({ dueAtMs: MAX_DUE_AT_MS }), hint({ dueAtMs: 0, causeId: 'first' })]);
      expect(await causes()).toEqual(['first']);
      expect(await causes({ nowMs: MAX_DUE_AT_MS })).toEqual(['first', idOf(1)]);
    });

    it.each(['here', 'elsewhere'] as const)('tells those who watch of hints that are made %s, also of one that was there', async (where) => {
      let rings = 0;
      let heard = (): void => undefined;
      const stop = index.watch(() => {
        rings += 1;
        heard();
      });
      const add = async (): Promise<void> => {
        const told = new Promise<void>((resolve) => {
          heard = resolve;
        });
        await (where === 'here' ? index : elsewhere).add([hint()]);
        await told;
      };
      await add();
      await add();
      stop();
      stop();
      const before = rings;
      await index.add([hint({ causeId: 'unheard' })]);
      expect(rings).toBe(before);
    });

    it('is made again without losing what was made meanwhile, and can be trusted then', async () => {
      const meanwhile = hint({ causeId: 'meanwhile' });
      async function* found(): AsyncGenerator<Activation> {
        yield hint({ causeId: 'found' });
        await elsewhere.add([meanwhile]);
        for (let n = 0; n < 40; n += 1) yield hint({ causeId: `found-${n}`, sessionId: idOf(1), dueAtMs: START_MS + n });
      }
      await index.add([hint({ causeId: 'before' })]);
      await index.rebuilt(found());
      expect(await index.isSuspect()).toBe(false);
      expect(await elsewhere.isSuspect()).toBe(false);
      const { due } = await index.due({ ...all, nowMs: START_MS + 100 });
      expect(due.map(({ activations }) => activations.length)).toEqual([3, 40]);
    });

    it('gives what it was given, like a set of hints', async () => {
      const step = fc.oneof(
        { weight: 3, arbitrary: fc.record({ act: fc.constant('add' as const), hints: fc.array(anyHint, { maxLength: 6 }) }) },
        { weight: 2, arbitrary: fc.record({ act: fc.constant('remove' as const), hints: fc.array(anyHint, { maxLength: 6 }) }) },
        { weight: 1, arbitrary: fc.record({ act: fc.constant('due' as const), hints: fc.constant<Activation[]>([]) }) },
      );
      const query = fc.record({ limit: fc.integer({ min: 1, max: 4 }), except: fc.subarray([0, 1, 2].map(idOf)).map((ids) => new Set(ids)), agentId: fc.constantFrom(undefined, 'tester', 'a') });
      const model = new Map<string, Activation>();
      const key = (activation: Activation): string => JSON.stringify(Object.entries(activation).toSorted(([one], [other]) => (one < other ? -1 : 1)));
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 12 }), query, fc.integer({ min: -3, max: 3 }), async (steps, asked, hours) => {
          const nowMs = START_MS + hours * HOUR_MS;
          for (const [n, { act, hints }] of steps.entries()) {
            const at = n % 2 === 0 ? index : elsewhere;
            if (act === 'due') await at.due({ ...all, nowMs });
            else await at[act](hints);
            for (const each of hints) {
              if (act === 'add') model.set(key(each), each);
              else model.delete(key(each));
            }
          }
          const meant = [...model.values()].filter(({ sessionId, agentId }) => !asked.except.has(sessionId) && (asked.agentId === undefined || agentId === asked.agentId));
          const found = await index.due({ ...asked, nowMs });
          expect(found.due).toEqual(dueSessions(meant.filter(({ dueAtMs }) => dueAtMs <= nowMs), asked.limit));
          for (const { activations } of found.due) expect(activations).toEqual(activations.toSorted(compareUrgency));
          const future = meant.map(({ dueAtMs }) => dueAtMs).filter((dueAtMs) => dueAtMs > nowMs);
          expect(found.nextDueAtMs).toBe(future.length === 0 ? undefined : Math.min(...future));
        }),
        { numRuns: 60 },
      );
    });

    it('leaves no timer when nobody watches any more', () => {
      index.watch(() => undefined)();
      expect(clock.pendingTimers).toBe(0);
    });
  });
}
