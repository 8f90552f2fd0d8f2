/** What every keeper of workspace copies does. Each case wants one that knows nothing of its sessions. */
import type {
  WorkspaceCopyStore,
  WorkspaceCopyPiece,
  WorkspaceCopyRecord,
} from '../actors/workspace-copy/copy-store.ts';
import type { WorkspaceCopyFile } from '../machines/workspace-copy/copy-manifest.ts';
import type { HomeHost, WorkspaceCopyState } from '../machines/workspace-copy/copy-state.ts';
import { named } from './contract-case.ts';
import type { ContractCase } from './contract-case.ts';
import { SUCCEEDED, expectRefusal, expectSame, expectThat, outcomeOf } from './expectations.ts';

export interface WorkspaceCopyStoreUnderTest {
  readonly copies: WorkspaceCopyStore;
  /** Another one over the same, as another machine would have; the same one where there is no other. */
  readonly beside: WorkspaceCopyStore;
  /** The same without any grace: what nothing names is old at once. */
  readonly impatient: WorkspaceCopyStore;
  /** The id of a session that is there and of whose workspace nothing is known. */
  readonly newSession: () => Promise<string>;
}

type Case = ContractCase<WorkspaceCopyStoreUnderTest>;

const ONE: HomeHost = { id: 'host-1', name: 'one' };
const TWO: HomeHost = { id: 'host-2', name: 'two' };
const PIECE_BYTES = 1_048_576;
const MANIFEST = hashLike('a');

/** Keepers go by the name that a piece is given; its reader checks whether the name is right. */
function hashLike(digit: string): string {
  return digit.repeat(64);
}

function pieceOf(digit: string, text: string): WorkspaceCopyPiece {
  return { hash: hashLike(digit), bytes: new TextEncoder().encode(text) };
}

function copyAt(epoch: number, manifestId = MANIFEST): Required<Pick<WorkspaceCopyRecord, 'copy'>> {
  return { copy: { epoch, manifestId, files: 3, bytes: 5_000_000_000 } };
}

function plainPieces(pieces: readonly WorkspaceCopyPiece[]): unknown {
  return Object.fromEntries(pieces.map(({ hash, bytes }) => [hash[0] ?? '', new TextDecoder().decode(bytes)]));
}

const FILE: WorkspaceCopyFile = {
  kind: 'file',
  path: 'workspace/a.txt',
  mode: 0o600,
  size: 3,
  pieces: [hashLike('c')],
};

const pieces: readonly Case[] = [
  {
    name: 'give every reader the pieces that were put, byte for byte, and nothing for the others',
    async run({ copies, beside, newSession }) {
      const sessionId = await newSession();
      const large = Uint8Array.from({ length: PIECE_BYTES }, (_, index) => (index * 31) % 256);
      await copies.put(sessionId, [pieceOf('1', 'one'), pieceOf('2', ''), { hash: hashLike('3'), bytes: large }]);
      expectSame(
        plainPieces(await beside.get(sessionId, ['1', '2', '9'].map(hashLike))),
        { 1: 'one', 2: '' },
        'the pieces',
      );
      const [found] = await beside.get(sessionId, [hashLike('3')]);
      expectThat(
        found !== undefined &&
          found.bytes.length === large.length &&
          found.bytes.every((byte, index) => byte === large[index]),
        'the large piece',
        { expected: 'the same bytes', received: found?.bytes.length },
      );
      expectSame(
        [...(await beside.has(sessionId, ['1', '3', '9'].map(hashLike)))].toSorted(),
        ['1', '3'].map(hashLike),
        'what is there',
      );
      expectSame(await beside.get(sessionId, []), [], 'none of them');
    },
  },
  {
    name: 'take the same piece twice, also at the same time',
    async run({ copies, beside, newSession }) {
      const sessionId = await newSession();
      const all = ['1', '2', '3', '4'].map((digit) => pieceOf(digit, `piece ${digit}`));
      await Promise.all([
        copies.put(sessionId, all),
        beside.put(sessionId, all.toReversed()),
        copies.put(sessionId, all),
      ]);
      await copies.put(sessionId, all);
      expectSame(
        (
          await copies.get(
            sessionId,
            all.map(({ hash }) => hash),
          )
        ).length,
        4,
        'how many there are',
      );
    },
  },
  {
    name: 'keep the pieces of each session apart',
    async run({ copies, newSession }) {
      const [mine, other] = [await newSession(), await newSession()];
      await copies.put(mine, [pieceOf('1', 'mine')]);
      expectSame([...(await copies.has(other, [hashLike('1')]))], [], 'what another session has');
      expectSame(await copies.get(other, [hashLike('1')]), [], 'what another session gets');
      await copies.forget(other);
      expectSame((await copies.get(mine, [hashLike('1')])).length, 1, 'what is left when the other is forgotten');
      await copies.forget(mine);
      await copies.forget(mine);
      expectSame(await copies.get(mine, [hashLike('1')]), [], 'what is left when it is forgotten itself');
    },
  },
  {
    name: 'prune what is not to be kept, only for who spoke last, and nothing that may just be in use',
    async run({ copies, impatient, newSession }) {
      const sessionId = await newSession();
      await copies.put(
        sessionId,
        ['1', '2', '3'].map((digit) => pieceOf(digit, 'four')),
      );
      await copies.record(sessionId, { epoch: 2, host: ONE });
      const keep = new Set([hashLike('1')]);
      expectSame(
        await impatient.prune(sessionId, { epoch: 1, keep }),
        { pieces: 0, bytes: 0 },
        'what an earlier wake prunes',
      );
      expectSame(
        await copies.prune(sessionId, { epoch: 2, keep }),
        { pieces: 0, bytes: 0 },
        'what is pruned within the grace',
      );
      await pause();
      expectSame(
        await impatient.prune(sessionId, { epoch: 2, keep }),
        { pieces: 2, bytes: 8 },
        'what is pruned after it',
      );
      expectSame(
        plainPieces(await copies.get(sessionId, ['1', '2', '3'].map(hashLike))),
        { 1: 'four' },
        'what is left',
      );
      expectSame(
        [...(await impatient.has(sessionId, [hashLike('1')]))],
        [],
        'what is said to be there that could go at any moment',
      );
    },
  },
];

const states: readonly Case[] = [
  {
    name: 'know nothing of a copy that no wake has recorded',
    async run({ copies, newSession }) {
      const sessionId = await newSession();
      expectSame(await copies.latest(sessionId), undefined, 'the state');
      expectSame(await copies.release(sessionId, 1), false, 'releasing it');
      expectSame(await copies.latest(sessionId), undefined, 'the state after that');
    },
  },
  {
    name: 'tell every reader where a copy is, and keep it until there is another',
    async run({ copies, beside, newSession }) {
      const sessionId = await newSession();
      await copies.record(sessionId, { epoch: 1, host: ONE });
      expectSame(
        await beside.latest(sessionId),
        { epoch: 1, host: ONE, added: [] } satisfies WorkspaceCopyState,
        'at first',
      );
      await copies.record(sessionId, { epoch: 1, host: ONE, ...copyAt(1) });
      await beside.record(sessionId, { epoch: 2, host: TWO, bound: 'it is too large' });
      expectSame(
        await copies.latest(sessionId),
        { epoch: 2, host: TWO, ...copyAt(1), bound: 'it is too large', added: [] },
        'on another machine',
      );
      await beside.record(sessionId, { epoch: 3, host: TWO, ...copyAt(3, hashLike('b')) });
      expectSame(
        await copies.latest(sessionId),
        { epoch: 3, host: TWO, ...copyAt(3, hashLike('b')), added: [] },
        'with another copy',
      );
    },
  },
  {
    name: 'let no wake record after a later one has, and one wake for one machine only',
    async run({ copies, beside, newSession }) {
      const sessionId = await newSession();
      await copies.record(sessionId, { epoch: 2, host: TWO, ...copyAt(2) });
      await expectRefusal(
        beside.record(sessionId, { epoch: 1, host: ONE, ...copyAt(1, hashLike('b')) }),
        'WORKSPACE_COPY_SUPERSEDED',
        'a wake that was taken over',
      );
      await expectRefusal(
        beside.record(sessionId, { epoch: 2, host: ONE }),
        'WORKSPACE_COPY_SUPERSEDED',
        'the same wake on another machine',
      );
      expectSame(
        await outcomeOf(beside.record(sessionId, { epoch: 2, host: TWO, ...copyAt(2) })),
        SUCCEEDED,
        'the same said again',
      );
      expectSame((await copies.latest(sessionId))?.copy, copyAt(2).copy, 'the copy');
    },
  },
  {
    name: 'let of many who speak at once the latest wake have the last word',
    async run({ copies, beside, newSession }) {
      const sessionId = await newSession();
      const epochs = [4, 1, 6, 3, 5, 2];
      await Promise.allSettled(
        epochs.map((epoch) =>
          (epoch % 2 === 0 ? copies : beside).record(sessionId, {
            epoch,
            host: epoch % 2 === 0 ? ONE : TWO,
            ...copyAt(epoch),
          }),
        ),
      );
      expectSame(await copies.latest(sessionId), { epoch: 6, host: ONE, ...copyAt(6), added: [] }, 'the state');
    },
  },
  {
    name: 'unbind a copy for the machine that comes first, and never for the one that was there',
    async run({ copies, beside, newSession }) {
      const sessionId = await newSession();
      await copies.record(sessionId, { epoch: 1, host: ONE, ...copyAt(1), bound: 'so it is' });
      expectSame(await beside.release(sessionId, 2), true, 'releasing it');
      expectSame(await beside.release(sessionId, 2), false, 'releasing it again');
      expectSame(await copies.latest(sessionId), { epoch: 2, ...copyAt(1), added: [] }, 'the state');
      await expectRefusal(
        copies.record(sessionId, { epoch: 1, host: ONE }),
        'WORKSPACE_COPY_SUPERSEDED',
        'the wake that had it',
      );
      await copies.record(sessionId, { epoch: 2, host: TWO });
      expectSame((await copies.latest(sessionId))?.host, TWO, 'the next home');
      await expectRefusal(
        copies.record(sessionId, { epoch: 2, host: ONE }),
        'WORKSPACE_COPY_SUPERSEDED',
        'who comes second',
      );
    },
  },
  {
    name: 'give an unbound copy to the next wake, though wakes that never began have recorded it since',
    async run({ copies, beside, newSession }) {
      const sessionId = await newSession();
      await copies.record(sessionId, { epoch: 1, host: ONE, ...copyAt(1) });
      await beside.record(sessionId, { epoch: 5, host: TWO });
      await expectRefusal(
        copies.record(sessionId, { epoch: 2, host: ONE }),
        'WORKSPACE_COPY_SUPERSEDED',
        'before it is released',
      );
      expectSame(await copies.release(sessionId, 2), true, 'releasing it');
      await expectRefusal(
        beside.record(sessionId, { epoch: 1, host: TWO, ...copyAt(1, hashLike('b')) }),
        'WORKSPACE_COPY_SUPERSEDED',
        'a wake of long ago',
      );
      await copies.record(sessionId, { epoch: 2, host: ONE });
      expectSame(await copies.latest(sessionId), { epoch: 2, host: ONE, ...copyAt(1), added: [] }, 'the state');
    },
  },
  {
    name: 'keep files by their paths, whatever bytes are in them and however long they are',
    async run({ copies, newSession }) {
      const sessionId = await newSession();
      const paths = [
        'workspace/order-\udc80',
        'workspace/order-\udc81',
        'workspace/order-\ufffd',
        `workspace/${hashLike('ab').slice(0, 100).concat('/').repeat(120)}end`,
      ];
      for (const path of paths) await copies.add(sessionId, { ...FILE, path });
      expectSame(
        (await copies.latest(sessionId))?.added.map(({ path }) => path).toSorted(),
        paths.toSorted(),
        'all of them',
      );
      await copies.record(sessionId, { epoch: 1, host: ONE, ...copyAt(1), settled: paths.slice(0, 1) });
      expectSame(
        (await copies.latest(sessionId))?.added.map(({ path }) => path).toSorted(),
        paths.slice(1).toSorted(),
        'those that lie in no copy',
      );
    },
  },
  {
    name: 'keep files that came for a workspace until a copy holds them',
    async run({ copies, beside, newSession }) {
      const sessionId = await newSession();
      const other: WorkspaceCopyFile = { ...FILE, path: 'workspace/b.txt' };
      await beside.add(sessionId, { ...FILE, mode: 0o644 });
      await beside.add(sessionId, FILE);
      expectSame(await copies.latest(sessionId), { epoch: 0, added: [FILE] }, 'before any wake has recorded');
      await copies.record(sessionId, { epoch: 1, host: ONE });
      await beside.add(sessionId, other);
      expectSame((await copies.latest(sessionId))?.added, [FILE, other], 'both');
      await copies.record(sessionId, { epoch: 1, host: ONE, ...copyAt(1), settled: [FILE.path] });
      expectSame((await copies.latest(sessionId))?.added, [other], 'the one that lies in no copy');
      await outcomeOf(copies.record(sessionId, { epoch: 0, host: TWO, settled: [other.path] }));
      expectSame((await copies.latest(sessionId))?.added, [other], 'when a wake that was taken over records');
    },
  },
];

/** What some keepers do in one step, with the same outcome as the steps one after the other. */
const steps: readonly Case[] = [
  {
    name: 'say where a copy is that no wake has recorded while they tell what is known, and leave every other as it is',
    async run({ copies, beside, newSession }) {
      if (copies.latestOr === undefined || beside.latestOr === undefined) return;
      const sessionId = await newSession();
      await beside.add(sessionId, FILE);
      expectSame(
        await copies.latestOr(sessionId, { epoch: 1, host: ONE }),
        { state: { epoch: 0, added: [FILE] }, isSaid: true },
        'the first time',
      );
      const said = { epoch: 1, host: ONE, added: [FILE] };
      expectSame(
        await copies.latestOr(sessionId, { epoch: 1, host: ONE }),
        { state: said, isSaid: false },
        'the same again',
      );
      expectSame(
        await beside.latestOr(sessionId, { epoch: 2, host: TWO }),
        { state: said, isSaid: false },
        'another wake, later',
      );
      expectSame(await beside.latest(sessionId), said, 'what is known after all');
      const other = await newSession();
      expectSame(
        await copies.latestOr(other, { epoch: 1, host: ONE, bound: 'so it is' }),
        { state: undefined, isSaid: true },
        'of another one',
      );
      expectSame(
        await beside.latest(other),
        { epoch: 1, host: ONE, bound: 'so it is', added: [] },
        'what is known of it',
      );
    },
  },
  {
    name: 'put pieces with the word that they are the copy, and none for who may not speak',
    async run({ copies, beside, newSession }) {
      if (copies.recordWith === undefined || beside.recordWith === undefined) return;
      const sessionId = await newSession();
      const many = Array.from({ length: 600 }, (_, index) => ({
        hash: index.toString(16).padStart(64, '0'),
        bytes: new TextEncoder().encode(`piece ${index}`),
      }));
      await copies.recordWith(sessionId, { epoch: 2, host: ONE, ...copyAt(2) }, many);
      expectSame(await beside.latest(sessionId), { epoch: 2, host: ONE, ...copyAt(2), added: [] }, 'the state');
      expectSame(
        (
          await beside.has(
            sessionId,
            many.map(({ hash }) => hash),
          )
        ).size,
        many.length,
        'the pieces',
      );
      await expectRefusal(
        beside.recordWith(sessionId, { epoch: 1, host: TWO, ...copyAt(1) }, [pieceOf('1', 'one')]),
        'WORKSPACE_COPY_SUPERSEDED',
        'a wake that was taken over',
      );
      expectSame([...(await copies.has(sessionId, [hashLike('1')]))], [], 'its piece');
      await copies.recordWith(sessionId, { epoch: 2, host: ONE, ...copyAt(2) }, many.slice(0, 1));
      expectSame((await copies.latest(sessionId))?.copy, copyAt(2).copy, 'the copy when the same is said again');
    },
  },
];

/** Until another millisecond has begun. */
async function pause(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 5));
}

export const workspaceCopyStoreContract: readonly Case[] = [
  ...named('workspace copies', pieces),
  ...named('workspace copies', states),
  ...named('workspace copies', steps),
];
