/**
 * What becomes of the hints that an index of what is due is given: kept once, removed as told, announced, and made
 * again from the logs.
 */
import { MAX_CAUSE_ID_CHARACTERS, MAX_DUE_AT_MS } from '../machines/session/activation-check.ts';
import type { Activation } from '../machines/session/activation.ts';
import type { ContractCase } from './contract-case.ts';
import { SUCCEEDED, expectRefusal, expectSame, outcomeOf, told } from './expectations.ts';
import { hint } from './hints.ts';
import { ALL, indexCase } from './index-case.ts';
import type { ActivationIndexUnderTest } from './index-case.ts';
import { START_MS, idOf, numbersTo } from './session-fixtures.ts';

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

export const keepingCases: readonly ContractCase<ActivationIndexUnderTest>[] = [
  ...keeping,
  ...refusing,
  ...telling,
  ...rebuilding,
];
