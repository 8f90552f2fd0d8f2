/**
 * What a store of many sessions costs: measured at several sizes, and extrapolated from those to a million sessions
 * with a hundred million events. The points are written to `.build/bench/postgres-growth.json`; `node
 * scripts/postgres-growth-picture.mjs` draws them.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createSystemClock } from 'wakechart/node';
import { PostgresEventStore } from 'wakechart/postgres';
import { median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { fitLine, predict } from './fit.ts';
import { EVENTS_PER_SESSION, grow, someSessions } from './grown-store.ts';
import { ask, startServer } from './server.ts';
import { saying } from './sessions.ts';

const STEPS = [1_250, 2_500, 5_000, 10_000, 20_000, 40_000, 80_000] as const;
/** Fewer points tell nothing of what lies beyond. */
const LEAST_STEPS = 4;
/** No further step is begun when filling the ones before has taken so long, in milliseconds. */
const FILLING_LIMIT_MS = 60_000;
const WANTED = 1_000_000;
const CALLS = 200;
const LISTS = 40;
const GIGABYTE = 1e9;

const MEASURES = ['append', 'claim', 'read', 'list'] as const;
type Measure = (typeof MEASURES)[number];
const NAMES: Readonly<Record<Measure, string>> = {
  append: 'append',
  claim: 'claim of 8 due sessions',
  read: 'read of the newest 100 events',
  list: 'list of the newest 100 sessions',
};

interface Point {
  readonly sessions: number;
  /** Medians, in milliseconds. */
  readonly ms: Readonly<Record<Measure, number>>;
  readonly spreads: Readonly<Record<Measure, string>>;
  /** Of all events with their indexes. */
  readonly eventBytes: number;
  /** Of everything else. */
  readonly sessionBytes: number;
}

let next = 9_000_000;

export async function run(): Promise<BenchRow[]> {
  const server = await startServer();
  try {
    const url = await server.migrated();
    const points: Point[] = [];
    let filledMs = 0;
    for (const sessions of STEPS) {
      if (filledMs > FILLING_LIMIT_MS && points.length >= LEAST_STEPS) break;
      const beganMs = performance.now();
      await grow(url, (points.at(-1)?.sessions ?? 0) + 1, sessions);
      filledMs += performance.now() - beganMs;
      points.push(await pointAt(url, sessions));
    }
    const growth = { wanted: WANTED, eventsPerSession: EVENTS_PER_SESSION, points, lines: linesOf(points) };
    mkdirSync('.build/bench', { recursive: true });
    writeFileSync('.build/bench/postgres-growth.json', `${JSON.stringify(growth, undefined, 2)}\n`);
    return rowsOf(points);
  } finally {
    await server.stop();
  }
}

async function pointAt(url: string, sessions: number): Promise<Point> {
  const store = await PostgresEventStore.open({ url, clock: createSystemClock() });
  const ids = await someSessions(url, sessions, CALLS * 2);
  const id = (n: number): string => ids[n % ids.length] ?? '';
  const all: Readonly<Record<Measure, readonly number[]>> = {
    append: await times(CALLS, (n) => store.append(id(n), [saying((next += 1))])),
    claim: await claims(store),
    read: await times(CALLS, (n) => store.read(id(n + CALLS), { from: EVENTS_PER_SESSION - 99 })),
    list: await times(LISTS, () => store.list({ newest: 100 })),
  };
  await store.close();
  const [size] = await ask<{ readonly events: string; readonly all: string }>(
    url,
    `SELECT sum(pg_total_relation_size(c.oid)) FILTER (WHERE c.relname LIKE 'event%') AS events, sum(pg_total_relation_size(c.oid)) AS all
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'wakechart' AND c.relkind = 'r'`,
  );
  const eventBytes = Number(size?.events);
  const of = <Value>(read: (values: readonly number[]) => Value): Record<Measure, Value> => ({
    append: read(all.append),
    claim: read(all.claim),
    read: read(all.read),
    list: read(all.list),
  });
  return { sessions, ms: of(median), spreads: of(spread), eventBytes, sessionBytes: Number(size?.all) - eventBytes };
}

/** Each by a store that has claimed nothing before. */
async function claims(store: PostgresEventStore): Promise<readonly number[]> {
  const { activations, clock, database } = store;
  return times(
    LISTS,
    () => activations.due({ nowMs: clock.now(), limit: 8, claims: 8 }),
    () => database.run(`DELETE FROM ${database.schema}.claim`),
  );
}

/** Milliseconds of each call. The first quarter is warm-up. */
async function times(
  count: number,
  call: (n: number) => Promise<unknown>,
  after: () => Promise<unknown> = async () => undefined,
): Promise<readonly number[]> {
  const values: number[] = [];
  for (let n = -Math.floor(count / 4); n < count; n += 1) {
    const beganMs = performance.now();
    await call(Math.abs(n));
    if (n >= 0) values.push(performance.now() - beganMs);
    await after();
  }
  return values;
}

interface GrowthLine {
  readonly name: string;
  /**
   * What the line is straight in: a tree grows by a level each time its rows are hundreds of times as many; bytes grow
   * with the rows.
   */
  readonly over: 'log10 sessions' | 'sessions';
  readonly unit: 'ms' | 'GB';
  readonly measured: readonly number[];
  readonly intercept: number;
  readonly slope: number;
  readonly standardError: number;
  /** For the wanted size. */
  readonly value: number;
  readonly margin: number;
}

function linesOf(points: readonly Point[]): readonly GrowthLine[] {
  const line = (
    name: string,
    unit: GrowthLine['unit'],
    over: GrowthLine['over'],
    read: (point: Point) => number,
  ): GrowthLine => {
    const place = (sessions: number): number => (over === 'sessions' ? sessions : Math.log10(sessions));
    const xs = points.map(({ sessions }) => place(sessions));
    const measured = points.map(read);
    const fitted = fitLine(xs, measured);
    return { name, over, unit, measured, ...fitted, ...predict(fitted, xs, place(WANTED)) };
  };
  return [
    ...MEASURES.map((measure) => line(NAMES[measure], 'ms', 'log10 sessions', ({ ms }) => ms[measure])),
    line('events with their indexes', 'GB', 'sessions', ({ eventBytes }) => eventBytes / GIGABYTE),
    line('sessions with their views', 'GB', 'sessions', ({ sessionBytes }) => sessionBytes / GIGABYTE),
  ];
}

function rowsOf(points: readonly Point[]): BenchRow[] {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return [];
  const size = `${last.sessions.toLocaleString('en')} sessions, ${((last.sessions * EVENTS_PER_SESSION) / 1e6).toFixed(0)} M events`;
  const shown = { target: 'shown', met: true } as const;
  return [
    ...MEASURES.map((measure): BenchRow => ({
      name: `${NAMES[measure]}, ${size}`,
      unit: 'ms',
      value: last.ms[measure],
      spread: last.spreads[measure],
      peer: `at ${first.sessions.toLocaleString('en')} sessions`,
      peerValue: first.ms[measure],
      ratio: last.ms[measure] / first.ms[measure],
      ...shown,
    })),
    {
      name: `an event with its indexes, ${size}`,
      unit: 'bytes',
      value: last.eventBytes / last.sessions / EVENTS_PER_SESSION,
      spread: '',
      ...shown,
    },
    {
      name: `a session with its view, ${size}`,
      unit: 'bytes',
      value: last.sessionBytes / last.sessions,
      spread: '',
      ...shown,
    },
    ...linesOf(points).map(({ name, unit, value, margin }): BenchRow => ({
      name: `extrapolated to 1 M sessions, 100 M events: ${name}`,
      unit,
      value,
      spread: `±${((100 * margin) / value).toFixed(0)} %`,
      ...shown,
    })),
  ];
}
