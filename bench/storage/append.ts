/**
 * Durable appends by 64 appenders at once against the same bytes in one write and one sync per batch; one at a time
 * against a write and a sync; and what an append costs in a long log. The spread is that of the ratio.
 */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { interleave, median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { IDENTITY, benchHome, fill, saying } from './sessions.ts';
import type { BenchHome } from './sessions.ts';

const APPENDERS = 64;
const APPENDS = 20_000;
const APPENDS_ONE_BY_ONE = 500;
const APPENDS_AT_A_LENGTH = 2_000;
const ROUNDS = 7;
const GROWTH_ROUNDS = 15;

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
    for (
      await new Promise((resolve) => setImmediate(resolve));
      waiting.length > 0;
      await new Promise((resolve) => setImmediate(resolve))
    ) {
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

/** Microseconds of one durable append after the other, each behind the receipt of the one before. */
async function oneByOneUs(home: BenchHome): Promise<number> {
  const store = home.open();
  await store.head(IDENTITY.sessionId);
  const startedMs = performance.now();
  for (let count = 0; count < APPENDS_ONE_BY_ONE; count += 1)
    await store.append(IDENTITY.sessionId, [saying((next += 1))]);
  const spentMs = performance.now() - startedMs;
  await store.close();
  return (spentMs / APPENDS_ONE_BY_ONE) * 1_000;
}

/** The same bytes by a write and a sync each. */
async function rawOneByOneUs(home: BenchHome): Promise<number> {
  const file = await open(join(home.path, 'raw-one.jsonl'), 'a');
  const startedMs = performance.now();
  for (let count = 0; count < APPENDS_ONE_BY_ONE; count += 1) {
    await file.write(Buffer.from(`${JSON.stringify(saying((next += 1)))}\n`));
    await file.datasync();
  }
  const spentMs = performance.now() - startedMs;
  await file.close();
  return (spentMs / APPENDS_ONE_BY_ONE) * 1_000;
}

/** A session of so many events, open. */
async function grown(
  length: number,
): Promise<{ readonly home: BenchHome; readonly store: ReturnType<BenchHome['open']> }> {
  const home = await benchHome();
  const store = home.open('os');
  await fill(store, length);
  return { home, store };
}

/** Microseconds of one append, without the disk. */
async function appendUs(store: ReturnType<BenchHome['open']>): Promise<number> {
  const startedMs = performance.now();
  for (let count = 0; count < APPENDS_AT_A_LENGTH; count += 1)
    await store.append(IDENTITY.sessionId, [saying((next += 1))]);
  return ((performance.now() - startedMs) / APPENDS_AT_A_LENGTH) * 1_000;
}

/**
 * In turn, with a short session beside the long one: code that is tuned by then, and a machine that is slow by then,
 * are so for both.
 */
async function growthRow(length: number): Promise<BenchRow> {
  const [long, short] = [await grown(length), await grown(10)];
  const { a: values, b: first } = await interleave(
    GROWTH_ROUNDS,
    () => appendUs(long.store),
    () => appendUs(short.store),
  );
  for (const { store, home } of [long, short]) {
    await store.close();
    await home.remove();
  }
  const ratios = values.map((value, index) => value / (first[index] ?? Number.NaN));
  const ratio = median(ratios);
  return {
    name: `append at event ${length.toLocaleString('en')}`,
    unit: 'us',
    value: median(values),
    spread: spread(ratios),
    peer: 'itself at event 10',
    peerValue: median(first),
    ratio,
    target: '<= 1.1 x',
    met: ratio <= 1.1,
  };
}

async function groupRow(home: BenchHome): Promise<BenchRow> {
  const { a: ours, b: raw } = await interleave(
    ROUNDS,
    () => oursPerSecond(home),
    () => rawPerSecond(home),
  );
  const ratios = ours.map((own, index) => own / (raw[index] ?? Number.NaN));
  const ratio = median(ratios);
  return {
    name: `durable appends, ${APPENDERS} at once`,
    unit: 'per second',
    value: median(ours),
    spread: spread(ratios),
    peer: 'raw group commit',
    peerValue: median(raw),
    ratio,
    target: '>= 0.7 x raw',
    met: ratio >= 0.7,
  };
}

async function singleRow(home: BenchHome): Promise<BenchRow> {
  const { a: ours, b: raw } = await interleave(
    ROUNDS,
    () => oneByOneUs(home),
    () => rawOneByOneUs(home),
  );
  const ratios = ours.map((own, index) => own / (raw[index] ?? Number.NaN));
  const ratio = median(ratios);
  return {
    name: 'durable append, one at a time',
    unit: 'us',
    value: median(ours),
    spread: spread(ratios),
    peer: 'a write and a sync',
    peerValue: median(raw),
    ratio,
    target: '<= 1.3 x',
    met: ratio <= 1.3,
  };
}

export async function run(): Promise<BenchRow[]> {
  const home = await benchHome();
  const store = home.open();
  await fill(store, 1);
  await store.close();
  const rows = [await groupRow(home), await singleRow(home)];
  await home.remove();
  for (const length of [100_000, 1_000_000]) rows.push(await growthRow(length));
  return rows;
}
