/** What the right to wake a session is, whatever store gives it. Each adapter runs this suite against itself, beside the one of the log. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventStore, WakeClaim, WakeRight } from '../../src/actors/session/event-store.ts';
import { AGENT_ID, IDENTITY, SESSION_ID, created, idOf, newEvent } from '../support/session-events.ts';
import { codeOf } from './event-store.contract.ts';

/** As much of a store as the suite uses. */
export type WakeRightStore = Pick<EventStore, 'create' | 'acquireWakeRight' | 'wakeRightFreed'>;

export interface WakeRightsUnderTest {
  readonly store: WakeRightStore;
  /** Lets go of everything, the store included. */
  dispose(): Promise<void>;
}

const NEW: WakeClaim = { epoch: 0, isOpen: false };
const never = (): AbortSignal => new AbortController().signal;

export function describeWakeRights(name: string, open: () => Promise<WakeRightsUnderTest>): void {
  describe(`${name}, as the giver of the right to wake,`, () => {
    let store: WakeRightStore;
    let dispose: () => Promise<void>;
    const taken: WakeRight[] = [];
    const acquire = async (claim: WakeClaim, sessionId = SESSION_ID): Promise<WakeRight> => {
      const right = await store.acquireWakeRight(sessionId, claim);
      taken.push(right);
      return right;
    };
    const refusal = (claim: WakeClaim): Promise<string> => codeOf(acquire(claim));

    beforeEach(async () => {
      ({ store, dispose } = await open());
      await store.create(IDENTITY, [newEvent(1, created)]);
    });
    afterEach(async () => {
      await Promise.all(taken.splice(0).map((right) => right.release()));
      await dispose();
    });

    it('gives it to one at a time, under the epoch after that of the log', async () => {
      const right = await acquire({ epoch: 6, isOpen: false });
      expect(right.epoch).toBe(7);
      expect(right.lost.aborted).toBe(false);
      expect(await refusal({ epoch: 6, isOpen: false })).toBe('WAKE_CONFLICT');
    });

    it('gives it to the next when it was released, and a second release takes nothing away', async () => {
      const right = await acquire(NEW);
      await right.release();
      await right.release();
      const next = await acquire(NEW);
      await right.release();
      expect(await refusal(NEW)).toBe('WAKE_CONFLICT');
      expect(next.lost.aborted).toBe(false);
    });

    it('gives it to exactly one of many who ask at once', async () => {
      const codes = await Promise.all(Array.from({ length: 10 }, () => refusal(NEW)));
      expect(codes.toSorted()).toEqual([...Array.from({ length: 9 }, () => 'WAKE_CONFLICT'), 'it succeeded']);
    });

    it('keeps it with a holder whose wake is open in the log', async () => {
      await acquire(NEW);
      expect(await refusal({ epoch: 1, isOpen: true })).toBe('WAKE_CONFLICT');
    });

    it('does not wait for the release of a holder whose wake has ended in the log', async () => {
      const ended = await acquire(NEW);
      const next = await acquire({ epoch: 1, isOpen: false });
      expect(next.epoch).toBe(2);
      expect(ended.lost.aborted).toBe(false);
      await ended.release();
      expect(await refusal({ epoch: 1, isOpen: false })).toBe('WAKE_CONFLICT');
    });

    it('tells a holder that the log has gone past that it has lost it', async () => {
      const late = await acquire(NEW);
      const right = await acquire({ epoch: 4, isOpen: false });
      if (!late.lost.aborted) await new Promise((resolve) => late.lost.addEventListener('abort', resolve));
      expect(late.lost.reason).toMatchObject({ code: 'WAKE_SUPERSEDED', category: 'conflict', details: { epoch: 1, by: 5 } });
      expect(right.lost.aborted).toBe(false);
    });

    it('takes over from a wake that is open in the log and whose process is gone', async () => {
      expect((await acquire({ epoch: 3, isOpen: true })).epoch).toBe(4);
    });

    it('gives each session its own', async () => {
      await store.create({ sessionId: idOf(50), agentId: AGENT_ID }, [newEvent(51, created)]);
      await acquire(NEW);
      expect((await acquire(NEW, idOf(50))).epoch).toBe(1);
    });

    it('tells when it has been released, and at once when nobody has it', async () => {
      await store.wakeRightFreed(SESSION_ID, never());
      const right = await acquire(NEW);
      let isFreed = false;
      const freed = store.wakeRightFreed(SESSION_ID, never()).then(() => {
        isFreed = true;
      });
      expect(await refusal(NEW)).toBe('WAKE_CONFLICT');
      expect(isFreed).toBe(false);
      await right.release();
      await freed;
      await acquire(NEW);
    });

    it('tells everybody who waits, and those who do not want to wait any more', async () => {
      const right = await acquire(NEW);
      const impatient = new AbortController();
      const waiting = Array.from({ length: 20 }, () => store.wakeRightFreed(SESSION_ID, never()));
      const given = store.wakeRightFreed(SESSION_ID, impatient.signal);
      impatient.abort();
      await given;
      await store.wakeRightFreed(SESSION_ID, AbortSignal.abort());
      let stillWaiting = waiting.length;
      for (const each of waiting) void each.then(() => { stillWaiting -= 1; });
      expect(stillWaiting).toBe(20);
      await right.release();
      await Promise.all(waiting);
      expect(stillWaiting).toBe(0);
    });

    it('knows no session that is not there', async () => {
      expect(await codeOf(store.acquireWakeRight(idOf(99), NEW))).toBe('SESSION_NOT_FOUND');
      expect(await codeOf(store.wakeRightFreed(idOf(99), never()))).toBe('SESSION_NOT_FOUND');
    });
  });
}
