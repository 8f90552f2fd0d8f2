/**
 * What the worker processes of the bench do. Called with what, the URL of the database, the home, and the file of the
 * recorded wake.
 */
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Logger, runOnce } from 'graphile-worker';
import { Pool } from 'pg';
import type { Runtime } from 'wakechart/ports';
import { createSystemClock } from 'wakechart/node';
import { PostgresEventStore } from 'wakechart/postgres';
import { nowMs, serve } from './fleet.ts';
import type { FleetWork } from './fleet.ts';
import { claimFor, hintsOf, statementsFor } from './recorded-wake.ts';
import type { ClaimedHint, RecordedWake } from './recorded-wake.ts';
import { openLeanRuntime, openWholeRuntime } from './wake-setup.ts';
import { claimWritten, wakeWritten } from './written-wake.ts';
import type { Appends } from './written-wake.ts';

/** Of a worker, whichever it is: at once, and connections. */
export const CONCURRENCY = 4;
const POOL_SIZE = 4;

type DueSession = Awaited<ReturnType<PostgresEventStore['activations']['due']>>['due'][number];

const [, , what = '', url = '', home = '', file = ''] = process.argv;

const WORK: Readonly<Record<string, () => Promise<FleetWork>>> = {
  lean: async () => runtimeWork(await openLeanRuntime(url, home)),
  whole: async () => runtimeWork(await openWholeRuntime(url, home)),
  replayed,
  written,
  queue,
  graphile: async () => ({ round: graphileRound, end: async () => undefined }),
};

const open = WORK[what];
if (open !== undefined) serve(await open());

function runtimeWork(runtime: Runtime): FleetWork {
  return {
    async round() {
      const done: number[] = [];
      const worker = runtime.startWorker({ untilIdle: true, concurrency: CONCURRENCY });
      worker.events$.subscribe(({ type }) => type === 'slept' && done.push(nowMs()));
      await worker.ended;
      return done;
    },
    end: () => runtime.shutdown(),
  };
}

async function replayed(): Promise<FleetWork> {
  const pool = new Pool({ connectionString: url, max: POOL_SIZE });
  const recorded = JSON.parse(await readFile(file, 'utf8')) as RecordedWake;
  const id = randomUUID();
  await pool.query(
    "INSERT INTO wakechart.worker (id, owner, alive_until) VALUES ($1, 'replay', clock_timestamp() + interval '1 hour')",
    [id],
  );
  const wake = async (hint: ClaimedHint): Promise<void> => {
    for (const { text, name, values } of statementsFor(recorded, id, hint))
      await pool.query({ text, values: [...values], ...(name === undefined ? {} : { name }) });
  };
  const claim = async (inHand: ReadonlySet<string>): Promise<readonly ClaimedHint[]> => {
    const { rows } = await pool.query<object>({
      name: 'claim',
      text: recorded.claim.text,
      values: [...claimFor(recorded, id, inHand)],
    });
    return hintsOf(rows);
  };
  return { round: () => batches(claim, wake), end: () => pool.end() };
}

async function written(): Promise<FleetWork> {
  const pool = new Pool({ connectionString: url, max: POOL_SIZE });
  const appends = JSON.parse(await readFile(file, 'utf8')) as Appends;
  const own = (): Appends => appends.map((events) => events.map((event) => ({ ...event, id: randomUUID() })));
  return {
    round: () =>
      batches(
        () => claimWritten(pool, `${process.pid}`),
        (row) => wakeWritten(pool, row, own()),
      ),
    end: () => pool.end(),
  };
}

/** The half of our wakes that a queue does: what is due is claimed, leased, done with and released. */
async function queue(): Promise<FleetWork> {
  const store = await PostgresEventStore.open({ url, clock: createSystemClock() });
  const { activations, clock } = store;
  const claim = async (inHand: ReadonlySet<string>): Promise<readonly DueSession[]> =>
    (await activations.due({ nowMs: clock.now(), limit: CONCURRENCY * 2, except: inHand, claims: CONCURRENCY * 2 }))
      .due;
  const finish = async ({ sessionId, activations: hints }: DueSession): Promise<void> => {
    const right = await store.acquireWakeRight(sessionId, { epoch: 0, isOpen: false });
    await activations.remove(hints);
    await right.release();
  };
  return { round: () => batches(claim, finish), end: () => store.close() };
}

async function graphileRound(): Promise<number[]> {
  const done: number[] = [];
  const events = new EventEmitter();
  events.on('job:complete', () => done.push(nowMs()));
  const logger = new Logger(() => () => undefined);
  await runOnce({
    connectionString: url,
    concurrency: CONCURRENCY,
    maxPoolSize: POOL_SIZE,
    noHandleSignals: true,
    logger,
    events,
    taskList: { nothing: () => undefined },
  });
  return done;
}

interface Piece {
  readonly sessionId: string;
}

/** Takes as much as there is, a few at a time, until there is nothing. */
async function batches<Own extends Piece>(
  claim: (inHand: ReadonlySet<string>) => Promise<readonly Own[]>,
  finish: (piece: Own) => Promise<void>,
): Promise<number[]> {
  const done: number[] = [];
  const waiting: Own[] = [];
  const inHand = new Set<string>();
  let claiming: Promise<boolean> | undefined;
  const more = async (): Promise<boolean> => {
    const claimed = await claim(inHand);
    waiting.push(...claimed);
    for (const { sessionId } of claimed) inHand.add(sessionId);
    claiming = undefined;
    return claimed.length > 0;
  };
  const slot = async (): Promise<void> => {
    for (;;) {
      const piece = waiting.shift();
      if (piece === undefined) {
        if (!(await (claiming ??= more()))) return;
        continue;
      }
      await finish(piece);
      inHand.delete(piece.sessionId);
      done.push(nowMs());
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, slot));
  return done;
}
