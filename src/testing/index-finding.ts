/** How an index of what is due answers: what is due at a time, in which order, and when to ask again. */
import { MAX_DUE_AT_MS } from '../machines/session/activation-check.ts';
import type { ContractCase } from './contract-case.ts';
import { expectSame, expectThat } from './expectations.ts';
import { hint } from './hints.ts';
import { ALL, HOUR_MS, indexCase } from './index-case.ts';
import type { ActivationIndexUnderTest } from './index-case.ts';
import { START_MS, idOf, numbersTo } from './session-fixtures.ts';

const NOTHING = { due: [], nextDueAtMs: undefined };

export const findingCases: readonly ContractCase<ActivationIndexUnderTest>[] = [
  indexCase('has nothing before the first hint', async ({ index }) => {
    expectSame(await index.due(ALL), NOTHING, 'what is due');
    await index.remove([hint()]);
    await index.add([]);
    expectSame(await index.due(ALL), NOTHING, 'what is due after nothing was removed and nothing was added');
  }),

  indexCase('finds a hint when its time has come, and not before', async ({ index }) => {
    const one = hint({ dueAtMs: START_MS + 1 });
    await index.add([one]);
    expectSame(await index.due(ALL), { due: [], nextDueAtMs: START_MS + 1 }, 'what is due a millisecond before');
    const due = [{ sessionId: one.sessionId, agentId: one.agentId, activations: [one] }];
    expectSame(
      await index.due({ ...ALL, nowMs: START_MS + 1 }),
      { due, nextDueAtMs: undefined },
      'what is due at its time',
    );
  }),

  indexCase(
    'puts sessions in the order of priority, then what a person waits for, then time; and the hints of each too',
    async ({ index }) => {
      await index.add([
        hint({ sessionId: idOf(1), priority: 'low', dueAtMs: START_MS - HOUR_MS }),
        hint({ sessionId: idOf(2), kind: 'wake', dueAtMs: START_MS - HOUR_MS }),
        hint({ sessionId: idOf(3), dueAtMs: START_MS }),
        hint({ sessionId: idOf(4), dueAtMs: START_MS - 1 }),
        hint({ sessionId: idOf(5), priority: 'high', kind: 'retry' }),
        hint({ sessionId: idOf(1), kind: 'retry', causeId: 'second' }),
      ]);
      const sessions = async (limit: number): Promise<string[]> =>
        (await index.due({ ...ALL, limit })).due.map(({ sessionId }) => sessionId);
      expectSame(await sessions(ALL.limit), [5, 4, 3, 2, 1].map(idOf), 'the sessions');
      const last = (await index.due(ALL)).due.at(-1);
      expectSame(
        last?.activations.map(({ causeId }) => causeId),
        ['second', idOf(1)],
        'the hints of the last session',
      );
      expectSame(await sessions(2), [5, 4].map(idOf), 'the first two sessions');
      expectSame(await sessions(0), [], 'no session');
    },
  ),

  indexCase('leaves out sessions and other agents as it is asked to', async ({ index, causes }) => {
    const theirs = { sessionId: idOf(1), agentId: 'other' };
    await index.add([
      hint({ causeId: 'mine' }),
      hint({ ...theirs, causeId: 'theirs' }),
      hint({ ...theirs, dueAtMs: START_MS + HOUR_MS }),
    ]);
    const except = new Set([idOf(1)]);
    expectSame(await causes({ agentId: 'other' }), ['theirs'], 'what is due for the other agent');
    expectSame(await causes({ except }), ['mine'], 'what is due but for the other session');
    expectSame(
      (await index.due({ ...ALL, agentId: 'tester' })).nextDueAtMs,
      undefined,
      'when to ask again for an agent who has nothing later',
    );
    expectSame(
      (await index.due({ ...ALL, except })).nextDueAtMs,
      undefined,
      'when to ask again but for the session that has something later',
    );
  }),

  indexCase('says when to ask again, and who does so finds everything at its time', async ({ index }) => {
    const times = [1, 2, 599_999, 600_000, 3 * HOUR_MS, 500 * 24 * HOUR_MS].map((offset) => START_MS + offset);
    await index.add(times.map((dueAtMs, n) => hint({ causeId: `n${n}`, dueAtMs })));
    const found: { readonly dueAtMs: number; readonly foundAtMs: number }[] = [];
    let nowMs: number | undefined = START_MS;
    for (let checks = 0; checks < 100 && nowMs !== undefined; checks += 1) {
      const { due, nextDueAtMs } = await index.due({ ...ALL, nowMs });
      const hints = due.flatMap(({ activations }) => activations);
      for (const { dueAtMs } of hints) found.push({ dueAtMs, foundAtMs: nowMs });
      await index.remove(hints);
      expectThat(nextDueAtMs === undefined || nextDueAtMs > nowMs, 'when to ask again', {
        expected: `a time after ${nowMs}`,
        received: nextDueAtMs,
      });
      nowMs = nextDueAtMs;
    }
    expectSame(
      found,
      times.map((dueAtMs) => ({ dueAtMs, foundAtMs: dueAtMs })),
      'what was found, and when',
    );
  }),

  indexCase('keeps a hint as far away as can be said', async ({ index, causes }) => {
    await index.add([hint({ dueAtMs: MAX_DUE_AT_MS }), hint({ dueAtMs: 0, causeId: 'first' })]);
    expectSame(await causes(), ['first'], 'what is due today');
    expectSame(await causes({ nowMs: MAX_DUE_AT_MS }), ['first', idOf(1)], 'what is due at the end of time');
  }),

  indexCase('counts sessions and not hints when it is limited', async ({ index }) => {
    await index.add(
      numbersTo(20).map((n) => hint({ sessionId: idOf(n % 2), causeId: `n${n}`, dueAtMs: START_MS - 1 + (n % 2) })),
    );
    const { due } = await index.due({ ...ALL, limit: 1 });
    expectSame(
      due.map(({ sessionId, activations }) => [sessionId, activations.length]),
      [[idOf(0), 10]],
      'the first session with the number of its hints',
    );
  }),
];
