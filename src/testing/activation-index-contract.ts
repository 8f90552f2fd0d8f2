/**
 * What every index of what is due does, whatever it stands on. Each case wants an index of its own that is fresh and
 * empty.
 */
import type { Activation } from '../machines/session/activation.ts';
import { MAX_CAUSE_ID_CHARACTERS, MAX_DUE_AT_MS } from '../machines/session/activation.ts';
import { named } from './contract-case.ts';
import type { ContractCase } from './contract-case.ts';
import { expectRefusal, expectSame, expectThat, outcomeOf, SUCCEEDED, told } from './expectations.ts';
import { hint } from './hints.ts';
import type { ActivationIndexUnderTest } from './index-case.ts';
import { ALL, HOUR_MS, indexCase } from './index-case.ts';
import { idOf, numbersTo, START_MS } from './session-fixtures.ts';

const NOTHING = { due: [], nextDueAtMs: undefined };

/** How an index of what is due answers: what is due at a time, in which order, and when to ask again. */
const findingCases: readonly ContractCase<ActivationIndexUnderTest>[] = [
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

const keeping: readonly ContractCase<ActivationIndexUnderTest>[] = [
  indexCase('keeps one hint once, however often it is made', async ({ index, elsewhere, causes }) => {
    await index.add([hint(), hint()]);
    await Promise.all(numbersTo(10).map(() => elsewhere.add([hint()])));
    expectSame(await causes(), [idOf(1)], 'what is due');
    await index.remove([hint()]);
    expectSame(await causes(), [], 'what is due after it was removed');
  }),

  indexCase(
    'removes what it is told and nothing else, also twice, also from elsewhere',
    async ({ index, elsewhere, causes }) => {
      const later = hint({ dueAtMs: START_MS + 1 });
      await index.add([hint(), later, hint({ causeId: 'other' })]);
      await elsewhere.remove([hint(), hint({ causeId: 'never made' })]);
      await index.remove([hint()]);
      expectSame(await causes({ nowMs: START_MS + 1 }), ['other', later.causeId], 'what is left');
    },
  ),
];

const impossible: readonly (readonly [name: string, change: Partial<Activation>])[] = [
  ['whose session is a path', { sessionId: '../../etc' }],
  ['whose agent is a path', { agentId: 'A/..' }],
  ['whose cause is empty', { causeId: '' }],
  ['whose cause is a path', { causeId: '../x' }],
  ['whose cause is longer than a name may be', { causeId: 'x'.repeat(MAX_CAUSE_ID_CHARACTERS + 1) }],
  ['whose time is no number', { dueAtMs: Number.NaN }],
  ['whose time lies before the epoch', { dueAtMs: -1 }],
  ['whose time is not whole', { dueAtMs: 0.5 }],
  ['whose time lies beyond the year 9999', { dueAtMs: MAX_DUE_AT_MS + 1 }],
  ['of no known kind', { kind: 'other' as 'wake' }],
  ['of no known priority', { priority: 'urgent' as 'high' }],
];

const refusing = impossible.map(([name, change]) =>
  indexCase(`refuses a hint ${name}, and those beside it`, async ({ index, causes }) => {
    await expectRefusal(index.add([hint(), hint(change)]), 'ACTIVATION_INVALID', 'adding it beside a good one');
    expectSame(await causes(), [], 'what is due afterwards');
    // No writer can have made it, so there is nothing to remove.
    expectSame(await outcomeOf(index.remove([hint(change)])), SUCCEEDED, 'removing it');
  }),
);

const telling = (['here', 'elsewhere'] as const).map((where) =>
  indexCase(
    `tells those who watch of hints that are made ${where}, also of one that was there`,
    async ({ index, elsewhere }) => {
      let rings = 0;
      let heard: () => void = () => undefined;
      const stop = index.watch(() => {
        rings += 1;
        heard();
      });
      const add = async (): Promise<void> => {
        const news = new Promise<void>((resolve) => {
          heard = resolve;
        });
        await (where === 'here' ? index : elsewhere).add([hint()]);
        await told(news, 'the news of a hint');
      };
      try {
        await add();
        await add();
      } finally {
        stop();
      }
      stop();
      const before = rings;
      await index.add([hint({ causeId: 'unheard' })]);
      expectSame(rings, before, 'how often it was told after watching had ended');
    },
  ),
);

const rebuilding: readonly ContractCase<ActivationIndexUnderTest>[] = [
  indexCase(
    'is made again without losing what was made meanwhile, and can be trusted then',
    async ({ index, elsewhere }) => {
      async function* found(): AsyncGenerator<Activation> {
        yield hint({ causeId: 'found' });
        await elsewhere.add([hint({ causeId: 'meanwhile' })]);
        for (const n of numbersTo(40)) yield hint({ causeId: `found-${n}`, sessionId: idOf(1), dueAtMs: START_MS + n });
      }
      await index.add([hint({ causeId: 'before' })]);
      await index.rebuilt(found());
      expectSame(
        [await index.isSuspect(), await elsewhere.isSuspect()],
        [false, false],
        'whether hints may be missing, here and elsewhere',
      );
      const { due } = await index.due({ ...ALL, nowMs: START_MS + 100 });
      expectSame(
        due.map(({ activations }) => activations.length),
        [3, 40],
        'the numbers of hints of both sessions',
      );
    },
  ),

  indexCase('leaves no timer when no watcher is left', async ({ index, pendingTimers }) => {
    index.watch(() => undefined)();
    expectSame(pendingTimers(), 0, 'the timers that are left');
  }),
];

/**
 * What becomes of the hints that an index of what is due is given: kept once, removed as told, announced, and made
 * again from the logs.
 */
const keepingCases: readonly ContractCase<ActivationIndexUnderTest>[] = [
  ...keeping,
  ...refusing,
  ...telling,
  ...rebuilding,
];

export const activationIndexContract: readonly ContractCase<ActivationIndexUnderTest>[] = named(
  'an index of what is due',
  [...findingCases, ...keepingCases],
);
