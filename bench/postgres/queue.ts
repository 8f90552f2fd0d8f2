/**
 * The half of a wake that a queue does, beside `graphile-worker` on the same server: what is due is claimed, leased,
 * done with and released, by 1, 2, 4 and 8 worker processes; and how fast one makes something due, one at a time by 64
 * at once.
 */
import { makeWorkerUtils, Logger, runMigrations } from 'graphile-worker';
import type { PostgresEventStore } from 'wakechart/postgres';
import { interleave, median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { openFleet } from './fleet.ts';
import { idOf, withStore } from './sessions.ts';
import { ask, settle } from './server.ts';

const ROUNDS = 5;
const PIECES = 600;
const ADDERS = 64;
const SIZES = [1, 2, 4, 8] as const;
const WORKERS = new URL('./wake-workers.js', import.meta.url);

const hint = (n: number): Parameters<PostgresEventStore['activations']['add']>[0][number] => ({
  sessionId: idOf(n),
  agentId: 'bench',
  causeId: idOf(n),
  kind: 'ingress',
  priority: 'normal',
  dueAtMs: 1,
});

export function run(): Promise<BenchRow[]> {
  return withStore(PIECES, async ({ server, url, store }) => {
    const graphileUrl = await server.empty();
    await runMigrations({ connectionString: graphileUrl, logger: QUIET });
    const rows: BenchRow[] = [];
    for (const size of SIZES) rows.push(await takingRow(size, { store, url, graphileUrl }));
    rows.push(await addingRow(store, graphileUrl));
    return rows;
  });
}

const QUIET = new Logger(() => () => undefined);

interface Scene {
  readonly store: PostgresEventStore;
  readonly url: string;
  readonly graphileUrl: string;
}

async function takingRow(size: number, { store, url, graphileUrl }: Scene): Promise<BenchRow> {
  const ours = await openFleet(WORKERS, ['queue', url], size);
  const theirs = await openFleet(WORKERS, ['graphile', graphileUrl], size);
  const numbers = Array.from({ length: PIECES }, (_, n) => n);
  const { a, b } = await interleave(
    ROUNDS,
    async () => {
      await store.activations.add(numbers.map(hint));
      await settle(url);
      return ours.round(PIECES);
    },
    async () => {
      await ask(
        graphileUrl,
        "SELECT graphile_worker.add_job('nothing', json_build_object('session', n)) FROM generate_series(1, $1::integer) AS n",
        [PIECES],
      );
      await settle(graphileUrl);
      return theirs.round(PIECES);
    },
  );
  await ours.end();
  await theirs.end();
  return rowOf(
    `claim, lease, release, ${size === 1 ? '1 worker' : `${size} workers`}`,
    'graphile-worker, take and complete',
    { a, b },
  );
}

/** Each waits for its own to be stored before it makes the next. */
async function addingRow(store: PostgresEventStore, graphileUrl: string): Promise<BenchRow> {
  const utils = await makeWorkerUtils({ connectionString: graphileUrl, maxPoolSize: 4, logger: QUIET });
  const rounds = async (add: (n: number) => Promise<unknown>): Promise<number> => {
    let left = PIECES;
    const beganMs = performance.now();
    await Promise.all(
      Array.from({ length: ADDERS }, async () => {
        while ((left -= 1) >= 0) await add(left);
      }),
    );
    return (PIECES / (performance.now() - beganMs)) * 1_000;
  };
  let time = 1;
  const added = await interleave(
    ROUNDS,
    () => {
      time += 1;
      return rounds((n) => store.activations.add([{ ...hint(n), dueAtMs: time }]));
    },
    () => rounds((n) => utils.addJob('nothing', { session: n })),
  );
  await utils.release();
  return rowOf(`make due, ${ADDERS} at once`, 'graphile-worker, add_job', added);
}

function rowOf(
  name: string,
  peer: string,
  { a, b }: { readonly a: readonly number[]; readonly b: readonly number[] },
): BenchRow {
  const ratio = median(a.map((own, index) => own / (b[index] ?? Number.NaN)));
  return {
    name,
    unit: 'per second',
    value: median(a),
    spread: spread(a),
    peer,
    peerValue: median(b),
    ratio,
    target: 'shown',
    met: true,
  };
}
