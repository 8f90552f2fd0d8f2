/**
 * Durable appends to the PostgreSQL store beside the same written by hand, on the same tables: as one call of a
 * function, and as plain statements.
 */
import { Pool } from 'pg';
import type { PoolClient } from 'pg';
import type { PostgresEventStore } from 'wakechart/postgres';
import { collectGarbage, median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import type { BenchEvent } from '../storage/sessions.ts';
import { RAW_FUNCTION, appendByFunction, appendPlainly } from './raw-append.ts';
import { ask, settle } from './server.ts';
import { idOf, saying, withStore } from './sessions.ts';

const ROUNDS = 5;
const APPENDERS = 64;
const SINGLE = 200;
const CONCURRENT = 2_000;
const BATCHES = 200;
const BATCH = 10;

type Append = (appender: number, events: readonly [BenchEvent, ...BenchEvent[]]) => Promise<unknown>;

interface Contest {
  readonly name: string;
  readonly appenders: number;
  readonly appends: number;
  readonly eventsEach: number;
  readonly unit: string;
}

const CONTESTS: readonly Contest[] = [
  {
    name: 'PostgreSQL, durable append, one at a time',
    appenders: 1,
    appends: SINGLE,
    eventsEach: 1,
    unit: 'per second',
  },
  {
    name: `PostgreSQL, durable appends, ${APPENDERS} at once`,
    appenders: APPENDERS,
    appends: CONCURRENT,
    eventsEach: 1,
    unit: 'per second',
  },
  {
    name: `PostgreSQL, durable appends of ${BATCH} events, one at a time`,
    appenders: 1,
    appends: BATCHES,
    eventsEach: BATCH,
    unit: 'events per second',
  },
  {
    name: `PostgreSQL, durable appends of ${BATCH} events, ${APPENDERS} at once`,
    appenders: APPENDERS,
    appends: CONCURRENT / 2,
    eventsEach: BATCH,
    unit: 'events per second',
  },
];

let next = 1_000_000;

export function run(): Promise<BenchRow[]> {
  return withStore(APPENDERS, async ({ url, store }) => {
    await ask(url, RAW_FUNCTION);
    const pool = new Pool({ connectionString: url, max: APPENDERS });
    const clients = await Promise.all(Array.from({ length: APPENDERS }, () => pool.connect()));
    const ways = {
      ours: ours(store),
      byFunction: raw(clients, appendByFunction),
      plainly: raw(clients, appendPlainly),
    };
    const rows: BenchRow[] = [];
    for (const contest of CONTESTS) rows.push(...(await rowsOf(contest, ways, url)));
    for (const client of clients) client.release();
    await pool.end();
    return rows;
  });
}

function ours(store: PostgresEventStore): Append {
  return (appender, events) => store.append(idOf(appender), events);
}

function raw(clients: readonly PoolClient[], append: typeof appendPlainly): Append {
  return async (appender, events) => {
    const client = clients[appender];
    if (client !== undefined) await append(client, idOf(appender), events);
  };
}

async function rowsOf(
  contest: Contest,
  ways: Readonly<Record<'ours' | 'byFunction' | 'plainly', Append>>,
  url: string,
): Promise<BenchRow[]> {
  const rates = { ours: [] as number[], byFunction: [] as number[], plainly: [] as number[] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const way of ['ours', 'byFunction', 'plainly'] as const) {
      await settle(url);
      collectGarbage();
      const perSecond = await race(contest, ways[way]);
      if (round > 0) rates[way].push(perSecond);
    }
  }
  const row = (peer: string, theirs: readonly number[], floor: number | undefined): BenchRow => {
    const ratio = median(rates.ours.map((own, index) => own / (theirs[index] ?? Number.NaN)));
    return {
      name: contest.name,
      unit: contest.unit,
      value: median(rates.ours),
      spread: spread(rates.ours),
      peer,
      peerValue: median(theirs),
      ratio,
      target: floor === undefined ? 'shown' : `>= ${floor} x raw`,
      met: floor === undefined || ratio >= floor,
    };
  };
  const connections = contest.appenders === 1 ? '1 connection' : `${contest.appenders} connections`;
  return [
    row(
      `own function, ${connections}`,
      rates.byFunction,
      contest.appenders === 1 && contest.eventsEach === 1 ? 0.7 : 0.6,
    ),
    row(`plain statements, ${connections}`, rates.plainly, undefined),
  ];
}

/** @returns events per second */
async function race({ appenders, appends, eventsEach }: Contest, append: Append): Promise<number> {
  let left = appends;
  const events = (): readonly [BenchEvent, ...BenchEvent[]] => [
    saying((next += 1)),
    ...Array.from({ length: eventsEach - 1 }, () => saying((next += 1))),
  ];
  const beganMs = performance.now();
  await Promise.all(
    Array.from({ length: appenders }, async (_, appender) => {
      while ((left -= 1) >= 0) await append(appender, events());
    }),
  );
  return ((appends * eventsEach) / (performance.now() - beganMs)) * 1_000;
}
