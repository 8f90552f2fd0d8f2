/**
 * What the right to wake a session is, whatever store gives it. Each case wants a store of its own that is fresh and
 * empty.
 */
import type { EventStore, WakeClaim, WakeRight } from '../actors/session/event-store.ts';
import { RuntimeError } from '../machines/errors.ts';
import { named } from './contract-case.ts';
import type { ContractCase } from './contract-case.ts';
import { SUCCEEDED, expectRefusal, expectSame, outcomeOf, told } from './expectations.ts';
import { AGENT_ID, IDENTITY, NOBODY, SESSION_ID, creation, idOf, numbersTo } from './session-fixtures.ts';

/** As much of a store as these cases use. */
export type WakeRightStore = Pick<EventStore, 'create' | 'acquireWakeRight' | 'isWakeRightHeld' | 'wakeRightFreed'>;

/** A store with what a case takes from it, so that nothing is left when the case ends, however it ends. */
class WakeRightsOfCase {
  readonly store: WakeRightStore;
  readonly #taken: WakeRight[] = [];
  readonly #waits: AbortController[] = [];

  constructor(store: WakeRightStore) {
    this.store = store;
  }

  async acquire(claim: WakeClaim, sessionId = SESSION_ID): Promise<WakeRight> {
    const right = await this.store.acquireWakeRight(sessionId, claim);
    this.#taken.push(right);
    return right;
  }

  /** What became of asking, as a word. */
  ask(claim: WakeClaim): Promise<string> {
    return outcomeOf(this.acquire(claim));
  }

  /** Resolves when the right may be free; waits until the case ends. */
  freed(sessionId = SESSION_ID): Promise<void> {
    const wait = new AbortController();
    this.#waits.push(wait);
    return this.store.wakeRightFreed(sessionId, wait.signal);
  }

  async end(): Promise<void> {
    for (const wait of this.#waits) wait.abort();
    await Promise.all(this.#taken.map((right) => right.release()));
  }
}

/** A case over a store that holds one session. */
function rightCase(name: string, run: (rights: WakeRightsOfCase) => Promise<void>): ContractCase<WakeRightStore> {
  return {
    name,
    async run(store) {
      await store.create(IDENTITY, creation());
      const rights = new WakeRightsOfCase(store);
      try {
        await run(rights);
      } finally {
        await rights.end();
      }
    },
  };
}

const NEW: WakeClaim = { epoch: 0, isOpen: false };
const CONFLICT = 'WAKE_CONFLICT';

const giving: readonly ContractCase<WakeRightStore>[] = [
  rightCase('is given to one at a time, under the epoch after that of the log', async (rights) => {
    const right = await rights.acquire({ epoch: 6, isOpen: false });
    expectSame({ epoch: right.epoch, isLost: right.lost.aborted }, { epoch: 7, isLost: false }, 'the right');
    expectSame(await rights.ask({ epoch: 6, isOpen: false }), CONFLICT, 'asking for it while it is held');
  }),

  rightCase('is given to the next when it was released, and a second release takes nothing away', async (rights) => {
    const right = await rights.acquire(NEW);
    await right.release();
    await right.release();
    const next = await rights.acquire(NEW);
    await right.release();
    expectSame(await rights.ask(NEW), CONFLICT, 'asking for it after the release of one who had released it before');
    expectSame(next.lost.aborted, false, 'whether the holder has lost it');
  }),

  rightCase('is given to exactly one of many who ask at once', async (rights) => {
    const outcomes = await Promise.all(numbersTo(10).map(() => rights.ask(NEW)));
    expectSame(
      outcomes.toSorted(),
      [...Array<string>(9).fill(CONFLICT), SUCCEEDED],
      'the outcomes of ten who ask at once',
    );
  }),

  rightCase('of each session is its own', async (rights) => {
    await rights.store.create({ sessionId: idOf(50), agentId: AGENT_ID }, creation(51));
    await rights.acquire(NEW);
    expectSame((await rights.acquire(NEW, idOf(50))).epoch, 1, 'the epoch of another session');
  }),

  rightCase('of a session that is not there cannot be had', async (rights) => {
    await expectRefusal(rights.acquire(NEW, NOBODY), 'SESSION_NOT_FOUND', 'asking for it');
    await told(
      expectRefusal(rights.freed(NOBODY), 'SESSION_NOT_FOUND', 'waiting for it'),
      'the refusal to wait for it',
    );
  }),
];

const passing: readonly ContractCase<WakeRightStore>[] = [
  rightCase('stays with a holder whose wake is open in the log', async (rights) => {
    await rights.acquire(NEW);
    expectSame(await rights.ask({ epoch: 1, isOpen: true }), CONFLICT, 'asking for it');
  }),

  rightCase('does not wait for the release of a holder whose wake has ended in the log', async (rights) => {
    const ended = await rights.acquire(NEW);
    const next = await rights.acquire({ epoch: 1, isOpen: false });
    expectSame(
      { epoch: next.epoch, isLost: ended.lost.aborted },
      { epoch: 2, isLost: false },
      'the next right, and whether the one before is lost',
    );
    await ended.release();
    expectSame(
      await rights.ask({ epoch: 1, isOpen: false }),
      CONFLICT,
      'asking for it after the one before has released his',
    );
  }),

  rightCase('is lost by a holder that the log has gone past, who is told', async (rights) => {
    const late = await rights.acquire(NEW);
    const right = await rights.acquire({ epoch: 4, isOpen: false });
    const loss = new Promise<void>((resolve) => {
      late.lost.addEventListener('abort', () => resolve(), { once: true });
      if (late.lost.aborted) resolve();
    });
    await told(loss, 'the news that the right is lost');
    const reason: unknown = late.lost.reason;
    const why = RuntimeError.is(reason)
      ? {
          code: reason.code,
          category: reason.category,
          details: { epoch: reason.details?.['epoch'], by: reason.details?.['by'] },
        }
      : String(reason);
    expectSame(
      why,
      { code: 'WAKE_SUPERSEDED', category: 'conflict', details: { epoch: 1, by: 5 } },
      'the reason of the loss',
    );
    expectSame(right.lost.aborted, false, 'whether the newer one is lost');
  }),

  rightCase('is taken over from a wake that is open in the log and whose process is gone', async (rights) => {
    expectSame((await rights.acquire({ epoch: 3, isOpen: true })).epoch, 4, 'the epoch of the one who takes over');
  }),
];

const waiting: readonly ContractCase<WakeRightStore>[] = [
  rightCase('tells when it has been released, and at once when it is free', async (rights) => {
    await told(rights.freed(), 'the news that it is free');
    const right = await rights.acquire(NEW);
    let isFreed = false;
    const freed = rights.freed().then(() => {
      isFreed = true;
    });
    expectSame(await rights.ask(NEW), CONFLICT, 'asking for it while it is held');
    expectSame(isFreed, false, 'whether it was said to be free while it was held');
    await right.release();
    await told(freed, 'the news that it was released');
    expectSame(await rights.ask(NEW), SUCCEEDED, 'asking for it after it was released');
  }),

  rightCase('tells every waiter, and those who do not want to wait any more', async (rights) => {
    const right = await rights.acquire(NEW);
    const impatient = new AbortController();
    let stillWaiting = 20;
    const waits = numbersTo(stillWaiting).map(() =>
      rights.freed().then(() => {
        stillWaiting -= 1;
      }),
    );
    const given = rights.store.wakeRightFreed(SESSION_ID, impatient.signal);
    impatient.abort();
    await told(given, 'the end of a wait that was given up');
    await told(
      rights.store.wakeRightFreed(SESSION_ID, AbortSignal.abort()),
      'the end of a wait that was given up before it began',
    );
    expectSame(stillWaiting, 20, 'how many of twenty still wait');
    await right.release();
    await told(Promise.all(waits), 'the news of the release, for all twenty');
  }),
];

const asking: readonly ContractCase<WakeRightStore>[] = [
  rightCase(
    'says whether a process holds it, from its taking to its release, and takes nothing by asking',
    async (rights) => {
      const isHeld = (): Promise<boolean> => rights.store.isWakeRightHeld(SESSION_ID);
      expectSame(await isHeld(), false, 'whether it is held before one has asked for it');
      const right = await rights.acquire(NEW);
      expectSame([await isHeld(), await isHeld()], [true, true], 'whether it is held, asked twice');
      expectSame(right.lost.aborted, false, 'whether asking took it away');
      await right.release();
      expectSame(await isHeld(), false, 'whether it is held after its release');
      expectSame(await rights.ask(NEW), SUCCEEDED, 'asking for it after that');
    },
  ),

  {
    name: 'says of a session that is not there that it is not there, instead of that it is free',
    async run(store) {
      await expectRefusal(store.isWakeRightHeld(NOBODY), 'SESSION_NOT_FOUND', 'asking whether it is held');
    },
  },
];

export const wakeRightContract: readonly ContractCase<WakeRightStore>[] = named('the right to wake', [
  ...giving,
  ...passing,
  ...waiting,
  ...asking,
]);
