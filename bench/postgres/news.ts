/**
 * How soon another process has what was appended: leased by a worker that hears of it, and read by a hundred followers
 * of one session. Beside the first, the same by hand: NOTIFY right after the commit, LISTEN, and one statement that
 * claims and leases.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import type { PostgresEventStore } from 'wakechart/postgres';
import { median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { nowMs } from './fleet.ts';
import { RAW_DUE } from './news-listener.ts';
import { ask } from './server.ts';
import { idOf, saying, withStore } from './sessions.ts';

const LATENCIES = 200;
const FOLLOWED = 60;
const WARM_UP = 10;
const MANY = 100;
/** Milliseconds of quiet before each append: what the one before has set off is over by then. */
const REST_MS = 15;
const LISTENER = new URL('./news-listener.js', import.meta.url);

let next = 3_000_000;

export function run(): Promise<BenchRow[]> {
  return withStore(2, async ({ url, store }) => {
    await ask(url, RAW_DUE);
    return [...(await leasedRows(url, store)), ...(await followerRows(url, store))];
  });
}

async function leasedRows(url: string, store: PostgresEventStore): Promise<BenchRow[]> {
  const [ours, theirs] = [await listener('leases', url), await listener('raw', url)];
  const client = new Client({ connectionString: url });
  await client.connect();
  const values = { ours: [] as number[], raw: [] as number[] };
  for (let n = 0; n < LATENCIES + WARM_UP; n += 1) {
    const own = await told(ours, async () => {
      const event = saying((next += 1));
      await store.append(idOf(0), [event], {
        activate: [
          { sessionId: idOf(0), agentId: 'bench', causeId: event.id, kind: 'ingress', priority: 'normal', dueAtMs: 1 },
        ],
      });
    });
    const raw = await told(theirs, async () => {
      await client.query({ name: 'due', text: 'SELECT public.raw_due($1)', values: [idOf((next += 1))] });
      await client.query('NOTIFY raw_due');
    });
    if (n < WARM_UP) continue;
    values.ours.push(own);
    values.raw.push(raw);
  }
  await client.end();
  for (const each of [ours, theirs]) await end(each);
  const row = (name: string, at: (all: readonly number[]) => number): BenchRow => ({
    name: `append to leased in another process, ${name}`,
    unit: 'ms',
    value: at(values.ours),
    spread: spread(values.ours),
    peer: 'NOTIFY, LISTEN and a claim by hand',
    peerValue: at(values.raw),
    ratio: at(values.ours) / at(values.raw),
    target: name === 'p50' ? 'p50 < 25 ms' : 'shown',
    met: name !== 'p50' || at(values.ours) < 25,
  });
  return [
    row('p50', median),
    row('p99', (all) => all.toSorted((a, b) => a - b)[Math.floor(0.99 * (all.length - 1))] ?? Number.NaN),
  ];
}

/** In turn with one follower and with many, until the last of them has read the event. */
async function followerRows(url: string, store: PostgresEventStore): Promise<BenchRow[]> {
  const followers = {
    one: await listener('followers', url, 1, idOf(0)),
    many: await listener('followers', url, MANY, idOf(1)),
  };
  const values = { one: [] as number[], many: [] as number[] };
  for (let n = 0; n < FOLLOWED + WARM_UP; n += 1) {
    for (const [index, who] of (['one', 'many'] as const).entries()) {
      const latencyMs = await told(followers[who], () => store.append(idOf(index), [saying((next += 1))]));
      if (n >= WARM_UP) values[who].push(latencyMs);
    }
  }
  for (const each of Object.values(followers)) await end(each);
  const each = values.many.map((many, index) => ((many - (values.one[index] ?? Number.NaN)) / (MANY - 1)) * 1_000);
  const shown = { target: 'shown', met: true } as const;
  return [
    {
      name: `append to read by the last of ${MANY} followers in another process`,
      unit: 'ms',
      value: median(values.many),
      spread: spread(values.many),
      peer: 'by the only follower',
      peerValue: median(values.one),
      ratio: median(values.many) / median(values.one),
      ...shown,
    },
    {
      name: 'each further follower of the same session',
      unit: 'us',
      value: median(each),
      spread: spread(each),
      ...shown,
    },
  ];
}

/** @returns milliseconds from before the work until the listener says it has it */
async function told(process: ChildProcess, work: () => Promise<unknown>): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  const heard = new Promise<number>((resolve) => process.once('message', (atMs) => resolve(Number(atMs))));
  const beganMs = nowMs();
  await work();
  return (await heard) - beganMs;
}

async function listener(...words: readonly (string | number)[]): Promise<ChildProcess> {
  const child = fork(fileURLToPath(LISTENER), words.map(String));
  await once(child, 'message');
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.send('end');
  await gone;
}
