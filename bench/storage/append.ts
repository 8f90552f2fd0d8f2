/** Durable appends by 64 appenders at once against the same bytes in one write and one sync per batch; and what an append costs in a long log. */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { interleave, median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { IDENTITY, benchHome, fill, saying } from './sessions.ts';
import type { BenchHome } from './sessions.ts';

const APPENDERS = 64;
const APPENDS = 20_000;
const ROUNDS = 5;

let next = 2_000_000;

/** Appends per second through the store. */
async function oursPerSecond(home: BenchHome): Promise<number> {
  const store = home.open();
  await store.head(IDENTITY.sessionId);
  let left = APPENDS;
  const startedMs = performance.now();
  await Promise.all(
    Array.from({ length: APPENDERS }, async () => {
      while ((left -= 1) >= 0) await store.append(IDENTITY.sessionId, [saying((next += 1))]);
    }),
  );
  const spentMs = performance.now() - startedMs;
  await store.close();
  return (APPENDS / spentMs) * 1_000;
}

/** The least that group commit takes: text, one write, one sync, one promise each. */
async function rawPerSecond(home: BenchHome): Promise<number> {
  const file = await open(join(home.path, 'raw.jsonl'), 'a');
  let waiting: { readonly line: string; readonly done: () => void }[] = [];
  let isWriting = false;
  const drain = async (): Promise<void> => {
    isWriting = true;
    for (await new Promise((resolve) => setImmediate(resolve)); waiting.length > 0; await new Promise((resolve) => setImmediate(resolve))) {
      const batch = waiting.splice(0);
      await file.write(Buffer.from(batch.map(({ line }) => line).join('')));
      await file.datasync();
      for (const { done } of batch) done();
    }
    isWriting = false;
  };
  const append = (line: string): Promise<void> =>
    new Promise((resolve) => {
      waiting.push({ line, done: resolve });
      if (!isWriting) void drain();
    });
  let left = APPENDS;
  const startedMs = performance.now();
  await Promise.all(
    Array.from({ length: APPENDERS }, async () => {
      while ((left -= 1) >= 0) await append(`${JSON.stringify(saying((next += 1)))}\n`);
    }),
  );
  const spentMs = performance.now() - startedMs;
  waiting = [];
  await file.close();
  return (APPENDS / spentMs) * 1_000;
}

/** Microseconds of one append in a log that is `length` events long, without the disk. */
async function appendUs(length: number): Promise<number[]> {
  const home = await benchHome();
  const store = home.open('os');
  await fill(store, length);
  const values: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const startedMs = performance.now();
    for (let count = 0; count < 1_000; count += 1) await store.append(IDENTITY.sessionId, [saying((next += 1))]);
    values.push(performance.now() - startedMs);
  }
  await store.close();
  await home.remove();
  return values.slice(1);
}

export async function run(): Promise<BenchRow[]> {
  const home = await benchHome();
  const store = home.open();
  await fill(store, 1);
  await store.close();
  const { a: ours, b: raw } = await interleave(ROUNDS, () => oursPerSecond(home), () => rawPerSecond(home));
  await home.remove();
  const ratio = median(ours.map((own, index) => own / (raw[index] ?? Number.NaN)));
  const rows: BenchRow[] = [
    { name: `durable appends, ${APPENDERS} at once`, unit: 'per second', value: median(ours), spread: spread(ours), peer: 'raw group commit', peerValue: median(raw), ratio, target: '>= 0.6 x raw', met: ratio >= 0.6 },
  ];
  const first = median(await appendUs(10));
  for (const length of [100_000, 1_000_000]) {
    const values = await appendUs(length);
    const grown = median(values) / first;
    rows.push({ name: `append at event ${length.toLocaleString('en')}`, unit: 'us', value: median(values), spread: spread(values), peer: 'itself at event 10', peerValue: first, ratio: grown, target: '<= 1.1 x', met: grown <= 1.1 });
  }
  return rows;
}
