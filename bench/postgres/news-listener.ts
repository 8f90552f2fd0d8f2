/**
 * The other process of the bench of news. Called with what it does, the URL of the database, and for followers how many
 * and of which session.
 */
import { Client } from 'pg';
import { createSystemClock } from 'wakechart/node';
import { PostgresEventStore } from 'wakechart/postgres';
import { nowMs } from './fleet.ts';

/** What is due, by hand. */
export const RAW_DUE = `
  CREATE TABLE public.raw_due (id uuid PRIMARY KEY, due_at timestamptz NOT NULL DEFAULT clock_timestamp(), owner text, lease_until timestamptz);
  CREATE FUNCTION public.raw_due(p_id uuid) RETURNS void LANGUAGE sql AS 'INSERT INTO public.raw_due (id) VALUES (p_id)';`;

const RAW_CLAIM = `
  UPDATE public.raw_due SET owner = 'bench', lease_until = clock_timestamp() + interval '15 seconds'
  WHERE id IN (SELECT id FROM public.raw_due WHERE due_at <= clock_timestamp() AND owner IS NULL ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id`;

const ROLES: Readonly<Record<string, (url: string) => Promise<() => Promise<unknown>>>> = { leases, raw, followers };

const [, , role = '', address = ''] = process.argv;
const open = ROLES[role];
if (open !== undefined && process.send !== undefined) {
  const close = await open(address);
  process.on('message', () => void close().then(() => process.disconnect()));
  process.send('ready');
}

/** Takes the right to wake whatever is due, says when it had it, and gives it back. */
async function leases(url: string): Promise<() => Promise<void>> {
  const store = await PostgresEventStore.open({ url, clock: createSystemClock() });
  const { activations, clock } = store;
  const take = async (): Promise<void> => {
    const { due } = await activations.due({ nowMs: clock.now(), limit: 1, claims: 1 });
    for (const { sessionId, activations: hints } of due) {
      const right = await store.acquireWakeRight(sessionId, { epoch: 0, isOpen: false });
      process.send?.(nowMs());
      await activations.remove(hints);
      await right.release();
    }
  };
  await take();
  activations.watch(oneAtATime(take));
  return () => store.close();
}

async function raw(url: string): Promise<() => Promise<void>> {
  const [listening, working] = [new Client({ connectionString: url }), new Client({ connectionString: url })];
  await listening.connect();
  await working.connect();
  const take = async (): Promise<void> => {
    const { rows } = await working.query({ name: 'claim', text: RAW_CLAIM });
    if (rows.length > 0) process.send?.(nowMs());
    await working.query('DELETE FROM public.raw_due WHERE owner IS NOT NULL');
  };
  listening.on('notification', oneAtATime(take));
  await listening.query('LISTEN raw_due');
  return async () => {
    await listening.end();
    await working.end();
  };
}

/** Each reads on by itself when it hears of something; the last to have the newest event says so. */
async function followers(url: string): Promise<() => Promise<void>> {
  const [, , , , count, sessionId = ''] = process.argv;
  const store = await PostgresEventStore.open({ url, clock: createSystemClock() });
  const from = (await store.head(sessionId)) + 1;
  const seen = Array.from({ length: Number(count) }, () => from);
  let told = from;
  for (const index of seen.keys()) {
    const check = async (): Promise<void> => {
      const events = await store.read(sessionId, { from: seen[index] });
      seen[index] = (events.at(-1)?.seq ?? (seen[index] ?? 0) - 1) + 1;
      const last = Math.min(...seen);
      if (last > told) process.send?.(nowMs());
      told = Math.max(told, last);
    };
    store.watch(sessionId, oneAtATime(check));
  }
  return () => store.close();
}

/** What comes while it runs is examined once more, afterwards. */
function oneAtATime(work: () => Promise<void>): () => void {
  let running: Promise<void> | undefined;
  let isWanted = false;
  const run = async (): Promise<void> => {
    while (isWanted) {
      isWanted = false;
      await work();
    }
    running = undefined;
  };
  return () => {
    isWanted = true;
    running ??= run();
  };
}
