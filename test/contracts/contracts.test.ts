import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MemoryEventStore } from '../../src/adapters/memory/memory-event-store.ts';
import { TELLING_LIMIT_MS, expectRefusal, expectSame, told } from '../../src/testing/expectations.ts';
import { activationIndexContract, eventStoreContract, wakeRightContract } from '../../src/testing.ts';
import type { ContractCase } from '../../src/testing.ts';
import { brokenIndex, brokenIndexes, brokenStore, brokenStores, brokenWakeRights } from './broken-stores.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/**
 * What a piece of work failed with, without waiting for real until somebody who is silent has been silent for long
 * enough.
 */
async function failureOf(work: Promise<unknown>): Promise<string | undefined> {
  let isOver = false;
  const ended = work.then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  void ended.then(() => {
    isOver = true;
  });
  while (!isOver) await vi.advanceTimersByTimeAsync(TELLING_LIMIT_MS);
  return ended;
}

/** Sentences that turned out not to be true, with what was said about each. */
async function failuresOf<Subject>(
  contract: readonly ContractCase<Subject>[],
  open: () => Subject,
): Promise<Map<string, string>> {
  const failures = new Map<string, string>();
  for (const { name, run } of contract) {
    const failure = await failureOf(run(open()));
    if (failure !== undefined) failures.set(name, failure);
  }
  return failures;
}

/** What the case has to say that is to find a flaw. */
async function findingOf<Subject>(
  contract: readonly ContractCase<Subject>[],
  sentence: string,
  open: () => Subject,
): Promise<string> {
  const [finder, ...others] = contract.filter(({ name }) => name.includes(sentence));
  if (finder === undefined || others.length > 0)
    throw new Error(
      `expected one case whose name has "${sentence}", found ${finder === undefined ? 0 : 1 + others.length}`,
    );
  return (await failureOf(finder.run(open()))) ?? 'it found nothing';
}

describe('the contracts', () => {
  it('have a sentence of its own for every case', () => {
    const names = [...eventStoreContract, ...wakeRightContract, ...activationIndexContract].map(({ name }) => name);
    expect(names.length).toBeGreaterThan(70);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names)
      expect(name).toMatch(/^(?:an event store,|the right to wake|an index of what is due) [a-z].{10,}[a-z\d]$/);
  });

  it('have nothing to say about a sound store', async () => {
    const open = (): MemoryEventStore => new MemoryEventStore();
    expect(await failuresOf(eventStoreContract, open)).toEqual(new Map());
    expect(await failuresOf(wakeRightContract, open)).toEqual(new Map());
    expect(await failuresOf(activationIndexContract, () => ({ index: open().activations }))).toEqual(new Map());
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leave no timer behind, also when they fail', async () => {
    const failures = await failuresOf(eventStoreContract, () =>
      brokenStore(() => ({ append: async () => Promise.reject(new Error('broken')) })),
    );
    expect(failures.size).toBeGreaterThan(10);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a store that', () => {
  it.each(brokenStores)('%s is found: %s', async (_flaw, sentence, change) => {
    expect(await findingOf(eventStoreContract, sentence, () => brokenStore(change))).toMatch(
      /expected .+, received |what was received \(\+\) is not what was expected \(-\)/s,
    );
  });

  it.each(brokenWakeRights)('%s is found: %s', async (_flaw, sentence, change) => {
    expect(await findingOf(wakeRightContract, sentence, () => brokenStore(change))).toMatch(
      /expected .+, received |WAKE_CONFLICT|another process/s,
    );
  });
});

describe('an index that', () => {
  it.each(brokenIndexes)('%s is found: %s', async (_flaw, sentence, change) => {
    expect(await findingOf(activationIndexContract, sentence, () => ({ index: brokenIndex(change) }))).toMatch(
      /expected .+, received |what was received/s,
    );
  });

  it('leaves a timer is found when its clock can be checked', async () => {
    const failures = await failuresOf(activationIndexContract, () => ({
      index: new MemoryEventStore().activations,
      clock: { pendingTimers: 1 },
    }));
    expect([...failures.values()]).toEqual(['the timers that are left: expected 0, received 1']);
  });
});

describe('a failure', () => {
  const messageOf = (work: () => void): string => {
    try {
      work();
    } catch (error) {
      return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    }
    return 'none';
  };

  it('says what was checked, what was expected and what came', async () => {
    expect(messageOf(() => expectSame({ b: 1, a: [undefined, Number.NaN] }, { b: 2 }, 'the thing'))).toBe(
      'AssertionError: the thing: expected {"b":2}, received {"b":1,"a":[null,null]}',
    );
    expect(messageOf(() => expectSame(undefined, 'x', 'the thing'))).toBe(
      'AssertionError: the thing: expected "x", received nothing',
    );
    expect(await failureOf(expectRefusal(Promise.resolve(), 'HEAD_MOVED', 'the append'))).toBe(
      'the append: expected "HEAD_MOVED", received "it succeeded"',
    );
    expect(await failureOf(expectRefusal(Promise.reject(new TypeError('oops')), 'HEAD_MOVED', 'the append'))).toBe(
      'the append: expected "HEAD_MOVED", received "not a RuntimeError: TypeError: oops"',
    );
  });

  it('shows only where large things differ', () => {
    const large = Array.from({ length: 500 }, (_, index) => index);
    const message = messageOf(() => expectSame(large.with(250, -1), large, 'the list'));
    expect(message).toContain('the list: what was received (+) is not what was expected (-)');
    expect(message).toMatch(/^\+ +-1,?$/m);
    expect(message.length).toBeLessThan(2_000);
  });

  it('takes no notice of what plain data cannot say', () => {
    class Point {
      readonly x = 1;
      readonly y = undefined;
    }
    expect(
      messageOf(() =>
        expectSame(
          [new Point(), Object.assign(Object.create(null) as object, { x: 1 })],
          [{ x: 1 }, { x: 1 }],
          'points',
        ),
      ),
    ).toBe('none');
    expect(messageOf(() => expectSame([1, undefined], [1], 'lists'))).toContain(
      'lists: expected [1], received [1,null]',
    );
    expect(messageOf(() => expectSame(1n, 1, 'numbers'))).toContain('numbers: expected 1, received 1');
  });

  it('of those who are silent comes after a while', async () => {
    expect(await failureOf(told(new Promise(() => undefined), 'the news'))).toBe(
      `the news: expected it within ${TELLING_LIMIT_MS} milliseconds, received nothing`,
    );
    expect(await told(Promise.resolve('heard'), 'the news')).toBe('heard');
  });
});
