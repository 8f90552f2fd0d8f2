/** What every store of learnings does. Each case wants one of its own that is fresh and empty. */
import type { LearningStore } from '../actors/memory/learning-store.ts';
import type { CapturedLearning } from '../machines/memory/learning.ts';
import type { ContractCase } from './contract-case.ts';
import { named } from './contract-case.ts';
import { expectRefusal, expectSame } from './expectations.ts';

export interface LearningStoreUnderTest {
  readonly store: LearningStore;
  /** Another one over the same, as another process would have; the same one where there is no other. */
  readonly beside: LearningStore;
}

type Case = ContractCase<LearningStoreUnderTest>;

const AGENT = 'writer';

const learning = (learningId: string, more: Partial<CapturedLearning> = {}): CapturedLearning => ({
  learningId,
  kind: 'lesson',
  title: `Title of ${learningId}`,
  detail: 'What to do.',
  sessionId: 'one',
  seq: 7,
  at: '2026-01-01T00:00:00.000Z',
  ...more,
});

async function* each(learnings: readonly CapturedLearning[]): AsyncGenerator<CapturedLearning> {
  yield* learnings;
}

const idsOf = async (store: LearningStore, filter: Parameters<LearningStore['list']>[1] = {}): Promise<string[]> =>
  (await store.list(AGENT, filter)).map(({ learningId }) => learningId);

const cases: readonly Case[] = [
  {
    name: 'keeps what was learned, for every reader, as it was captured',
    async run({ store, beside }) {
      const given = learning('a', { dedupeKey: 'k' });
      expectSame(await store.keep(AGENT, given), { as: 'new' }, 'the answer');
      expectSame(
        await beside.get(AGENT, 'a'),
        { ...given, count: 1, lastSeenAt: given.at, sessionIds: ['one'], isForgotten: false },
        'what is kept',
      );
      expectSame([await beside.get(AGENT, 'b'), await beside.get('other', 'a')], [undefined, undefined], 'what is not');
    },
  },
  {
    name: 'gives the same answer to the same capture, and counts it once',
    async run({ store, beside }) {
      await store.keep(AGENT, learning('a'));
      expectSame(await beside.keep(AGENT, learning('a')), { as: 'new' }, 'the answer again');
      await store.keep(AGENT, learning('b', { title: 'Title of a' }));
      expectSame(
        await beside.keep(AGENT, learning('b', { title: 'Title of a' })),
        { as: 'duplicate', duplicateOf: 'a' },
        'the answer to the duplicate again',
      );
      expectSame((await store.get(AGENT, 'a'))?.count, 2, 'the count');
    },
  },
  {
    name: 'knows a learning again by its key, and else by what it says, whatever its case, spaces and punctuation',
    async run({ store }) {
      await store.keep(AGENT, learning('a', { title: 'Use CI=true', detail: 'The tests wait, else.' }));
      expectSame(
        await store.keep(
          AGENT,
          learning('b', {
            title: 'use  ci = TRUE!',
            detail: 'the tests wait else',
            sessionId: 'two',
            at: '2026-02-01T00:00:00.000Z',
          }),
        ),
        { as: 'duplicate', duplicateOf: 'a' },
        'the same in other clothes',
      );
      expectSame(
        await store.keep(
          AGENT,
          learning('c', { title: 'Use CI=true', detail: 'The tests wait, else.', kind: 'error' }),
        ),
        { as: 'new' },
        'another kind',
      );
      expectSame(
        await store.keep(AGENT, learning('d', { title: 'Use CI=false', detail: 'The tests wait, else.' })),
        { as: 'new' },
        'another word',
      );
      await store.keep(AGENT, learning('e', { title: 'About CI', dedupeKey: 'ci' }));
      expectSame(
        await store.keep(AGENT, learning('f', { title: 'about ci', dedupeKey: 'ci' })),
        { as: 'duplicate', duplicateOf: 'e' },
        'the same key and words',
      );
      expectSame(
        await store.keep(AGENT, learning('g', { title: 'Quite another title', dedupeKey: 'ci' })),
        { as: 'new' },
        'a correction under the same key',
      );
      expectSame((await store.get(AGENT, 'e'))?.title, 'About CI', 'what was corrected');
      const { count, lastSeenAt, sessionIds } = (await store.get(AGENT, 'a')) ?? {};
      expectSame(
        { count, lastSeenAt, sessionIds },
        { count: 2, lastSeenAt: '2026-02-01T00:00:00.000Z', sessionIds: ['one', 'two'] },
        'what is known of the first',
      );
    },
  },
  {
    name: 'lists the newest first, and finds words and kinds',
    async run({ store }) {
      await store.keep(AGENT, learning('a', { title: 'About tests', at: '2026-01-02T00:00:00.000Z' }));
      await store.keep(
        AGENT,
        learning('b', { title: 'About builds', detail: 'Slow tests.', at: '2026-01-03T00:00:00.000Z' }),
      );
      await store.keep(AGENT, learning('c', { kind: 'error', at: '2026-01-01T00:00:00.000Z' }));
      expectSame(await idsOf(store), ['b', 'a', 'c'], 'all');
      expectSame(await idsOf(store, { text: 'TESTS about' }), ['b', 'a'], 'by words');
      expectSame(await idsOf(store, { kind: 'error' }), ['c'], 'by kind');
      expectSame(await idsOf(store, { limit: 1 }), ['b'], 'the first');
    },
  },
  {
    name: 'releases what people take out, for good',
    async run({ store, beside }) {
      await store.keep(AGENT, learning('a'));
      expectSame(
        [await beside.forget(AGENT, 'a'), await store.forget(AGENT, 'a'), await store.forget(AGENT, 'x')],
        [true, false, false],
        'forgetting',
      );
      expectSame(await idsOf(store), [], 'the list');
      expectSame(
        await store.keep(AGENT, learning('b', { title: 'Title of a' })),
        { as: 'duplicate', duplicateOf: 'a' },
        'the same learned again',
      );
      expectSame([await idsOf(store), await idsOf(store, { includeForgotten: true })], [[], ['a']], 'the lists');
    },
  },
  {
    name: 'keeps all that many learn at once',
    async run({ store, beside }) {
      await Promise.all(
        Array.from({ length: 16 }, (_, index) =>
          (index % 2 === 0 ? store : beside).keep(AGENT, learning(`${index}`, { title: `Title ${index % 8}` })),
        ),
      );
      const all = await store.list(AGENT);
      expectSame(
        all.map(({ count }) => count),
        Array.from({ length: 8 }, () => 2),
        'the counts',
      );
    },
  },
  {
    name: 'keeps out what people took out of what a key is about, in other words and made anew too',
    async run({ store, beside }) {
      const all = [learning('a', { dedupeKey: 'k' }), learning('b', { dedupeKey: 'k' })];
      for (const one of all) await store.keep(AGENT, one);
      await store.forget(AGENT, 'a');
      const later = learning('c', { dedupeKey: 'k', at: '2026-01-05T00:00:00.000Z' });
      expectSame(await beside.keep(AGENT, later), { as: 'duplicate', duplicateOf: 'a' }, 'other words under the key');
      expectSame(await idsOf(store), ['b'], 'what is left');
      await store.rebuild(AGENT, each([...all, later]));
      expectSame(await idsOf(store), ['b'], 'what is left once it was made anew');
    },
  },
  {
    name: 'is made anew of what the logs say, and what people took out stays out',
    async run({ store, beside }) {
      const all = [
        learning('a'),
        learning('b'),
        learning('c', { title: 'Title of b', at: '2026-01-05T00:00:00.000Z' }),
      ];
      await store.keep(AGENT, learning('a'));
      await store.keep(AGENT, learning('gone'));
      await store.forget(AGENT, 'a');
      expectSame(await beside.rebuild(AGENT, each(all)), { learnings: 2, damagedLines: 0 }, 'the rebuild');
      expectSame((await idsOf(store)).toSorted(), ['b', 'gone'], 'what is there');
      expectSame((await store.get(AGENT, 'b'))?.count, 2, 'the count');
      expectSame(
        await store.keep(AGENT, learning('c', { title: 'Title of b' })),
        { as: 'duplicate', duplicateOf: 'b' },
        'a capture that is known',
      );
      expectSame(await store.rebuild(AGENT, each(all)), { learnings: 2, damagedLines: 0 }, 'once more');
    },
  },
  {
    name: 'refuses what is not well-formed',
    async run({ store }) {
      for (const wrong of [
        { learningId: '' },
        { kind: 'idea' },
        { title: '' },
        { at: 'yesterday' },
        { seq: 0 },
        { more: 1 },
      ])
        await expectRefusal(
          store.keep(AGENT, { ...learning('a'), ...wrong } as never),
          'LEARNING_INVALID',
          `keeping ${JSON.stringify(wrong)}`,
        );
      await expectRefusal(store.list('../x'), 'AGENT_ID_INVALID', 'a name that no agent can have');
      expectSame(await store.list(AGENT), [], 'the list');
    },
  },
];

export const learningStoreContract: readonly Case[] = named('a store of learnings', cases);
