/** What every store of shared files does. Each case wants one of its own that is fresh and empty. */
import type { SharedFilesStore } from '../actors/memory/shared-files-store.ts';
import { requirePromotion } from '../actors/outcome/promotion-gate.ts';
import type { PromotionPermit } from '../actors/outcome/promotion-gate.ts';
import { initialSessionState } from '../machines/session/session-state.ts';
import type { ContractCase } from './contract-case.ts';
import { named } from './contract-case.ts';
import { expectRefusal, expectSame, outcomeOf } from './expectations.ts';

export interface SharedFilesStoreUnderTest {
  readonly store: SharedFilesStore;
  /** Another one over the same, as another process would have; the same one where there is no other. */
  readonly beside: SharedFilesStore;
}

type Case = ContractCase<SharedFilesStoreUnderTest>;

const AGENT = 'writer';
const SESSION = '0192f0c1-2345-7abc-8def-0123456789ab';

/** As the gate gives it to a session whose outcome was evaluated as reached. */
function permit(): PromotionPermit {
  return requirePromotion({
    ...initialSessionState({ sessionId: SESSION, agentId: AGENT }),
    outcome: { title: 'Done.', seq: 1, by: 'person' },
    evaluation: { verdict: 'pass', because: 'It is.', throughSeq: 5, seq: 6 },
  });
}

const edit = (expectedVersion: number, files: Readonly<Record<string, string | null>>) => ({
  agentId: AGENT,
  expectedVersion,
  why: 'a test',
  changes: Object.entries(files).map(([path, content]) => ({ path, content })),
});

async function contents(store: SharedFilesStore, version?: number): Promise<Record<string, string>> {
  const files = await store.list(AGENT, version);
  const texts = await Promise.all(
    files.map(async ({ path }) => [path, new TextDecoder().decode(await store.read(AGENT, path, version))] as const),
  );
  return Object.fromEntries(texts);
}

const cases: readonly Case[] = [
  {
    name: 'begins with nothing at version 0',
    async run({ store }) {
      expectSame(await store.head(AGENT), { version: 0, files: [] }, 'the head');
      expectSame(await store.versions(AGENT), [], 'the versions');
      expectSame(await store.list(AGENT), [], 'the files');
    },
  },
  {
    name: 'makes a version of every promotion, which all see, and keeps the ones before',
    async run({ store, beside }) {
      expectSame(
        await store.promote(permit(), edit(0, { 'a.md': 'one', 'notes/b.md': 'b' })),
        { version: 1, isNew: true, changed: ['a.md', 'notes/b.md'] },
        'the first',
      );
      expectSame(
        await beside.promote(permit(), edit(1, { 'a.md': 'two', 'notes/b.md': null })),
        { version: 2, isNew: true, changed: ['a.md', 'notes/b.md'] },
        'the second',
      );
      expectSame(await contents(store), { 'a.md': 'two' }, 'what is there');
      expectSame(await contents(store, 1), { 'a.md': 'one', 'notes/b.md': 'b' }, 'what was there');
      const versions = (await store.versions(AGENT)).map(({ version, parent, by, why }) => ({
        version,
        parent,
        by,
        why,
      }));
      const by = { kind: 'session', sessionId: SESSION, evaluationSeq: 6 };
      expectSame(
        versions,
        [
          { version: 2, parent: 1, by, why: 'a test' },
          { version: 1, parent: 0, by, why: 'a test' },
        ],
        'who made them',
      );
    },
  },
  {
    name: 'makes no version of what is so already',
    async run({ store }) {
      await store.promote(permit(), edit(0, { 'a.md': 'one' }));
      expectSame(
        await store.promote(permit(), edit(1, { 'a.md': 'one', 'gone.md': null })),
        { version: 1, isNew: false, changed: [] },
        'the same again',
      );
    },
  },
  {
    name: 'lets one of many win that expect the same version, and tells the others both versions',
    async run({ store, beside }) {
      const many = Array.from({ length: 8 }, (_, index) =>
        (index % 2 === 0 ? store : beside).promote(permit(), edit(0, { 'a.md': `from ${index}` })),
      );
      const outcomes = await Promise.all(many.map(outcomeOf));
      expectSame(
        outcomes.toSorted(),
        ['it succeeded', ...Array.from({ length: 7 }, () => 'SHARED_FILES_CONFLICT')].toSorted(),
        'the outcomes',
      );
      expectSame((await store.head(AGENT)).version, 1, 'the head');
      await expectRefusal(
        store.promote(permit(), edit(0, { 'a.md': 'late' })),
        'SHARED_FILES_CONFLICT',
        'one that comes late',
      );
    },
  },
  {
    name: 'goes back to an old version by making a new one',
    async run({ store }) {
      await store.promote(permit(), edit(0, { 'a.md': 'one', 'b.md': 'b' }));
      await store.promote(permit(), edit(1, { 'a.md': 'two', 'b.md': null, 'c.md': 'c' }));
      expectSame(
        await store.restore(permit(), { agentId: AGENT, version: 1, expectedVersion: 2, why: 'back' }),
        { version: 3, isNew: true, changed: ['a.md', 'b.md', 'c.md'] },
        'the restore',
      );
      expectSame(await contents(store), { 'a.md': 'one', 'b.md': 'b' }, 'what is there');
      expectSame(await contents(store, 2), { 'a.md': 'two', 'c.md': 'c' }, 'what was there');
      await expectRefusal(
        store.restore(permit(), { agentId: AGENT, version: 9, expectedVersion: 3, why: '' }),
        'SHARED_FILES_VERSION_NOT_FOUND',
        'a version that never was',
      );
      await expectRefusal(
        store.restore(permit(), { agentId: AGENT, version: 1, expectedVersion: 2, why: '' }),
        'SHARED_FILES_CONFLICT',
        'a restore that comes late',
      );
    },
  },
  {
    name: 'takes nothing without a permit of the gate',
    async run({ store }) {
      const forged = { sessionId: SESSION, evaluationSeq: 6 } as PromotionPermit;
      await expectRefusal(store.promote(forged, edit(0, { 'a.md': 'one' })), 'PROMOTION_REFUSED', 'a promotion');
      await expectRefusal(
        store.restore(forged, { agentId: AGENT, version: 1, expectedVersion: 0, why: '' }),
        'PROMOTION_REFUSED',
        'a restore',
      );
      expectSame((await store.head(AGENT)).version, 0, 'the head');
    },
  },
  {
    name: 'lets people change what they could edit by hand',
    async run({ store }) {
      await store.people.edit(edit(0, { 'a.md': 'one' }));
      await store.people.edit(edit(1, { 'a.md': 'two' }));
      await store.people.restore({ agentId: AGENT, version: 1, expectedVersion: 2, why: 'back' });
      expectSame(await contents(store), { 'a.md': 'one' }, 'what is there');
      expectSame(
        (await store.versions(AGENT)).map(({ by }) => by.kind),
        ['people', 'people', 'people'],
        'who made the versions',
      );
    },
  },
  {
    name: 'refuses paths that are not plain and below the folder, before anything is changed',
    async run({ store }) {
      const wrong = [
        '',
        '/etc/passwd',
        '../a',
        'a/../b',
        'a//b',
        'a/',
        '.hidden',
        'a/.git/config',
        'a\\b',
        'a:b',
        'con',
        'nul.txt',
        'a\u0000',
        'a\u202Eb',
        'trailing.',
        ' lead',
        'e\u0301.md',
        'x'.repeat(101),
        Array.from({ length: 13 }, () => 'a').join('/'),
      ];
      for (const path of wrong) {
        await expectRefusal(
          store.promote(permit(), edit(0, { [path]: 'x', 'good.md': 'x' })),
          'SHARED_FILES_CHANGE_INVALID',
          `promoting ${JSON.stringify(path)}`,
        );
        await expectRefusal(store.read(AGENT, path), 'SHARED_FILES_PATH_INVALID', `reading ${JSON.stringify(path)}`);
      }
      for (const files of [
        { 'a.md': 'x', 'A.md': 'y' },
        { a: 'x', 'a/b': 'y' },
      ])
        await expectRefusal(
          store.promote(permit(), edit(0, files)),
          'SHARED_FILES_CHANGE_INVALID',
          `promoting ${Object.keys(files).join(' and ')}`,
        );
      expectSame((await store.head(AGENT)).version, 0, 'the head');
    },
  },
  {
    name: 'refuses what is too much, and requests that are not well-formed',
    async run({ store }) {
      await expectRefusal(
        store.promote(permit(), edit(0, { 'a.bin': 'x'.repeat(1024 * 1024 + 1) })),
        'SHARED_FILES_CHANGE_INVALID',
        'a file that is too long',
      );
      await expectRefusal(
        store.promote(permit(), edit(0, { 'a.bin': 'é'.repeat(1024 * 1024) })),
        'SHARED_FILES_TOO_LARGE',
        'a file that is too long in bytes',
      );
      const many = Object.fromEntries(
        Array.from({ length: 17 }, (_, index) => [`${index}.bin`, `${index} ${'x'.repeat(1024 * 1024 - 10)}`]),
      );
      await expectRefusal(
        store.promote(permit(), edit(0, many)),
        'SHARED_FILES_TOO_LARGE',
        'files that are too much together',
      );
      await expectRefusal(store.promote(permit(), edit(0, {})), 'SHARED_FILES_CHANGE_INVALID', 'no change at all');
      await expectRefusal(
        store.promote(permit(), { ...edit(0, { a: 'x' }), expectedVersion: -1 }),
        'SHARED_FILES_CHANGE_INVALID',
        'a version that cannot be',
      );
      await expectRefusal(
        store.promote(permit(), { ...edit(0, { a: 'x' }), unknown: 1 } as never),
        'SHARED_FILES_CHANGE_INVALID',
        'a key that is unknown',
      );
      await expectRefusal(store.head('../other'), 'AGENT_ID_INVALID', 'a name that no agent can have');
      expectSame((await store.head(AGENT)).version, 0, 'the head');
    },
  },
  {
    name: 'keeps any bytes, for each agent its own',
    async run({ store }) {
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      await store.promote(permit(), {
        agentId: AGENT,
        expectedVersion: 0,
        why: '',
        changes: [
          { path: 'all.bin', content: bytes },
          { path: 'empty', content: '' },
        ],
      });
      expectSame([...((await store.read(AGENT, 'all.bin')) ?? [])], [...bytes], 'the bytes');
      expectSame((await store.read(AGENT, 'empty'))?.length, 0, 'the empty file');
      expectSame(await store.read(AGENT, 'none'), undefined, 'a file that is not there');
      expectSame((await store.head('other')).version, 0, 'the head of another agent');
    },
  },
  {
    name: 'lists versions page by page, the newest first',
    async run({ store }) {
      for (let version = 0; version < 5; version += 1) await store.people.edit(edit(version, { 'a.md': `${version}` }));
      const numbers = async (page: Parameters<SharedFilesStore['versions']>[1]): Promise<number[]> =>
        (await store.versions(AGENT, page)).map(({ version }) => version);
      expectSame(await numbers({ limit: 2 }), [5, 4], 'the first page');
      expectSame(await numbers({ before: 4, limit: 2 }), [3, 2], 'the second');
      expectSame(await numbers({ before: 2 }), [1], 'the last');
    },
  },
];

export const sharedFilesStoreContract: readonly Case[] = named('a store of shared files', cases);
