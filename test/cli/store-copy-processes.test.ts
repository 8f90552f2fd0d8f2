/**
 * A copy of a store that is killed again and again, or interrupted, as a process of its own: in the end the same is in
 * both.
 */
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import { copyStore } from '../../src/actors/session/store-copy.ts';
import { FileEventStore } from '../../src/adapters/files/file-event-store.ts';
import { MemoryEventStore } from '../../src/adapters/memory/memory-event-store.ts';
import { AGENT_ID, creation, idOf, messagesOf, numbersTo, resultOf } from '../../src/testing/session-fixtures.ts';
import { migratedDatabase } from '../support/postgres-server.ts';
import type { FreshDatabase } from '../support/postgres-server.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { records, run, start, until } from './command-line.ts';

const SESSIONS = 60;
/** For a machine that others use too, in milliseconds. */
const LIMIT_MS = 120_000;
/** Every so many sessions there is one that is stored in parts. */
const LARGE_EVERY = 30;

let home: TemporaryHome;
let database: FreshDatabase;
afterEach(async () => {
  await home?.remove();
  await database?.drop();
});

/** Fills the home, and answers with the hash of all of it. */
async function fill(): Promise<string> {
  home = await temporaryHome();
  database = await migratedDatabase();
  const store = new FileEventStore({ home: home.path, clock: createSystemClock(), durability: 'os' });
  for (const n of numbersTo(SESSIONS)) {
    const first = n * 1_000;
    const large =
      n % LARGE_EVERY === 0
        ? numbersTo(3).map((part) => ({
            events: [resultOf(first + 10 + part, 3_000_000)] as const,
            key: `large ${part}`,
          }))
        : [];
    await store.createFromRecords({ sessionId: idOf(first), agentId: AGENT_ID }, [
      { events: creation(first + 1) },
      { events: messagesOf(first + 2, first + 3), key: 'k' },
      ...large,
    ]);
  }
  const { sha256 } = await copyStore({ from: store, to: new MemoryEventStore() });
  await store.close();
  return sha256;
}

interface End {
  readonly sha256: string;
  readonly sessions: number;
  readonly left: readonly unknown[];
  readonly isStopped: boolean;
}

const wordsTo = (from: string, to: string): readonly string[] => [
  'store',
  'copy',
  '--from',
  from,
  '--to',
  to,
  '--home',
  home.path,
  '--json',
];

/** Kills the copy ever later, until one comes to its end. */
async function copyUnderFire(words: readonly string[]): Promise<{ readonly end: End; readonly kills: number }> {
  let kills = 0;
  for (let lines = 0; ; lines += 15) {
    const copy = start(words);
    const isEnd = (): boolean => copy.stdout().split('\n').length > SESSIONS + 1;
    await until(
      'some sessions',
      () => copy.stdout().split('\n').length > lines || copy.process.exitCode !== null,
      LIMIT_MS,
    );
    if (!isEnd()) {
      copy.process.kill('SIGKILL');
      kills += 1;
    }
    const { stdout } = await copy.ended;
    const end = records(stdout.slice(0, stdout.lastIndexOf('\n') + 1)).at(-1) as End | undefined;
    if (end !== undefined && 'sessions' in end) return { end, kills };
  }
}

it(
  'to a database and back, killed at any point, is the same in the end',
  async () => {
    const sha256 = await fill();
    const there = await copyUnderFire(wordsTo('files', database.url));
    expect(there.end).toMatchObject({ sha256, sessions: SESSIONS, left: [], isStopped: false });
    const back = join(home.path, 'back');
    const again = await copyUnderFire(wordsTo(database.url, back));
    expect(again.end).toMatchObject({ sha256, sessions: SESSIONS, left: [], isStopped: false });
    expect(there.kills + again.kills).toBeGreaterThan(4);
  },
  LIMIT_MS,
);

it(
  'interrupted says where it stopped and exits as a shell expects; two at once do what one does',
  async () => {
    const sha256 = await fill();
    const copy = start(wordsTo('files', database.url));
    await until('some sessions', () => copy.stdout().split('\n').length > 3, LIMIT_MS);
    copy.process.kill('SIGINT');
    const ended = await copy.ended;
    expect(ended).toMatchObject({ code: 130, stderr: '' });
    expect(records(ended.stdout).at(-1)).toMatchObject({ isStopped: true, left: [] });
    await Promise.all([run(wordsTo('files', database.url)), run(wordsTo('files', database.url))]);
    expect(records((await run(wordsTo('files', database.url))).stdout).at(-1)).toMatchObject({
      sha256,
      left: [],
      isStopped: false,
    });
  },
  LIMIT_MS,
);
