/** A store that does not answer, and does again: said once each, however long it takes and however its silence ends. */
import { expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { watchStore } from '../../../src/actors/session/store-watch.ts';
import type { StoreNews } from '../../../src/actors/session/store-watch.ts';

/** Promises that are resolved have had their say. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}

/** A store that answers, waits for whoever is away, or fails at once. */
function watched() {
  const clock = createSimulatedClock();
  const news: StoreNews[] = [];
  const waiting: { resolve(): void; reject(error: Error): void }[] = [];
  const store = { is: 'here' as 'here' | 'waiting' | 'failing', asked: 0 };
  const ask = (): Promise<unknown> => {
    store.asked += 1;
    if (store.is === 'here') return Promise.resolve();
    if (store.is === 'failing') return Promise.reject(new Error('away'));
    return new Promise<void>((resolve, reject) => void waiting.push({ resolve, reject }));
  };
  const end = watchStore({ clock, ask, onNews: (each) => void news.push(each) });
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      await settled();
      await clock.advance(1_000);
    }
    await settled();
  };
  return { clock, news, waiting, store, end, pass };
}

it('says nothing of a store that answers', async () => {
  const { news, store, pass, end } = watched();
  await pass(60);
  expect({ news, asked: store.asked }).toEqual({ news: [], asked: 13 });
  end();
});

it('says after five seconds that it waits, and when it has been answered', async () => {
  const { news, store, waiting, pass, end } = watched();
  await pass(4);
  store.is = 'waiting';
  await pass(30);
  expect(news).toEqual([{ answers: false, silentMs: 5_000 }]);
  store.is = 'here';
  waiting[0]?.resolve();
  await pass(20);
  expect(news.slice(1)).toEqual([{ answers: true, silentMs: 29_000 }]);
  end();
});

it('asks again and again when it is refused, and is not sooner sure of it', async () => {
  const { news, store, pass, end } = watched();
  store.is = 'failing';
  await pass(31);
  expect(news).toEqual([{ answers: false, silentMs: 5_000 }]);
  expect(store.asked).toBeLessThan(9);
  store.is = 'here';
  await pass(10);
  expect(news.map(({ answers }) => answers)).toEqual([false, true]);
  end();
});

it('says nothing more once it has ended', async () => {
  const { clock, news, store, waiting, pass, end } = watched();
  store.is = 'waiting';
  await pass(6);
  expect(waiting).toHaveLength(1);
  end();
  waiting[0]?.reject(new Error('closed'));
  await pass(60);
  expect(news).toEqual([]);
  expect(clock.steadyNow()).toBeGreaterThan(60_000);
});
