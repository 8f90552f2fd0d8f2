/** Sessions for the storage benches, on a real disk, with messages of about two hundred bytes. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { foldSession, initialSessionState } from 'wakechart/machines';
import { FileEventStore, createSystemClock } from 'wakechart/node';

export const IDENTITY = { sessionId: idOf(0), agentId: 'bench' } as const;

const EVENTS_AT_ONCE = 1_000;

/** The n-th id: a UUIDv7, greater than every one before it. */
export function idOf(n: number): string {
  const digits = (0x0190_0000_0000 + n).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7000-8000-000000000000`;
}

export interface BenchEvent {
  readonly id: string;
  readonly at: string;
  readonly type: string;
  readonly v: number;
  readonly data: unknown;
}

/** What an agent says: the most common event, and one that leaves nothing open in the state. */
export function saying(n: number): BenchEvent {
  return {
    id: idOf(n),
    at: '2026-01-01T00:00:00.000Z',
    type: 'agent.message',
    v: 1,
    data: { text: `${n} ${'It was the best of times. '.repeat(4)}`, spanId: 'span' },
  };
}

export interface BenchHome {
  readonly path: string;
  open(durability?: 'disk' | 'os'): FileEventStore;
  remove(): Promise<void>;
}

export async function benchHome(): Promise<BenchHome> {
  const path = await mkdtemp(join(tmpdir(), 'bench-'));
  return {
    path,
    open: (durability = 'disk') => new FileEventStore({ home: path, clock: createSystemClock(), durability }),
    remove: () => rm(path, { recursive: true, force: true }),
  };
}

/** Fills a session up to `count` events, one record each. */
export async function fill(store: FileEventStore, count: number): Promise<void> {
  const from = await store.head(IDENTITY.sessionId).catch(() => 0);
  if (from === 0) await store.create(IDENTITY, [saying(1)]);
  for (let n = Math.max(2, from + 1); n <= count; n += EVENTS_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(EVENTS_AT_ONCE, count - n + 1) }, (_, index) => n + index);
    await Promise.all(numbers.map((number) => store.append(IDENTITY.sessionId, [saying(number)])));
  }
}

/** Opens the session and folds what its checkpoint does not hold. */
export async function openState(store: FileEventStore): Promise<ReturnType<typeof initialSessionState>> {
  let state = (await store.checkpoint(IDENTITY.sessionId)) ?? initialSessionState(IDENTITY);
  for (;;) {
    const events = await store.read(IDENTITY.sessionId, { from: state.head + 1 });
    for (const event of events) state = foldSession(state, event);
    if (events.length < 1_000) return state;
  }
}
